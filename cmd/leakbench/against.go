package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/page"
)

// against holds runs against the list of known findings and earlier runs, for
// their page. It decides nothing: a gate does. Without either it is nothing.
func against(judged, base []verdict.Judged, path string, must bool) (baseline.Baseline, error) {
	list, err := loadKnown(path, must)
	if err != nil {
		return baseline.Baseline{}, err
	}
	if !must {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			path = ""
		}
	}
	if path == "" && len(base) == 0 {
		return baseline.Baseline{}, nil
	}
	r := gate.Decide(gate.Params{
		Attempts: gate.Fresh(judged), Base: base, HasBase: len(base) > 0, Known: list, Now: time.Now(), Measures: gate.MeasuresWarn,
	})
	return baseline.Baseline{Result: &r, Base: base, List: path}, nil
}

// againstList is against for a page that nobody asked for: a list that can't be
// read is for the commands that need it to complain of.
func againstList(judged ...verdict.Judged) baseline.Baseline {
	a, err := against(judged, nil, known.File, false)
	if err != nil {
		return baseline.Baseline{}
	}
	return a
}

// repage writes the pages of a gate's runs again, now that it is known what
// their findings are.
func repage(r *gate.Result, a baseline.Baseline) error {
	a.Answer = false // which is of all runs
	var failed error
	for i := range r.Runs {
		if j := &r.Runs[i]; j.Page != "" {
			failed = errors.Join(failed, writeHTML(j.Page, a, *j))
		}
	}
	return failed
}

func writeHTML(path string, a baseline.Baseline, judged ...verdict.Judged) error {
	f, err := os.Create(filepath.Clean(path))
	if err != nil {
		return err
	}
	return errors.Join(page.HTML(f, judged, a), f.Close())
}
