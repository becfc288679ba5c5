package play

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/stage/runner"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/page"
)

// Load reads and judges a saved run: its folder, or the file in it.
func Load(path string) (verdict.Judged, error) {
	run, err := record.Read(path)
	if err != nil {
		return verdict.Judged{}, err
	}
	return verdict.Judged{Run: run, Verdict: verdict.Judge(run), Dir: path, HostLog: hostLog(path)}, nil
}

// logTail is how much of the end of the host's stderr a report shows.
const logTail = 32 << 10

// hostLog is the end of what the host and its servers wrote to stderr, without
// what looks like a secret; "" where the run is not in a folder with a log.
func hostLog(run string) string {
	info, err := os.Stat(run)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		run = filepath.Dir(run)
	}
	f, err := os.Open(filepath.Join(run, runner.HostLog))
	if err != nil {
		return ""
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(0, size-logTail), io.SeekStart)
	}
	text, err := io.ReadAll(io.LimitReader(f, logTail))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.ToValidUTF8(string(text), "\uFFFD"), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(redact.Args(strings.Split(line, " ")), " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Compared says what the findings of runs are, seen from a list of known
// findings and earlier runs, for their page. It decides nothing: a gate does.
// A list that must not be there may be missing.
func Compared(judged, base []verdict.Judged, list string, must bool) (baseline.Baseline, error) {
	entries, err := known.Load(list, must)
	if err != nil {
		return baseline.Baseline{}, err
	}
	if _, err := os.Stat(list); errors.Is(err, fs.ErrNotExist) {
		list = ""
	}
	if list == "" && len(base) == 0 {
		return baseline.Baseline{}, nil
	}
	r := gate.Decide(gate.Params{
		Attempts: gate.Fresh(judged), Base: base, HasBase: len(base) > 0, Known: entries, Now: time.Now(), Measures: gate.MeasuresWarn,
	})
	return baseline.Baseline{Result: &r, Base: base, List: list}, nil
}

// Listed is Compared for a page that nobody asked for: a list that can't be
// read is for the commands that need it to complain of.
func Listed(judged ...verdict.Judged) baseline.Baseline {
	a, _ := Compared(judged, nil, known.File, false)
	return a
}

// WritePage writes the report of runs.
func WritePage(path string, a baseline.Baseline, judged ...verdict.Judged) error {
	f, err := os.Create(filepath.Clean(path))
	if err != nil {
		return err
	}
	return errors.Join(page.HTML(f, judged, a), f.Close())
}

// WritePages writes the pages of runs again, now that a gate has said what
// their findings are.
func WritePages(judged []verdict.Judged, a baseline.Baseline) error {
	a.Answer = false // which is of all runs
	var failed error
	for _, j := range judged {
		if j.Page != "" {
			failed = errors.Join(failed, WritePage(j.Page, a, j))
		}
	}
	return failed
}
