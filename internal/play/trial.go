package play

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

// The scenarios of a trial, by the kind of the host: nothing goes wrong in them.
const (
	head = "name: trial\ntitle: The host is started, used a little and ended\nservers: {tool: }\nsteps:\n"

	clients = head + "  - {open: one, server: tool}\n  - {call: one}\n  - {open: two, server: tool}\n  - {call: two}\n" +
		"  - {call: one}\n  - {close: one}\n  - {close: two}\n"
	jobs   = head + "  - tick: {jobs: [{server: tool, count: 2, expect: any}]}\n"
	nobody = head + "  - {checkpoint: up}\n"
)

// limit is how long a server's end is waited for: this is a look, not a verdict.
const limit = 3 * time.Second

// Seen is what a trial saw.
type Seen struct {
	Lines []string // sentences
	// Failed is what keeps the file from being of any use, and is the first thing to mend.
	Failed string
	// Stderr are the last lines of what the host wrote there, where it launched no server.
	Stderr []string
	// Servers is who has a server of a gateway, or "" where that was not seen.
	Servers record.Sharing
}

// stderrLines is how many lines Seen.Stderr has at the most.
const stderrLines = 5

// TryHost tries a host file that was just written. It starts the host as the file says, uses it a little, ends it, and says in words
// what it saw.
func TryHost(ctx context.Context, b Bench, spec subject.Spec) (Seen, error) {
	source := nobody
	switch spec.Kind {
	case record.KindGateway, record.KindDriver:
		source = clients
	case record.KindOneshot:
		source = jobs
	}
	s, err := scenarios.Parse("trial.yaml", []byte(source))
	if err != nil {
		return Seen{}, err
	}
	dir, err := os.MkdirTemp("", "leakbench-trial-")
	if err != nil {
		return Seen{}, err
	}
	defer os.RemoveAll(dir)
	b.Page, b.Limits.Settle, b.Limits.Confirm = nil, limit, time.Millisecond
	j, err := b.One(ctx, Cell{Scenario: s, Host: Host{Spec: spec}, Seed: 1, Dir: filepath.Join(dir, "run")})
	if ctx.Err() != nil {
		return Seen{}, context.Cause(ctx)
	}
	if j == nil {
		return Seen{Failed: err.Error()}, nil
	}
	seen := look(j, spec)
	if err != nil {
		seen.Failed, _, _ = strings.Cut(err.Error(), record.StderrFollows)
	}
	if len(j.History.Servers()) == 0 {
		lines := strings.FieldsFunc(j.HostLog, func(r rune) bool { return r == '\n' })
		seen.Stderr = lines[max(0, len(lines)-stderrLines):]
	}
	return seen, nil
}

func look(j *verdict.Judged, spec subject.Spec) (seen Seen) {
	l := j.History
	say := func(format string, args ...any) { seen.Lines = append(seen.Lines, fmt.Sprintf(format, args...)) }
	hosts := l.Hosts()
	if len(hosts) == 0 {
		return Seen{Failed: "it was not started"}
	}
	h := hosts[0]
	if at := ready(j.Run); at >= 0 && spec.Kind != record.KindOneshot {
		say("It was ready %s after its start.", prose.Span(at-h.Started))
	}
	servers, answered := l.Servers(), 0
	for _, s := range servers {
		if s.Established != history.Never {
			answered++
		}
	}
	say("It launched %s, and shook hands with %d of them.", text.Count(len(servers), "server"), answered)
	seen.Failed = useless(l, spec, answered)
	if spec.HTTP != nil && seen.Failed == "" {
		servers, line := sharing(l, spec.HTTP.Servers)
		say("%s", line)
		seen.Servers = servers
	}
	if h.Exited != history.Never && h.AskedAt != history.Never && spec.Kind != record.KindOneshot {
		say("It ended %s after it was asked to.", prose.Span(h.Exited-h.AskedAt))
	}
	if len(j.Verdict.Findings) > 0 {
		say("Already here something is not as it should be: %s.", strings.TrimSuffix(j.Verdict.Findings[0].Title, "."))
	}
	return seen
}

// useless says why the host can't be used as the file says, or "".
func useless(l *history.History, spec subject.Spec, answered int) string {
	failed := failures(l)
	switch {
	case len(l.Servers()) == 0:
		return "it launched no server: is {{server}} or {{config}} where the command needs it?"
	case answered == 0:
		return "no server was asked to initialize: what it launched is not what it talks to"
	case len(failed) > 0 && spec.Kind == record.KindGateway:
		return "a client failed: " + failed[0]
	}
	return ""
}

// ready is when the host was up, or -1.
func ready(run *record.Run) int64 {
	for i := range run.Events {
		if run.Events[i].Kind == record.HostReady {
			return run.Events[i].T
		}
	}
	return -1
}

// failures are the errors of steps.
func failures(l *history.History) (all []string) {
	for _, s := range l.Steps() {
		if s.Failed() && s.MustWork() {
			all = append(all, string(s.Op)+": "+s.Error)
		}
	}
	return all
}

// sharing holds the servers that took the calls of two clients (the first, the second, and the first again) against what the file says.
// seen is "" where that does not tell who has a server.
func sharing(l *history.History, said record.Sharing) (seen record.Sharing, line string) {
	var by []string // the servers, in the order of the calls
	var calls []int64
	for _, s := range l.Servers() {
		for _, c := range s.Calls {
			i, _ := slices.BinarySearch(calls, c.Received)
			calls, by = slices.Insert(calls, i, c.Received), slices.Insert(by, i, s.ID)
		}
	}
	switch {
	case len(by) != 3:
	case by[0] == by[1] && by[1] == by[2]:
		seen = record.Shared
	case by[0] == by[2]:
		seen = record.PerSession
	case by[0] != by[1] && by[1] != by[2]:
		seen = record.PerRequest
	}
	switch who := whose[seen]; {
	case who == "":
		return "", fmt.Sprintf("Two clients called it three times. Which client has which server could not be seen; the file says %s.", said)
	case seen == said:
		return seen, fmt.Sprintf("Two clients called it three times, and %s: that is %s, as you said.", who, seen)
	default:
		return seen, fmt.Sprintf("Two clients called it three times, and %s: that is %s, not %s.", who, seen, said)
	}
}

// whose is what was seen of the servers that two clients called.
var whose = map[record.Sharing]string{
	record.Shared:     "one server took all calls",
	record.PerSession: "each client had a server of its own",
	record.PerRequest: "each call had a server of its own",
}
