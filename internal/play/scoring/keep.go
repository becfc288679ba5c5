package scoring

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play/scoreboard"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/runner"
)

// cellFile stands in a cell's folder once a run of it is complete.
const cellFile = "cell.json"

// kept is what it says.
type kept struct {
	Key   string `json:"key"` // of all that the run depends on
	Run   string `json:"run"` // the folder beside it
	Alone bool   `json:"alone"`
	Again bool   `json:"again"`
}

// folder is a cell's. What is no plain name gets a mark, so that two that look
// alike do not share one.
func (b *board) folder(c cell) string {
	return filepath.Join(b.Dir, plain(c.host.ID), plain(c.play.Name))
}

func plain(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.@", r) {
			return r
		}
		return '_'
	}, name)
	safe = safe[:min(len(safe), 80)]
	if safe == name && strings.Trim(safe, ".") != "" {
		return safe
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimLeft(safe, ".") + "-" + hex.EncodeToString(sum[:4])
}

// fingerprint is of all that a cell's run depends on: the tool, the host with
// its version and its files, the scenario's text, and the limits.
func (b *board) fingerprint(c cell) (string, error) {
	spec := c.host.Spec
	spec.Argv = append([]string{}, spec.Argv...)
	if len(spec.Argv) > 0 && spec.Argv[0] == b.Self {
		spec.Argv[0] = "leakbench" // wherever it is kept
	}
	files, err := digest(c.host.Files)
	if err != nil {
		return "", err
	}
	program := ""
	if c.host.File == "" && c.host.Argv[0] != b.Self {
		program = stamp(c.host.Argv[0])
	}
	text, err := json.Marshal([]any{b.Tool, b.build(), c.host.ID, spec, files, program, c.play.Source, b.Seed, b.Settle, b.Confirm, b.Start})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// build tells builds apart of which the version does not: those of somebody who
// works on the bench.
func (b *board) build() string {
	if v := b.Tool.Version; v != "" && v != "(devel)" && !strings.HasSuffix(v, "+dirty") {
		return ""
	}
	return stamp(b.Self)
}

// stamp changes when a file does.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// digest is of a preset's files: its driver, and what pins its packages.
func digest(files fs.FS) (string, error) {
	if files == nil {
		return "", nil
	}
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		fmt.Fprintf(sum, "%q %d\n", path, len(text))
		_, _ = sum.Write(text)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// load takes a cell from an earlier call. The run is judged again: a verdict is
// a function of its file.
func (b *board) load(c cell) (found scoreboard.Cell, alone, ok bool) {
	dir := b.folder(c)
	text, err := os.ReadFile(filepath.Join(dir, cellFile))
	if err != nil {
		return found, false, false
	}
	var k kept
	if json.Unmarshal(text, &k) != nil || k.Run != filepath.Base(k.Run) {
		return found, false, false
	}
	if key, err := b.fingerprint(c); err != nil || key != k.Key {
		return found, false, false
	}
	found, err = b.judge(c, filepath.Join(dir, k.Run))
	found.Again = k.Again
	return found, k.Alone, err == nil
}

// play plays a cell in a new folder, and keeps it once its file is complete.
func (b *board) play(ctx context.Context, c cell, alone bool) (scoreboard.Cell, error) {
	before, again := b.before(c)
	dir, err := b.newRun(c, again)
	if err != nil {
		return before, err
	}
	failed := runner.Run(ctx, runner.Params{
		Self: b.Self, Scenario: c.play, Host: c.host.Spec, Dir: dir, Seed: b.Seed, Tool: b.Tool, Command: b.Again(c.play, c.host),
		Settle: b.Settle, Confirm: b.Confirm, Start: b.Start,
	})
	if ctx.Err() != nil {
		return before, context.Cause(ctx)
	}
	found, err := b.judge(c, dir)
	if err != nil {
		return found, fmt.Errorf("%s on %s: %w", c.play.Name, c.host.ID, errors.Join(failed, err))
	}
	found.Again = again
	key, err := b.fingerprint(c)
	if err != nil {
		return found, err
	}
	return found, b.keep(c, kept{Key: key, Run: filepath.Base(dir), Alone: alone, Again: again})
}

// before is what the cell came to beside others, if it is played again.
func (b *board) before(c cell) (scoreboard.Cell, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, again := b.cells[c.key()]
	return found, again
}

// judge judges a run, renders its report and makes a cell of it.
func (b *board) judge(c cell, dir string) (scoreboard.Cell, error) {
	run, err := record.Read(dir)
	if err != nil {
		return scoreboard.Cell{}, err
	}
	j := verdict.Judged{Run: run, Verdict: verdict.Judge(run), Dir: dir}
	found := scoreboard.Of(j, c.host.NotApplicable)
	found.Run, found.Page = dir, filepath.Join(dir, runner.ReportFile)
	if _, err := os.Stat(found.Page); err != nil {
		if err := b.Page(found.Page, j); err != nil {
			return found, err
		}
	}
	b.heard(c.host.ID, run)
	return found, nil
}

// heard takes note of what a run says of the host and the machine.
func (b *board) heard(id string, run *record.Run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.system = run.Header.System
	for _, e := range run.Events {
		if e.Kind == record.HostReady && e.Hello != nil && e.Hello.Version != "" {
			b.said[id] = e.Hello.Version
			return
		}
	}
}

// newRun makes the folder of a run: of the first, in the place of whatever was
// there, or of the one that is played again. Until that one is complete, the
// first stays what is kept.
func (b *board) newRun(c cell, again bool) (string, error) {
	dir, name, stale := b.folder(c), "run", []string{cellFile, "run", "alone"}
	if again {
		name, stale = "alone", []string{"alone"}
	}
	for _, old := range stale {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	run := filepath.Join(dir, name)
	return run, os.Mkdir(run, 0o700)
}

// keep says, in one step, that a cell was played.
func (b *board) keep(c cell, k kept) error {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(k); err != nil {
		return err
	}
	path := filepath.Join(b.folder(c), cellFile)
	if err := os.WriteFile(path+".new", text.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
