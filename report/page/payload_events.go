package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// eventColumns are the events of a run, those of the bench and the host first, then those of each row.
type eventColumns struct {
	p                  *payload
	t, kind, text, row []int64 // row: how many of each, the bench's and the host's first
}

func (c *eventColumns) add(t int64, kind, text string) {
	if t < 0 {
		return
	}
	c.t = append(c.t, micro(t))
	c.kind = append(c.kind, int64(slices.Index(eventKinds, kind)))
	c.text = append(c.text, c.p.text(text))
	c.row[len(c.row)-1]++
}

func (p *payload) events(s *model.Run, rows []line) {
	c := &eventColumns{p: p, row: []int64{0}}
	mine := c.ofBench(s)
	for _, r := range rows {
		c.row = append(c.row, 0)
		if r.f != nil {
			c.ofServer(r.f, mine[r.f.ID])
		} else {
			c.ofOther(r.other)
		}
	}
	p.Columns.add("ev.rows", c.row)
	p.Columns.add("ev.t", c.t)
	p.Columns.add("ev.kind", c.kind)
	p.Columns.add("ev.text", c.text)
}

// ofBench writes what concerns no server, and sorts out the rest.
func (c *eventColumns) ofBench(s *model.Run) map[string][]*record.Event {
	mine := map[string][]*record.Event{}
	for i := range s.History.Events() {
		e := &s.History.Events()[i]
		of := s.History.Server(e.Server)
		if e.Kind == record.Reaped && e.Process != nil {
			of = s.History.ServerOf(e.Process.Identity)
		}
		if of != nil {
			mine[of.ID] = append(mine[of.ID], e)
		} else {
			c.told(e)
		}
	}
	return mine
}

func (c *eventColumns) told(e *record.Event) {
	switch {
	case e.Step != nil && e.Kind == record.StepBegun:
		c.add(e.T, "step", model.StepName(&history.Step{Step: *e.Step}))
	case e.Step != nil:
		c.add(e.T, "step", model.StepTitle(&history.Step{Step: *e.Step, Ended: e.T, Skipped: e.Kind == record.StepSkipped}))
	case e.Checkpoint != nil:
		c.checkpoint(e)
	case e.Session != nil:
		c.add(e.T, "session", words.Join(e.Session.Name, "("+e.Session.Label+"):", string(e.Session.State), string(e.Session.Why)))
	case e.Kind == record.HostStarted && e.Process != nil:
		c.add(e.T, "host", fmt.Sprintf("started: pid %d", e.Process.PID))
	case e.Kind == record.HostReady:
		c.add(e.T, "host", "ready")
	case e.Kind == record.HostExited:
		c.add(e.T, "host", "ended: "+model.ExitText(e.Exit))
	case e.Kind == record.WroteStdout:
		c.add(e.T, "stderr", "stdout, no message: "+e.Text)
	case e.Doubt != nil:
		c.add(e.T, "doubt", string(e.Doubt.Code)+": "+e.Doubt.Text)
	default:
		c.byBench(e)
	}
}

func (c *eventColumns) checkpoint(e *record.Event) {
	text := " begins"
	switch {
	case e.Kind == record.CheckpointEnded && e.Checkpoint.Quiet:
		text = ": as expected"
	case e.Kind == record.CheckpointEnded:
		text = ": unexpected state"
	}
	c.add(e.T, "checkpoint", e.Checkpoint.Name+text)
}

// byBench tells of what the bench has done itself: a control, a bystander, a sweep.
func (c *eventColumns) byBench(e *record.Event) {
	switch {
	case e.Kind == record.Controlled && e.Control != nil:
		text := ", without the host: still running %s after stdin EOF"
		if e.Control.Exited {
			text = ", without the host: exits %s after stdin EOF"
		}
		c.add(e.T, "control", e.Control.Label+fmt.Sprintf(text, duration.Text(e.Control.After)))
	case e.Kind == record.BystanderSeen && e.Process != nil:
		text := fmt.Sprintf("pid %d, none of the host's", e.Process.PID)
		if e.Exit != nil {
			text += ", was ended: " + model.ExitText(e.Exit)
		}
		c.add(e.T, "bystander", text)
	case e.Kind == record.Swept && e.Census != nil:
		for _, p := range e.Census.Processes {
			c.add(e.T, "swept", fmt.Sprintf("pid %d %s", p.PID, p.Comm))
		}
	}
}

func (c *eventColumns) ofServer(f *model.Server, events []*record.Event) {
	overdue := f.Overdue
	for _, e := range events {
		if overdue >= 0 && e.T > overdue {
			c.add(overdue, "over", "should be gone from here on")
			overdue = history.Never
		}
		c.saw(e, f)
	}
	c.add(overdue, "over", "should be gone from here on")
	if f.Left {
		text := "killed by the bench"
		if f.Alive() {
			text = "still there when the run ended"
		}
		c.add(max(f.Until, f.Born), "left", text)
	}
}

// plainly are events that say all by their kinds.
var plainly = map[record.Kind][2]string{
	record.Ready: {"ready", "reads stdin"}, record.SawEOF: {"eof", "end of stdin"}, record.Died: {"died", "dead"},
	record.Lost: {"lost", "its connection ended, but not its process"},
}

func (c *eventColumns) saw(e *record.Event, f *model.Server) {
	b := &f.Birth
	if said, known := plainly[e.Kind]; known {
		c.add(e.T, said[0], said[1])
	}
	switch e.Kind {
	case record.Born:
		c.add(e.T, "born", fmt.Sprintf("launch %d, group %s, session %s", f.Launch, leader(b.PGID, b.PID), leader(b.SID, b.PID)))
	case record.RPC:
		c.rpc(e, f)
	case record.Faulted:
		if e.Fault != nil {
			c.add(e.T, "fault", words.Join("on", string(e.Fault.On)+":", string(e.Fault.Do), e.Fault.Detail))
		}
	case record.SawSignal:
		c.add(e.T, "signal", words.Join(e.Signal, known(e.Text != "", "with its stdin "+e.Text)))
	case record.WroteStderr:
		for line := range strings.Lines(e.Text) {
			c.add(e.T, "stderr", strings.TrimRight(line, "\n"))
		}
	case record.Bye:
		c.add(e.T, "bye", words.Join("cleaned up, exits", e.Text))
	case record.Reaped:
		c.add(e.T, "reaped", words.Join("came home to the keeper:", model.ExitText(e.Exit)))
	}
}

// leader keeps pids out of texts that many servers share.
func leader(id, own int) string {
	if id == own {
		return "of its own"
	}
	return strconv.Itoa(id)
}

func (c *eventColumns) rpc(e *record.Event, f *model.Server) {
	if e.RPC == nil {
		return
	}
	kind := "rpc"
	if e.T == f.Established && e.RPC.Phase == record.PhaseAnswered {
		kind = "init"
	}
	c.add(e.T, kind, words.Join(string(e.RPC.Method), e.RPC.Tool, string(e.RPC.Phase)))
}

func (c *eventColumns) ofOther(k *model.OtherProcess) {
	c.add(k.First, "seen", words.Join("first seen:", words.Shell(k.Args)))
	c.add(k.Last, "seen", "last seen")
	if k.Reaped >= 0 {
		c.add(k.Reaped, "reaped", "came home to the keeper")
	}
}
