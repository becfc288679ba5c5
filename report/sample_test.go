package report

import (
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// world plays a run by hand: it has a clock that only moves when told to.
type world struct {
	record.Run
	t      int64
	steps  int
	pid    int
	births map[string]record.Birth
	launch map[string]int
	alive  map[string]bool
	order  []string
}

const ms = int64(time.Millisecond)

func newWorld(scenario, host string) *world {
	w := &world{pid: 41200, births: map[string]record.Birth{}, launch: map[string]int{}, alive: map[string]bool{}}
	w.Header = record.Header{
		Format: record.Format, Version: 1, ID: "7d1f0c2a9b34", Started: time.Date(2026, 11, 21, 4, 31, 7, 0, time.UTC), Seed: 4711,
		Tool:   record.Tool{Version: "v0.1.0", Commit: "676c147", Go: "go1.26.0"},
		System: record.System{OS: "linux", Arch: "amd64", Kernel: "6.18.2", CPUs: 2, UID: 1000},
		Witness: record.Witness{
			Ledger: "SO_PEERCRED", Census: "procfs", Subreaper: true, Weak: []string{"no cgroup could be made here: a process that the host hides in a pid namespace of its own is seen but not its parent"},
		},
		Scenario: record.Scenario{
			Name: scenario, Title: "A reconnect storm: 20 forced deaths in mid-session, each followed by a reconnect.", File: "scenarios/storm.yaml",
			Reports: []string{"NousResearch/hermes-agent#11202"}, Source: stormSource,
		},
		Host: record.Host{
			Name: host, Kind: record.KindDriver, Command: []string{"leakbench", "host", host}, About: "a reference host that never ends a superseded session",
			Profile: record.Profile{Settle: record.Duration(3 * time.Second), Ladder: "stdin close, 2s, TERM, 3s, KILL", Scale: "1/20 of the delays in the field"},
		},
		Limits: record.Limits{
			Settle: record.Duration(3 * time.Second), Confirm: record.Duration(2 * time.Second), Quiet: record.Duration(50 * time.Millisecond),
			Close: record.Duration(5 * time.Second), Stop: record.Duration(10 * time.Second), SpawnsPerSession: 30, SpawnsPerMinute: 200,
		},
		Plan: record.Plan{
			Labels: []record.PlanLabel{{Label: "steady", Launches: 1}, {Label: "flaky", Launches: 22}},
			Faults: []record.PlanFault{
				{Label: "flaky", On: "initialize", Do: "reject", Launch: 2, Fires: 1},
				{Label: "flaky", On: "order", Do: "exit", Fires: 10},
				{Label: "flaky", On: "order", Do: "close-stdout", Fires: 10},
			},
			Checkpoints: []string{"after the storm", "host gone"},
		},
		Command: []string{"leakbench", "run", scenario, "--host", host, "--seed", "4711"},
	}
	return w
}

const stormSource = `name: storm
title: A reconnect storm
servers:
  - label: steady
  - label: flaky
    script:
      faults:
        - {on: initialize, do: reject, launch: 2}
steps:
  - open: {session: s0, server: steady}
  - open: {session: s1, server: flaky}
  - repeat: 20
`

func (w *world) add(e record.Event) {
	e.Seq, e.T = int64(len(w.Events)+1), w.t
	w.Events = append(w.Events, e)
	w.t += 40_000
}

func (w *world) step(s record.Step, took int64, work func() error) {
	w.steps++
	s.N = w.steps
	w.add(record.Event{Kind: record.StepBegun, Step: new(s)})
	from := w.t
	err := work()
	w.t += took
	s.OK, s.Took = err == nil, record.Duration(w.t-from)
	if err != nil {
		s.Error = err.Error()
	}
	w.add(record.Event{Kind: record.StepEnded, Step: new(s)})
}

func (w *world) host() {
	p := record.Process{Identity: record.Identity{PID: 41187, Start: 88301}, PPID: 41180, PGID: 41187, SID: 41180, State: "S", Comm: "leakbench", RSS: 14 << 20, FDs: 9}
	w.add(record.Event{Kind: record.HostStarted, Process: &p})
	w.t += 9 * ms
	w.add(record.Event{Kind: record.HostReady, Hello: &record.Hello{Host: w.Header.Host.Name, Version: "0.1.0"}})
}

func (w *world) born(label, session string) string {
	w.launch[label]++
	w.pid += 7
	id := fmt.Sprintf("%s#%d", label, w.launch[label])
	w.births[id] = record.Birth{
		Identity: record.Identity{PID: w.pid, Start: uint64(88300 + w.pid)}, PPID: 41187, PGID: w.pid, SID: 41180, Label: label, Session: session, Launch: w.launch[label],
	}
	w.alive[id] = true
	w.order = append(w.order, id)
	w.t += 2 * ms
	w.add(record.Event{Kind: record.Born, Server: id, Birth: new(w.births[id])})
	w.add(record.Event{Kind: record.Ready, Server: id})
	return id
}

func (w *world) rpc(id string, method record.Method, phase record.Phase, tool string) {
	w.add(record.Event{Kind: record.RPC, Server: id, RPC: &record.RPCInfo{Method: method, ID: "1", Phase: phase, Tool: tool}})
}

func (w *world) session(name, label string, state record.SessionState, why record.Why) {
	w.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: name, Label: label, State: state, Why: why}})
}

func (w *world) open(name, label string, reject bool) string {
	id := ""
	s := record.Step{Op: "open", Session: name, Label: label}
	if reject {
		s.Expect = "any"
	}
	w.step(s, ms, func() error {
		w.session(name, label, record.SessionOpening, "")
		id = w.born(label, name)
		w.rpc(id, "initialize", "received", "")
		if reject {
			w.fault(id, record.Fault{On: "initialize", Do: "reject", Breaks: true})
			w.rpc(id, "initialize", "refused", "")
			w.session(name, label, record.SessionEnded, "could not be opened")
			return fmt.Errorf("initialize: the server refused (-32603)")
		}
		w.t += ms / 2
		w.rpc(id, "initialize", "answered", "")
		w.session(name, label, record.SessionOpen, "")
		return nil
	})
	return id
}

func (w *world) fault(id string, f record.Fault) {
	w.add(record.Event{Kind: record.Faulted, Server: id, Fault: &f})
}

func (w *world) call(id, session, tool string) {
	w.step(record.Step{Op: "call", Session: session, Label: w.births[id].Label, Detail: tool}, ms, func() error {
		w.rpc(id, "tools/call", "received", tool)
		w.t += ms
		w.rpc(id, "tools/call", "answered", tool)
		return nil
	})
}

func (w *world) breakIt(id, session string, do record.Action) {
	w.step(record.Step{Op: "break", Session: session, Label: w.births[id].Label, Detail: string(do)}, ms, func() error {
		w.fault(id, record.Fault{On: "order", Do: do, Breaks: true})
		if do == "exit" {
			w.die(id)
		}
		return nil
	})
}

func (w *world) die(id string) {
	if !w.alive[id] {
		return
	}
	delete(w.alive, id)
	w.t += ms / 4
	w.add(record.Event{Kind: record.Died, Server: id})
}

func (w *world) evidence(id string) record.Evidence {
	b := w.births[id]
	hold := func(fd int, mode string) []record.Descriptor {
		return []record.Descriptor{
			{FD: 0, Target: fmt.Sprintf("pipe:[%d]", b.PID+900), Mode: "read", Known: true, Holders: []record.Holder{
				{Identity: record.Identity{PID: 41187, Start: 88301}, FD: fd, Mode: mode, Role: "host"},
			}},
			{FD: 1, Target: fmt.Sprintf("pipe:[%d]", b.PID+901), Mode: "write", Known: true, Holders: []record.Holder{
				{Identity: record.Identity{PID: 41187, Start: 88301}, FD: fd + 1, Mode: "read", Role: "host"},
			}},
			{FD: 2, Target: "/dev/null", Mode: "write", Known: true},
		}
	}
	return record.Evidence{
		Process: record.Process{
			Identity: b.Identity, PPID: b.PPID, PGID: b.PGID, SID: b.SID, State: "S", Comm: "leakbench", Args: []string{"leakbench", "fakeserver", "--label", b.Label, "--session", b.Session},
			RSS: 6_430_000, FDs: 7, Threads: 6, CPU: record.Duration(4 * time.Millisecond),
		},
		Server: id, Wchan: "pipe_read", Syscall: "read(0)", SigCaught: []string{"SIGTERM", "SIGINT"}, SigIgnored: []string{"SIGPIPE"},
		Descriptors: hold(9+2*b.Launch, "write"), Age: record.Duration(time.Duration(5-b.Launch/10) * time.Second),
	}
}

func (w *world) checkpoint(name string, gone bool, survivors []string) []record.Evidence {
	cp := record.Checkpoint{Name: name, HostGone: gone}
	w.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: new(cp)})
	var ev []record.Evidence
	if len(survivors) > 0 {
		w.t += 3000 * ms
		for _, id := range survivors {
			ev = append(ev, w.evidence(id))
		}
		w.add(record.Event{Kind: record.EvidenceTaken, Evidence: ev})
		w.t += 2000 * ms
	} else {
		w.t += 60 * ms
	}
	cp.Quiet = len(survivors) == 0
	w.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: new(cp)})
	return ev
}

func (w *world) stop() {
	w.step(record.Step{Op: "stop"}, 20*ms, func() error {
		for _, id := range w.order {
			if w.alive[id] {
				w.add(record.Event{Kind: record.SawEOF, Server: id})
				w.add(record.Event{Kind: record.Bye, Server: id, Text: "eof"})
				w.die(id)
			}
		}
		w.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Asked: true}})
		return nil
	})
}

// storm plays the flagship scenario. A leaking host never ends a superseded
// server; a sound one closes its stdin and waits.
func storm(host string, leaks bool, rounds int) verdict.Judged {
	w := newWorld("storm", host)
	w.host()
	steady := w.open("s0", "steady", false)
	w.call(steady, "s0", "echo")
	current := w.open("s1", "flaky", false)
	w.call(current, "s1", "echo")
	var left []string
	drop := func(id string) {
		if leaks {
			left = append(left, id)
			return
		}
		w.add(record.Event{Kind: record.SawEOF, Server: id})
		w.t += ms
		w.add(record.Event{Kind: record.Bye, Server: id, Text: "eof"})
		w.die(id)
	}
	for n := range rounds {
		do := []record.Action{"exit", "close-stdout"}[n%2]
		w.breakIt(current, "s1", do)
		if do == "close-stdout" {
			drop(current)
		}
		w.t += int64(10+n%5*7) * ms
		if n == 0 {
			drop(w.open("s1", "flaky", true))
		}
		current = w.open("s1", "flaky", false)
		w.call(current, "s1", "echo")
	}
	w.call(steady, "s0", "echo")
	ev := w.checkpoint("after the storm", false, left)
	w.stop()
	w.checkpoint("host gone", true, nil)
	w.add(record.Event{Kind: record.Ended, End: &record.End{Reason: "done"}})
	run := w.Run
	return verdict.Judged{Run: &run, History: history.Of(&run), Dir: ".leakbench/20261121-043107-storm-" + host, Page: ".leakbench/20261121-043107-storm-" + host + "/report.html", Verdict: stormVerdict(&run, left, ev)}
}

func stormVerdict(run *record.Run, left []string, ev []record.Evidence) verdict.Verdict {
	spawned := 0
	for _, e := range run.Events {
		if e.Kind == record.Born {
			spawned++
		}
	}
	v := verdict.Verdict{Outcome: verdict.Clean, Spawned: spawned, PeakLive: 2 + len(left), Laws: laws()}
	if len(left) == 0 {
		return v
	}
	v.Outcome = verdict.Leak
	v.Laws[0] = verdict.LawResult{
		Law: "L1", Name: "flat", Status: verdict.LawBroken, Expected: "only the newest server of each open session alive, 3s after a checkpoint begins",
		Found: fmt.Sprintf("%d servers that should have been gone", len(left)), Values: []string{fmt.Sprintf("after the storm: %d alive, %d of them should be gone", 2+len(left), len(left))},
	}
	fix := "End the old connection before, or as soon as, a new one takes its place: close its stdin, wait, send SIGTERM to its process group, wait, then SIGKILL, and reap it."
	born := map[string]int64{}
	for _, e := range run.Events {
		if e.Kind == record.Born {
			born[e.Server] = e.T
		}
	}
	stranded, superseded := left[:1], left[1:]
	if len(superseded) > 0 {
		v.Findings = append(v.Findings, finding("superseded", superseded, ev[1:], fix))
	}
	v.Findings = append(v.Findings, finding("init-stranded", stranded, ev[:1], "Treat a failed initialize like a close: the process that was launched for it is yours to end."))
	for i := range v.Findings {
		for _, id := range v.Findings[i].Servers {
			v.Findings[i].At = append(v.Findings[i].At, born[id])
		}
	}
	return v
}

func finding(kind string, left []string, ev []record.Evidence, fix string) verdict.Finding {
	f := verdict.Finding{
		Law: "L1", Kind: kind, Label: "flaky", Severity: record.SeverityError, Count: len(left), Fingerprint: "3fa91c0de1" + fmt.Sprintf("%02d", len(kind)),
		Title:    fmt.Sprintf("%d superseded servers of flaky are still running (after order: close-stdout)", len(left)),
		Expected: "1 server of flaky alive at checkpoint \"after the storm\", within 3s", Found: fmt.Sprintf("12 alive, %d servers of this finding", len(left)),
		Why: "The session of flaky#3 had ended by its fault (order: close-stdout); flaky#4 took its place 24.1ms later, and the old process was dropped without being ended. It is blocked in read(0) (pipe_read), its parent is the host, and the write end of its stdin is held by the host: it has never seen the end of its stdin, and no signal. The other 9 look the same.",
		Fix: fix, Reports: []string{"NousResearch/hermes-agent#11202", "anthropics/claude-code#79740", "openai/codex#18881"}, Checkpoint: "after the storm",
		Servers: left, Evidence: ev,
	}
	if kind == "init-stranded" {
		f.Title = "1 server of flaky that never finished the handshake is still running (initialize: reject)"
		f.Why = "flaky#2 never finished the handshake (its fault: initialize: reject), and the host did not end its process when the connect was over."
		f.Reports = []string{"anthropics/claude-code#93087"}
	}
	for i, id := range left {
		f.Values = append(f.Values, fmt.Sprintf("%s (pid %d) of session s1: still running 5.0%ds after the checkpoint began, 6.1 MiB", id, ev[i].PID, i%10))
	}
	return f
}

func laws() []verdict.LawResult {
	kept := func(id, name, expected, found string) verdict.LawResult {
		return verdict.LawResult{Law: id, Name: name, Status: verdict.LawKept, Expected: expected, Found: found}
	}
	not := func(id, name, why string) verdict.LawResult {
		return verdict.LawResult{Law: id, Name: name, Status: verdict.LawNotJudged, Reason: why}
	}
	return []verdict.LawResult{
		kept("L1", "flat", "only the newest server of each open session alive, 3s after a checkpoint begins", "none at 1 checkpoint"),
		kept("L2", "nothing left", "no process below the host's place, 3s after it ended", "0 processes left"),
		kept("L3", "no collateral", "no server of a live session signalled or cut off", "none"),
		kept("L4", "reaped", "no zombie 3s after a checkpoint begins", "none"),
		not("L5", "handles flat", "this version does not judge it"),
		not("L6", "memory flat", "this version does not judge it"),
		kept("L7", "bounded spawning", "at most 30 launches per session, 200 per minute", "22 for s1"),
		kept("L8", "bounded shutdown", "close within 5s, host's end within 10s", "host's end 20.1ms"),
		not("L9", "graceful first", "this version does not judge it"),
		kept("L10", "recovers", "a session that is opened anew answers", "20 of 20"),
	}
}
