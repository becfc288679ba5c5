package report

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// cron plays what goes wrong in the other ways: a user's server killed by
// mistake, one that is late, one that is deaf and outlives the host, one whose
// connection is lost, a zombie, steps that fail or are skipped.
func cron() verdict.Judged {
	w := newWorld("cron", "reap-all")
	w.Header.Scenario.Title = "Cron ticks of parallel jobs beside a user's session."
	w.Header.Plan = record.Plan{Labels: []record.PlanLabel{{Label: "user", Launches: 1}, {Label: "job", Launches: 6}}, Checkpoints: []string{"after the ticks", "host gone"}}
	w.host()
	user := w.open("u", "user", false)
	w.call(user, "u", "echo")
	deaf := ""
	for tick := range 2 {
		w.census(tick * 8)
		w.step(record.Step{Op: "tick", Label: "job"}, 30*ms, func() error {
			var ids []string
			for n := range 3 {
				name := fmt.Sprintf("tick%d.job%d", tick+3, n+1)
				w.session(name, "job", record.SessionOpening, "tick")
				ids = append(ids, w.born("job", name))
				w.rpc(ids[n], "initialize", "answered", "")
				w.rpc(ids[n], "tools/call", "received", "sleep")
			}
			deaf = ids[0]
			w.t += 40 * ms
			for n, id := range ids[1:] {
				w.rpc(id, "tools/call", "answered", "sleep")
				w.session(w.births[id].Session, "job", record.SessionEnded, "tick")
				w.add(record.Event{Kind: record.SawSignal, Server: id, Signal: "SIGTERM"})
				w.t += int64(4*n) * ms
				w.die(id)
			}
			w.fault(deaf, record.Fault{On: "eof", Do: "ignore", Passive: true})
			w.session(w.births[deaf].Session, "job", record.SessionEnded, "tick")
			return nil
		})
	}
	w.add(record.Event{Kind: record.SawSignal, Server: user, Signal: "SIGTERM"})
	w.die(user)
	w.step(record.Step{Op: "call", Session: "u", Label: "user", Detail: "echo"}, 5*ms, func() error { return fmt.Errorf("transport closed") })
	w.steps++
	w.add(record.Event{Kind: record.StepSkipped, Step: &record.Step{N: w.steps, Op: "reload", Label: "user", Error: "the driver does not offer it"}})
	ev := w.checkpoint("after the ticks", false, []string{"job#1", deaf})
	w.census(12)
	w.add(record.Event{Kind: record.Lost, Server: "job#1", Text: "connection reset"})
	w.step(record.Step{Op: "kill", Detail: "SIGKILL"}, ms, func() error {
		w.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: -1, Signal: "SIGKILL", Asked: true}})
		return nil
	})
	w.checkpoint("host gone", true, []string{deaf})
	w.add(record.Event{Kind: record.Swept, Census: &record.Census{Processes: []record.Process{{Identity: w.births[deaf].Identity, State: "S"}}}})
	w.die(deaf)
	w.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: "ledger-lost", Text: "the connection of job#1 ended, but its process did not"}})
	w.add(record.Event{Kind: record.Ended, End: &record.End{Reason: "done"}})
	run := w.Run
	return verdict.Judged{Run: &run, History: history.Of(&run), Verdict: cronVerdict(user, deaf, ev)}
}

func (w *world) census(fds int) {
	for n := range 3 {
		host := record.Process{Identity: record.Identity{PID: 41187, Start: 88301}, RSS: int64(14+fds) << 20, FDs: 9 + fds + n}
		c := &record.Census{Role: record.CensusSample, Host: &host}
		if fds > 0 {
			c.Processes = []record.Process{{Identity: record.Identity{PID: 41300, Start: 9}, State: "Z", Comm: "job"}}
		}
		w.add(record.Event{Kind: record.CensusTaken, Census: c})
		w.t += 4 * ms
	}
}

func cronVerdict(user, deaf string, ev []record.Evidence) verdict.Verdict {
	zombie := record.Evidence{Process: record.Process{Identity: record.Identity{PID: 41300, Start: 9}, PPID: 41187, State: "Z", Comm: "job", FDs: -1}, Unseen: []string{"fd: permission denied"}}
	ev[1].Descriptors[0] = record.Descriptor{FD: 0, Target: "socket:[77]", Mode: "both", Known: true}
	ev[1].SigPending, ev[1].Syscall = []string{"SIGTERM"}, ""
	l := laws()
	for i, why := range map[int]string{0: "1 server", 1: "1 process left", 2: "1 server of a live session killed", 3: "1 zombie"} {
		l[i].Status, l[i].Found = verdict.LawBroken, why
	}
	return verdict.Verdict{
		Outcome: verdict.Leak, Spawned: 7, PeakLive: 4, Left: 1, Laws: l,
		Doubts: []verdict.Doubt{{Code: "ledger-lost", Text: "the connection of job#1 ended, but its process did not"}},
		Findings: []verdict.Finding{
			{
				Law: "L1", Kind: "abandoned", Label: "job", Severity: record.SeverityError, Count: 2, Fingerprint: "a1b2c3d4e5f6", Title: "2 abandoned servers of job are still running (timed out)",
				Expected: "0 servers of job alive", Found: "2 alive", Values: []string{"job#1: still running", "job#4: still running"}, Why: "The call ran out of time.", Fix: "End the server with its session.",
				Checkpoint: "after the ticks", Servers: []string{"job#1", deaf}, Evidence: ev, Reports: []string{"openclaw/openclaw#77286"},
			},
			{
				Law: "L2", Kind: "deaf", Label: "job", Severity: record.SeverityError, Count: 1, Fingerprint: "b1b2c3d4e5f6", Title: "1 server of job ignored stdin EOF when the host ended",
				Expected: "no process left", Found: "1 process left", Why: "It ignores the end of its stdin.", Fix: "Start servers in a group of their own.", Checkpoint: "host gone", Servers: []string{deaf},
			},
			{
				Law: "L3", Kind: "killed", Label: "user", Severity: record.SeverityError, Count: 1, Fingerprint: "c1b2c3d4e5f6", Title: "1 server of a live session was killed",
				Expected: "no signal to " + user, Found: "SIGTERM", Why: "The host signalled every pid it had ever seen.", Fix: "Keep the handle of each process with its session.", Servers: []string{user}, Reports: []string{"NousResearch/hermes-agent#12430"},
			},
			{
				Law: "L4", Kind: "zombie", Severity: record.SeverityWarning, Count: 1, Fingerprint: "d1b2c3d4e5f6", Title: "1 zombie below the host", Expected: "no zombie", Found: "1 zombie",
				Why: "Nobody waited for it.", Fix: "Wait for each child.", Evidence: []record.Evidence{zombie},
			},
		},
	}
}
