// Package corpus is the net below a change of the judge: the runs that the tests of the judge make, runs that were recorded, and runs of
// hosts that no test makes, in one file. What is said of each is in testdata/verdicts.txt, and a test holds the judge to it. It is for
// tests; tools/corpus adds runs, and tells which special cases of the judge no run holds.
package corpus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// The files, from the root of the module.
const (
	Runs     = "test/corpus/testdata/runs.jsonl.gz"
	Verdicts = "test/corpus/testdata/verdicts.txt"
)

// Entry is a run of the corpus, as it is written: a head in a line, and each of its events in another one. A run that a test has made need
// not be one that record.Decode reads.
type Entry struct {
	Name  string // unique: trick-probe-storm, or verdict.TestGhosts/1a2b3c
	Lines []byte
}

type head struct {
	Run       string        `json:"run"`
	Truncated string        `json:"truncated,omitempty"`
	Header    record.Header `json:"header"`
}

// mark is how each head begins, and no event.
var mark = []byte(`{"run":"`)

// Of is the entry of a run.
func Of(name string, run *record.Run) (Entry, error) {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	err := lines.Encode(head{Run: name, Header: run.Header, Truncated: run.Truncated})
	for i := range run.Events {
		err = errors.Join(err, lines.Encode(run.Events[i]))
	}
	return Entry{Name: name, Lines: b.Bytes()}, err
}

// Run reads the run.
func (e Entry) Run() (*record.Run, error) {
	lines := json.NewDecoder(bytes.NewReader(e.Lines))
	var h head
	if err := lines.Decode(&h); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	run := &record.Run{Header: h.Header, Truncated: h.Truncated}
	for {
		var event record.Event
		switch err := lines.Decode(&event); {
		case errors.Is(err, io.EOF):
			return run, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		run.Events = append(run.Events, event)
	}
}

// Read yields the entries of a file, one after the other.
func Read(path string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := read(path, func(e Entry) bool { return yield(e, nil) }); err != nil {
			yield(Entry{}, fmt.Errorf("reading %s: %w", path, err))
		}
	}
}

func read(path string, take func(Entry) bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return err
	}
	in, e := bufio.NewReader(z), Entry{}
	for {
		line, err := in.ReadBytes('\n')
		ends := errors.Is(err, io.EOF)
		if err != nil && !ends {
			return err
		}
		if begins := bytes.HasPrefix(line, mark); begins || ends {
			if e.Name != "" && !take(e) || ends {
				return nil
			}
			name, _, _ := bytes.Cut(line[len(mark):], []byte(`"`))
			e = Entry{Name: string(name)}
		}
		e.Lines = append(e.Lines, line...)
	}
}

// Append adds entries to a file. They are a gzip member of their own, so that what stands before them stays as it is, and a version
// control system stores what is new alone.
func Append(path string, entries []Entry) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	for i := range entries {
		if err == nil {
			_, err = z.Write(entries[i].Lines)
		}
	}
	return errors.Join(err, z.Close(), f.Close())
}

// InCodes is a verdict without the words that may change.
func InCodes(v verdict.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d launched, %d at once, %d left\n", v.Outcome, v.Spawned, v.PeakLive, v.Left)
	for _, f := range v.Findings {
		fmt.Fprintf(&b, "  %s %s %s %q %s x%d", f.Severity, f.Law, f.Kind, f.Label, f.Fingerprint, f.Count)
		if len(f.Aliases) > 0 {
			fmt.Fprintf(&b, ", was %s", strings.Join(f.Aliases, " "))
		}
		b.WriteString("\n")
	}
	for _, d := range v.Doubts {
		fmt.Fprintf(&b, "  doubt %s\n", d.Code)
	}
	for _, status := range []verdict.LawStatus{verdict.LawBroken, verdict.LawKept, verdict.LawNotJudged} {
		var laws []string
		for _, l := range v.Laws {
			if l.Status == status {
				laws = append(laws, l.Law)
			}
		}
		if len(laws) > 0 {
			fmt.Fprintf(&b, "  %s: %s\n", status, strings.Join(laws, " "))
		}
	}
	return b.String()
}

// Blocks are the names in a file of verdicts, each with what is said of it.
func Blocks(text string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, block := range strings.Split(strings.ReplaceAll(text, "\n  ", "\x00"), "\n") {
			if name, said, is := strings.Cut(block, ": "); is && !yield(name, strings.ReplaceAll(said, "\x00", "\n  ")+"\n") {
				return
			}
		}
	}
}
