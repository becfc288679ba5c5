package doubts

import (
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	ms = time.Millisecond
	s  = time.Second

	// second is a moment of a run whose times a test sets itself.
	second = int64(s)

	hostPID   = 20
	hostStart = 2000
)

// hangs is a fault that a server committed.
var hangs = history.FaultMark{T: 5 * second, Fault: record.Fault{On: record.OnOrder, Do: "hang", Breaks: true}}

// play writes a run of a driven host.
type play struct {
	run             *record.Run
	t               time.Duration
	launched, steps int
}

func newPlay() *play {
	p := &play{run: &record.Run{Header: record.Header{
		Format: record.Format, Version: record.Version, ID: "feedc0ffee42",
		Witness: record.Witness{Ledger: "SO_PEERCRED", Census: "procfs", Subreaper: true},
		Host:    record.Host{Name: "test", Kind: record.KindDriver},
		Limits:  record.Limits{Settle: record.Duration(s), Quiet: record.Duration(100 * ms)},
		System:  record.System{OS: "linux"},
	}}}
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: hostPID, Start: hostStart}, PPID: 10, Comm: "host", State: "S"}})
	return p
}

func (p *play) add(e record.Event) {
	p.t += 10 * time.Microsecond
	e.Seq, e.T = int64(len(p.run.Events)+1), int64(p.t)
	p.run.Events = append(p.run.Events, e)
}

// launch is the birth of a server of flaky below the host, and its handshake. Its start is counted in ticks of 10 ms.
func (p *play) launch(session string) {
	p.launched++
	pid := 100 + p.launched
	name := fmt.Sprintf("flaky#%d", p.launched)
	p.add(record.Event{Kind: record.Born, Server: name, Birth: &record.Birth{
		Identity: record.Identity{PID: pid, Start: hostStart + uint64(p.t/(10*ms))}, PPID: hostPID, PGID: hostPID, SID: hostPID, Label: "flaky", Session: session, Launch: p.launched,
	}})
	for _, phase := range []record.Phase{record.PhaseReceived, record.PhaseAnswered} {
		p.add(record.Event{Kind: record.RPC, Server: name, RPC: &record.RPCInfo{Method: record.MethodInitialize, ID: "1", Phase: phase}})
	}
}

// open opens a session on a new server that works.
func (p *play) open(session string) {
	p.steps++
	st := record.Step{N: p.steps, Op: record.OpOpen, Session: session, Label: "flaky"}
	p.add(record.Event{Kind: record.StepBegun, Step: &st})
	p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: session, Label: "flaky", State: record.SessionOpening}})
	p.launch(session)
	p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: session, Label: "flaky", State: record.SessionOpen}})
	done := st
	done.OK = true
	p.add(record.Event{Kind: record.StepEnded, Step: &done})
}

// step is a step as it ended.
func (p *play) step(st record.Step) {
	p.steps++
	st.N = p.steps
	begun := st
	begun.OK, begun.Error = false, ""
	p.add(record.Event{Kind: record.StepBegun, Step: &begun})
	p.add(record.Event{Kind: record.StepEnded, Step: &st})
}

// exit is the end of the host.
func (p *play) exit(exit record.Exit) {
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &exit})
}

// start is another life of the host.
func (p *play) start() {
	id := record.Identity{PID: hostPID + 1, Start: hostStart + uint64(p.t/(10*ms))}
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: id, PPID: 10, Comm: "host", State: "S"}})
}

// restless is a checkpoint after the host's end that does not come to rest, and what comes home after it.
func (p *play) restless() {
	cp := &record.Checkpoint{Name: "after", HostGone: true}
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: cp})
	p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSettled, Checkpoint: "after"}})
	p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: cp})
	p.t += 20 * s
	p.add(record.Event{Kind: record.Reaped, Process: &record.Process{Identity: record.Identity{PID: 77, Start: 1}, Comm: "ghost"}})
}

// over is what is doubted of a run with this end.
func (p *play) over(end record.End, told Told) []record.Doubt {
	p.add(record.Event{Kind: record.Ended, End: &end})
	return Of(facts.Of(p.run), told)
}

// search is what begins with the run.
func (p *play) search() *search { return begin(facts.Of(p.run), Told{}) }

// opened is a run in which sessions were opened before the first second.
func opened(sessions ...string) *search {
	p := newPlay()
	for _, name := range sessions {
		p.open(name)
	}
	p.t += 100 * s
	p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample}})
	return p.search()
}

// stepIn is a step of a run, from one time to another.
func stepIn(f *search, n int, st record.Step, begun, ended int64) *history.Step {
	step := f.Steps()[n]
	st.N = step.N
	step.Step, step.Begun, step.Ended = st, begun, ended
	return step
}

// looked is a checkpoint that was looked at after five seconds.
func looked() *facts.Checkpoint {
	c := &record.Census{}
	return &facts.Checkpoint{WatchedUntil: 8 * second, Checkpoint: &history.Checkpoint{
		Checkpoint: record.Checkpoint{Name: "after"}, Begun: 4 * second, SettledAt: 5 * second, ConfirmAt: never, Ended: 8 * second, Settled: c, SettledRows: history.RowsOf(c),
	}}
}
