// Package attach is `leakbench attach`: it finds a host that runs already, looks at it and at what is below it, keeps what was seen as a
// run, and judges that like any other run. It starts nothing, and ends nothing.
package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/attach"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// Settle is how long something may be odd before it is a breach, unless the user says otherwise.
const Settle = 10 * time.Second

// Params say what to attach to, and how to judge it. Zero values are the defaults.
type Params struct {
	Host record.Process
	For  time.Duration // 0: until ctx ends
	// Settle is how long a server may be idle after a newer one has taken its place, a zombie may stay, and so on; 0 is Settle.
	Settle   time.Duration
	Resident int      // idle servers of a command line that the host keeps on purpose
	FailOn   []string // laws whose breaches are errors; nil: each as it is anywhere
	Record   string   // file to write the run to; "": none
	Tool     record.Tool
	Command  []string
	// OnLook is shown each look, with the run so far; nil is nobody.
	OnLook func(attach.Look, *record.Run)
}

// Play watches until the time is over, the host ends, or ctx does, and judges what was seen.
func Play(ctx context.Context, p Params) (*verdict.Judged, error) {
	if err := attach.Supported(); err != nil {
		return nil, err
	}
	if p.For > 0 {
		limited, cancel := context.WithTimeout(ctx, p.For)
		defer cancel()
		ctx = limited
	}
	run := &record.Run{Header: p.header().WithoutSecrets()}
	file, err := open(p.Record, run)
	if err != nil {
		return nil, err
	}
	if err := file.WriteHeader(run.Header); err != nil {
		return nil, err
	}
	failed := attach.Run(ctx, attach.Params{Host: p.Host.Identity, Add: file.Add, OnLook: func(l attach.Look) {
		if p.OnLook != nil {
			p.OnLook(l, run)
		}
	}}, p.settle())
	failed = errors.Join(failed, file.End(failed))
	if len(run.Events) < 2 {
		return nil, failed
	}
	j := verdict.NewJudged(run, p.Record)
	return &j, failed
}

func (p *Params) settle() time.Duration {
	if p.Settle > 0 {
		return p.Settle
	}
	return Settle
}

// Laws are those whose breaches can be seen from outside.
var Laws = []string{"L1", "L2", "L4", "L5"}

// Find is the process that a pid or a name means. Where there are several, the error lists them.
func Find(name string) (record.Process, error) {
	found, err := attach.Find(name)
	if errors.Is(err, syscall.EMFILE) {
		return record.Process{}, err
	}
	if err != nil {
		return record.Process{}, &play.Misuse{
			Err:  err,
			Hint: "ps -e lists the processes; a name is that of a program, or of the script that it runs",
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	lines := []string{fmt.Sprintf("%s are called %s:", text.Count(len(found), "process"), name)}
	for _, p := range found {
		lines = append(lines, fmt.Sprintf("  %d  %s", p.PID, text.Clip(text.Printable(strings.Join(p.Args, " ")), 100, "…")))
	}
	hint := fmt.Sprintf("name one by its pid: leakbench attach %d", found[0].PID)
	return record.Process{}, &play.Misuse{Err: errors.New(strings.Join(lines, "\n")), Hint: hint}
}

func (p *Params) header() record.Header {
	settle := record.Duration(p.settle())
	limits := record.Limits{Settle: settle, Confirm: settle, Severity: map[string]record.Severity{}}
	for _, law := range Laws {
		switch {
		case p.FailOn == nil:
		case slices.Contains(p.FailOn, law):
			limits.Severity[law] = record.SeverityError
		default:
			limits.Severity[law] = record.SeverityWarning
		}
	}
	return observe.Header(record.Header{
		Tool: p.Tool,
		Witness: record.Witness{Ledger: "none", Census: proc.CensusName, Weak: []string{
			"the host was running already: which sessions it has, what it was asked and what ended a process are not known",
		}},
		Scenario: record.Scenario{Name: "attach", Title: "A running host, watched from outside"},
		Host: record.Host{
			Name: p.Host.Comm, Kind: record.KindAttached, Command: p.Host.Args, Profile: record.Profile{Resident: p.Resident},
		},
		Limits: limits, Plan: record.Plan{Labels: []record.PlanLabel{}, Checkpoints: []string{}}, Command: p.Command,
	})
}

// open makes the file that the run goes to, where one is wanted: run has the events anyway.
func open(path string, run *record.Run) (*observe.File, error) {
	seen := func(e record.Event) { run.Events = append(run.Events, e) }
	if path == "" {
		return observe.InMemory(&sync.Mutex{}, seen), nil
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil { // a folder that nobody has made is a slip of the keys
		return nil, &play.Misuse{
			Err:  fmt.Errorf("failed to create the run file %s: its folder: %w", path, err),
			Hint: "mkdir -p " + filepath.Dir(path),
		}
	}
	file, err := observe.Create(path, &sync.Mutex{}, seen)
	switch {
	case errors.Is(err, os.ErrExist):
		return nil, &play.Misuse{Err: err, Remedy: play.NewRecord}
	case err != nil:
		return nil, &play.Misuse{Err: err, Remedy: play.OtherRecord}
	}
	return file, nil
}
