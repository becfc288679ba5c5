package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/test/corpus"
)

// hook hands out each run that is folded.
//
//go:embed hook.go.txt
var hook string

const (
	folds  = "internal/history/history.go"
	folded = "\th := New(run.Header.ID)\n"
)

// largest is how many bytes a run has at the most that is added. Two of 9 MB, of 10,000 cycles each, show nothing that smaller ones do not.
const largest = 512 << 10

// collect runs a command, and adds the runs that were judged meanwhile.
func collect(argv []string) error {
	dir, err := os.MkdirTemp("", "corpus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	runs := filepath.Join(dir, "runs")
	text, err := os.ReadFile(filepath.FromSlash(folds))
	if err = errors.Join(err, os.Mkdir(runs, 0o777)); err != nil {
		return err
	}
	if bytes.Count(text, []byte(folded)) != 1 {
		return fmt.Errorf("%s folds a run elsewhere than at %q", folds, folded)
	}
	env, err := overlaid(dir, map[string]string{
		folds:                        strings.Replace(string(text), folded, folded+"\tkeepForCorpus(run)\n", 1),
		"internal/history/corpus.go": strings.Replace(hook, "FOLDER", filepath.ToSlash(runs), 1),
	})
	if err != nil {
		return err
	}
	if err := command(env, argv); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
	}
	return addFolder(runs)
}

// addFolder adds what the hook has written.
func addFolder(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "[^.]*"))
	if err != nil {
		return err
	}
	var found []corpus.Entry
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, lines, _ := bytes.Cut(text, []byte("\n"))
		found = append(found, corpus.Entry{Name: string(name), Lines: lines})
	}
	return add(found)
}

// addFiles adds run files. The name of one is that of its file, or host and scenario.
func addFiles(paths []string) error {
	var found []corpus.Entry
	for _, path := range paths {
		run, err := readRun(path)
		if err != nil {
			return err
		}
		name, _, _ := strings.Cut(filepath.Base(path), ".jsonl")
		if name == "run" {
			name = run.Header.Host.Name + "-" + run.Header.Scenario.String()
		}
		e, err := corpus.Of(name, run)
		if err != nil {
			return err
		}
		found = append(found, e)
	}
	return add(found)
}

// readRun reads a run file, which may be packed.
func readRun(path string) (*record.Run, error) {
	if filepath.Ext(path) != ".gz" {
		return record.Read(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return record.Decode(z)
}

// add adds the entries that are new, in the order of their names.
func add(found []corpus.Entry) error {
	all := known{names: map[string]bool{}, runs: map[string]bool{}}
	if _, err := os.Stat(filepath.FromSlash(corpus.Runs)); err == nil {
		for e, err := range corpus.Read(filepath.FromSlash(corpus.Runs)) {
			if err != nil {
				return err
			}
			if _, _, err := all.take(e); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(found, func(a, b corpus.Entry) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.Lines, b.Lines))
	})
	var fresh []corpus.Entry
	for _, e := range found {
		e, is, err := all.take(e)
		if err != nil {
			return err
		}
		if is {
			fresh = append(fresh, e)
		}
	}
	fmt.Printf("%d of %d runs are new\n", len(fresh), len(found))
	if len(fresh) == 0 {
		return nil
	}
	return corpus.Append(filepath.FromSlash(corpus.Runs), fresh)
}

// known is what the corpus has.
type known struct {
	names map[string]bool
	runs  map[string]bool // by their contents; those of a host and a scenario also by what is said of them
}

// take says whether a run is new, and how it is written.
func (k *known) take(e corpus.Entry) (fresh corpus.Entry, is bool, err error) {
	run, err := e.Run()
	if err != nil {
		return e, false, err
	}
	said := corpus.InCodes(verdict.Judge(run))
	e.Lines = withoutPaths(e.Lines)
	if run, err = e.Run(); err != nil {
		return e, false, err
	}
	if came := corpus.InCodes(verdict.Judge(run)); came != said {
		return e, false, fmt.Errorf("%s: without the paths of this machine it is judged in another way:\n%s%s", e.Name, said, came)
	}
	base, _, _ := strings.Cut(e.Name, "/")
	e, err = corpus.Of("", run)
	sum := sha256.Sum256(e.Lines)
	content, name := hex.EncodeToString(sum[:]), base
	made := byTest.MatchString(base)
	if made || k.names[base] {
		name += "/" + content[:6]
	}
	if err != nil || k.runs[content] || !made && k.runs[base+said] || k.names[name] || len(e.Lines) > largest {
		return e, false, err
	}
	k.names[name], k.runs[content], k.runs[base+said] = true, true, true
	e, err = corpus.Of(name, run)
	return e, true, err
}

// byTest is how a run is called that a test has made.
var byTest = regexp.MustCompile(`^\w+\.(Test|Fuzz)`)

// The paths of the machine that a run was played on, and what stands in their place.
var paths = []struct {
	of   *regexp.Regexp
	then string
}{
	{regexp.MustCompile(`(/[\w.-]+)+/(leakbench-built-[\w.-]+/leakbench|go-build[\w.-]+(/[\w.-]+)*\.test)`), "/opt/leakbench"},
	{regexp.MustCompile(`/tmp/Test[\w.-]+/[0-9]+`), "/tmp/test"},
	{regexp.MustCompile(regexp.QuoteMeta(root)), "/opt/source"},
	{regexp.MustCompile(regexp.QuoteMeta(home) + `\b`), "/home/user"},
}

// The folder of the module, and of whoever works on it.
var root, home = orNowhere(os.Getwd()), orNowhere(os.UserHomeDir())

func orNowhere(path string, _ error) string { return cmp.Or(filepath.ToSlash(path), "/nowhere") }

func withoutPaths(lines []byte) []byte {
	for _, p := range paths {
		lines = p.of.ReplaceAll(lines, []byte(p.then))
	}
	return lines
}
