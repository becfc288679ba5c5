package runner

import (
	"context"
	"os"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/keeper"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// startTwins starts, for each label that the host is given, a process with the
// very command line of one of its servers. It is none of the host's: one that
// chooses whom to end by the command line ends it, too.
func (r *run) startTwins(ctx context.Context) {
	if !r.keeper.Hello.Subreaper {
		return // nobody would see it end
	}
	env := append(os.Environ(), fakeserver.TwinMark+"=1")
	for _, label := range r.labels {
		session := ""
		if !r.isCommand() {
			session = firstSession(r.Scenario.Steps, label)
		}
		twin, err := r.keeper.StartTwin(ctx, r.script(label).Argv(r.Self, r.ledger.Path(), r.id, label, session), env)
		if err != nil {
			r.doubt("no-twin", "no process with the command line of %s could be put beside the host: whether the host ends what only looks like its server was not seen: %v", label, err)
			continue
		}
		r.mu.Lock()
		r.twins[twin.Identity] = label
		r.mu.Unlock()
		twin.Args = record.Redact(twin.Args)
		r.emit(record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Server: label, Process: &twin})
	}
}

// firstSession is the first session that the steps open on a server, or "".
func firstSession(steps []scenarios.Step, label string) string {
	for _, s := range steps {
		if s.Op == scenarios.OpOpen && s.Label == label {
			return s.Session
		}
		for _, inner := range append([][]scenarios.Step{s.Steps}, s.Lanes...) {
			if name := firstSession(inner, label); name != "" {
				return name
			}
		}
	}
	return ""
}

// bystanderEnded writes down that somebody ended a process that is none of the
// host's, and whose end the keeper was to be.
func (r *run) bystanderEnded(e keeper.Exited) {
	ended := record.Event{Kind: record.BystanderSeen, Process: &e.Process, Exit: &e.Exit}
	if e.Twin {
		r.mu.Lock()
		ended.Text, ended.Server = record.StandsAsTwin, r.twins[e.Identity]
		r.mu.Unlock()
	}
	r.emit(ended)
}
