package explore

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// Kept are the scenarios of a corpus, in the order of their names.
func Kept(dir string) ([]string, error) { return filepath.Glob(filepath.Join(dir, "*.yaml")) }

// readKnown takes what is known.
func (e *explorer) readKnown() {
	for _, entry := range e.Known {
		if entry.Fingerprint != "" && (entry.Host == "" || entry.Host == e.Host.Name) {
			e.prints[entry.Fingerprint] = true
		}
	}
}

// readCorpus has what was kept before count as tried and known.
func (e *explorer) readCorpus() error {
	if e.Corpus == "" {
		return nil
	}
	if err := os.MkdirAll(e.Corpus, 0o755); err != nil {
		return &play.Misuse{Err: err, Remedy: play.OtherCorpus}
	}
	kept, err := Kept(e.Corpus)
	if err != nil {
		return err
	}
	var failed error
	for _, file := range kept {
		s, err := scenarios.Load(file)
		if failed = errors.Join(failed, err); err == nil {
			e.source.aim(s)
			for _, shows := range shownLine.FindAllStringSubmatch(s.Source, -1) {
				e.prints[shows[1]] = true
			}
		}
	}
	if failed != nil {
		return &play.Misuse{Err: failed, Hint: "take out of the corpus what is no scenario"}
	}
	return nil
}

// shownLine is how a file of the corpus says which finding it shows.
var shownLine = regexp.MustCompile(`(?m)^# shows ([0-9a-f]{12})$`)

// generated is how the names of scenarios begin that are as they were made.
const generated = "x-"

// keep adds a scenario to the corpus, with the findings that it shows. The name of one that was generated follows from what it is.
func (e *explorer) keep(s *scenarios.Scenario, prints []string) {
	if e.Corpus == "" {
		return
	}
	same := *s
	if strings.HasPrefix(s.Name, generated) {
		same.Name, same.Title = "x", "Generated"
		h := fnv.New64a()
		_, _ = h.Write([]byte(same.Text()))
		same.Name = fmt.Sprintf("%s%013x", generated, h.Sum64()>>12)
	}
	path := filepath.Join(e.Corpus, same.Name+".yaml")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	var head strings.Builder
	for _, print := range prints {
		fmt.Fprintf(&head, "# shows %s\n", print)
	}
	if err := files.Own(path, 0o644, files.Text([]byte(head.String()+same.Text()))); err == nil {
		e.result.Kept++
	}
}

func (e *explorer) elapsed() record.Duration {
	return record.Duration(time.Since(e.begun).Round(time.Millisecond))
}
