package verdict

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

const (
	runID     = "feedc0ffee42"
	keeperPID = 10
	hostPID   = 20
)

// play writes a run as the runner would.
type play struct {
	run   *record.Run
	t     time.Duration
	pid   int
	steps int
	ids   map[string]record.Identity
	count map[string]int
	procs map[record.Identity]record.Process // what a census shows
	know  map[record.Identity]record.Evidence
	cpu   map[record.Identity]time.Duration // used per second

	crowd  []string      // servers of bystanders
	hasty  bool          // a new life launches a server at once
	lives  int           // ended and begun anew
	late   bool          // some of them are still to come
	beside []record.Want // what a checkpoint wants of them
}

// withCrowd is a play in which others go about their business: a session of
// the same label, one of the same name, and some that are over.
func withCrowd() *play {
	p := newPlay()
	one := p.open("by1", "flaky")
	two := p.open("s1", "crowd")
	three := p.open("by2", "steady")
	for session, server := range map[string]string{"by1": one, "s1": two, "by2": three} {
		label := server[:len(server)-len("#1")]
		p.call(server, session, label, "")
		p.crowd = append(p.crowd, server)
		p.beside = append(p.beside, want(label, session, 1))
	}
	slices.Sort(p.crowd)
	over := p.open("by3", "flaky")
	p.close("by3", "flaky", func() { p.bye(over) })
	p.quiet("before")
	p.wait(s)
	p.late = true
	return p
}

// latecomers are bystanders that come after what a case is about.
func (p *play) latecomers() {
	if p.late && !p.hostGone() {
		p.late = false
		p.crowd = append(p.crowd, p.open("s1", "later"), p.open("by4", "flaky"), p.open("user", "later"))
		p.beside = append(p.beside, want("later", "s1", 1), want("flaky", "by4", 1), want("later", "user", 1))
	}
}

// leave is the orderly end of the bystanders with the host.
func (p *play) leave() {
	p.late = false
	for _, name := range p.crowd {
		p.bye(name)
	}
	p.crowd, p.beside = nil, nil
}

func newPlay() *play {
	p := &play{
		run: &record.Run{Header: record.Header{
			Format: record.Format, Version: record.Version, ID: runID,
			Witness: record.Witness{Ledger: "SO_PEERCRED", Census: "procfs", Subreaper: true},
			Host:    record.Host{Name: "test", Kind: record.KindDriver},
			Limits: record.Limits{
				Settle: record.Duration(s), Confirm: record.Duration(2 * s), Quiet: record.Duration(100 * ms),
				Close: record.Duration(5 * s), Stop: record.Duration(10 * s),
			},
		}},
		pid: 100, ids: map[string]record.Identity{}, count: map[string]int{},
		procs: map[record.Identity]record.Process{}, know: map[record.Identity]record.Evidence{}, cpu: map[record.Identity]time.Duration{},
	}
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{
		Identity: record.Identity{PID: hostPID, Start: 2000}, PPID: keeperPID, Comm: "host", State: "S",
	}})
	p.add(record.Event{Kind: record.HostReady, Hello: &record.Hello{Host: "test"}})
	return p
}

func (p *play) add(e record.Event) {
	p.t += 10 * time.Microsecond
	e.Seq, e.T = int64(len(p.run.Events)+1), int64(p.t)
	p.run.Events = append(p.run.Events, e)
}

func (p *play) wait(d time.Duration) { p.t += d }

// launch is the birth of a server below the host, or below another parent.
func (p *play) launch(label, session string, parent ...int) string {
	p.pid++
	p.count[label]++
	id := record.Identity{PID: p.pid, Start: uint64(p.pid) * 100}
	ppid := hostPID
	if len(parent) > 0 {
		ppid = parent[0]
	}
	name := fmt.Sprintf("%s#%d", label, p.count[label])
	p.ids[name] = id
	p.add(record.Event{Kind: record.Born, Server: name, Birth: &record.Birth{
		Identity: id, PPID: ppid, PGID: hostPID, SID: hostPID, Label: label, Session: session, Launch: p.count[label],
	}})
	p.add(record.Event{Kind: record.Ready, Server: name})
	p.procs[id] = record.Process{
		Identity: id, PPID: ppid, PGID: hostPID, SID: hostPID, State: "S", Comm: "leakbench", RSS: 3 << 20,
		Args: []string{"/bin/leakbench", "fakeserver", "--run", runID, "--label", label},
	}
	return name
}

func (p *play) rpc(server string, method record.Method, phase record.Phase) {
	p.add(record.Event{Kind: record.RPC, Server: server, RPC: &record.RPCInfo{Method: method, ID: "1", Tool: "echo", Phase: phase}})
}

func (p *play) greet(server string) {
	p.rpc(server, "initialize", "received")
	p.rpc(server, "initialize", "answered")
}

func (p *play) ask(server string)    { p.rpc(server, "tools/call", "received") }
func (p *play) answer(server string) { p.rpc(server, "tools/call", "answered") }

func (p *play) fault(server string, on record.Moment, do record.Action, breaks bool) {
	p.add(record.Event{Kind: record.Faulted, Server: server, Fault: &record.Fault{On: on, Do: do, Breaks: breaks, Passive: do == "ignore"}})
}

func (p *play) eof(server string) { p.add(record.Event{Kind: record.SawEOF, Server: server}) }
func (p *play) term(server string) {
	p.add(record.Event{Kind: record.SawSignal, Server: server, Signal: "SIGTERM"})
}

// dead leaves no process behind, zombie one that nobody waited for.
func (p *play) dead(server string) {
	p.add(record.Event{Kind: record.Died, Server: server})
	delete(p.procs, p.ids[server])
}

func (p *play) zombie(server string) {
	p.add(record.Event{Kind: record.Died, Server: server})
	id := p.ids[server]
	p.procs[id] = record.Process{Identity: id, PPID: p.procs[id].PPID, State: "Z", Comm: "leakbench"}
}

// bye is an orderly end: stdin is closed, the server exits.
func (p *play) bye(server string) {
	p.eof(server)
	p.add(record.Event{Kind: record.Bye, Server: server, Text: "end of stdin"})
	p.dead(server)
}

func (p *play) session(name, label string, state record.SessionState, why record.Why, cut bool) {
	p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: name, Label: label, State: state, Why: why, Cut: cut}})
}

// begin and end frame a step.
func (p *play) begin(st record.Step) record.Step {
	p.steps++
	st.N = p.steps
	p.add(record.Event{Kind: record.StepBegun, Step: &st})
	return st
}

func (p *play) end(st record.Step, failed string) {
	st.OK, st.Error = failed == "", failed
	p.add(record.Event{Kind: record.StepEnded, Step: &st})
}

// open opens a session on a new server that works.
func (p *play) open(name, label string) string {
	st := p.begin(record.Step{Op: "open", Session: name, Label: label})
	p.session(name, label, record.SessionOpening, "", false)
	server := p.launch(label, name)
	p.greet(server)
	p.session(name, label, record.SessionOpen, "", false)
	p.end(st, "")
	return server
}

// openFails is an open in the course of which the host does what it does, and
// gives up.
func (p *play) openFails(name, label string, course func()) {
	st := p.begin(record.Step{Op: "open", Session: name, Label: label, Expect: "any"})
	p.session(name, label, record.SessionOpening, "", false)
	course()
	p.session(name, label, record.SessionEnded, "could not be opened", false)
	p.end(st, "no luck")
}

// close closes a session; the course is what becomes of its servers.
func (p *play) close(name, label string, course func()) {
	st := p.begin(record.Step{Op: "close", Session: name, Label: label})
	p.session(name, label, record.SessionEnding, "close", false)
	course()
	p.session(name, label, record.SessionEnded, "close", false)
	p.end(st, "")
}

// call is a call that works, or fails.
func (p *play) call(server, session, label, failed string) {
	st := p.begin(record.Step{Op: "call", Session: session, Label: label, Detail: "echo"})
	if failed == "" {
		p.ask(server)
		p.answer(server)
	}
	p.end(st, failed)
}

func (p *play) census() *record.Census {
	c := &record.Census{}
	for _, id := range slices.SortedFunc(maps.Keys(p.procs), func(a, b record.Identity) int { return a.PID - b.PID }) {
		row := p.procs[id]
		row.CPU = record.Duration(float64(p.cpu[id]) * p.t.Seconds())
		c.Processes = append(c.Processes, row)
	}
	return c
}

func (p *play) look(role record.CensusRole, name string) {
	c := p.census()
	c.Role, c.Checkpoint = role, name
	p.add(record.Event{Kind: record.CensusTaken, Census: c})
}

// quiet is a checkpoint that comes to rest.
func (p *play) quiet(name string, wants ...record.Want) {
	p.latecomers()
	wants = append(wants, p.beside...)
	cp := record.Checkpoint{Name: name, Wants: wants, HostGone: p.hostGone()}
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	p.wait(150 * ms)
	p.look(record.CensusSettled, name)
	cp.Quiet = true
	p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
}

// restless is one that does not: in is what happens while the survivors are
// watched on.
func (p *play) restless(name string, in func(), wants ...record.Want) {
	p.latecomers()
	wants = append(wants, p.beside...)
	cp := record.Checkpoint{Name: name, Wants: wants, HostGone: p.hostGone()}
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	p.wait(s)
	p.look(record.CensusSettled, name)
	var known []record.Evidence
	for _, id := range slices.SortedFunc(maps.Keys(p.know), func(a, b record.Identity) int { return a.PID - b.PID }) {
		known = append(known, p.know[id])
	}
	if len(known) > 0 {
		p.add(record.Event{Kind: record.EvidenceTaken, Evidence: known})
	}
	p.wait(s)
	if in != nil {
		in()
	}
	p.wait(s)
	p.look(record.CensusConfirm, name)
	p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
}

func (p *play) hostGone() bool {
	gone := false
	for _, e := range p.run.Events {
		gone = (gone || e.Kind == record.HostExited) && e.Kind != record.HostStarted
	}
	return gone
}

// stop ends the host in the way of op. Servers named in course end with it.
func (p *play) stop(op record.Op, course func()) {
	st := p.begin(record.Step{Op: op})
	if course != nil {
		course()
	}
	p.leave()
	exit := record.Exit{Asked: true}
	if op == "kill" {
		exit = record.Exit{Asked: true, Code: -1, Signal: "SIGKILL"}
	}
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &exit})
	p.end(st, "")
}

// done is the end of a run whose host has gone and left nothing.
func (p *play) done() *record.Run {
	if !p.hostGone() {
		p.stop("stop", func() {
			p.leave()
			for _, name := range slices.Sorted(maps.Keys(p.ids)) {
				if row, ok := p.procs[p.ids[name]]; ok && row.State != record.StateZombie {
					p.bye(name)
				}
				delete(p.procs, p.ids[name]) // zombies go with their parent
			}
		})
		p.quiet("host gone")
	}
	return p.over(record.End{Reason: "done"})
}

func (p *play) over(end record.End) *record.Run {
	p.add(record.Event{Kind: record.Ended, End: &end})
	return p.run
}

// want is one server of a session.
func want(label, session string, n int) record.Want {
	return record.Want{Label: label, Session: session, Live: n}
}

// examined is the evidence on a survivor: blocked in read(0), with its stdin
// held as said.
func (p *play) examined(server string, holders ...record.Holder) {
	id := p.ids[server]
	p.know[id] = record.Evidence{
		Process: p.procs[id], Server: server, Syscall: "read(0)", Wchan: "anon_pipe_read",
		Descriptors: []record.Descriptor{{FD: 0, Target: "pipe:[1]", Mode: "read", Known: true, Holders: holders}},
	}
}

func holder(role record.HolderRole, pid, fd int) record.Holder {
	return record.Holder{Identity: record.Identity{PID: pid, Start: uint64(pid) * 100}, FD: fd, Mode: "write", Role: role}
}
