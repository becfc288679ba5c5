package history

import "github.com/leakbench/leakbench/internal/record"

// Step is a step with its times.
type Step struct {
	record.Step       // as its last event has it
	Begun       int64 // when it was asked for
	Ended       int64 // when it ended or was skipped, or Never
	Skipped     bool
	Keeps       []record.Evidence // of a job whose command did not exit: the command, and what was below it
}

// Failed says that it ended, and not as a step that works does.
func (s *Step) Failed() bool { return s.Ended >= 0 && !s.Skipped && !s.OK }

func (h *History) step(e *record.Event) {
	n := e.Step.N
	if e.Kind == record.StepBegun {
		s := &Step{Step: *e.Step, Begun: e.T, Ended: Never}
		h.steps = append(h.steps, s)
		h.open[n] = append(h.open[n], s)
		if host := h.Host(); host.AskedAt == Never && e.Step.Op.EndsHost() {
			host.AskedAt, host.AskedOp, host.AskedBy = e.T, e.Step.Op, e.Step.Detail
		}
		return
	}
	open := h.open[n]
	if len(open) == 0 { // one that is skipped need not have begun
		h.steps = append(h.steps, &Step{Step: *e.Step, Begun: e.T, Ended: e.T, Skipped: e.Kind == record.StepSkipped})
		return
	}
	s := open[len(open)-1]
	if host := h.HostAt(s.Begun); e.Kind == record.StepSkipped && host.AskedAt == s.Begun { // nobody could ask it
		host.AskedAt, host.AskedOp, host.AskedBy = Never, "", ""
	}
	s.Step, s.Ended, s.Skipped, s.Keeps = *e.Step, e.T, e.Kind == record.StepSkipped, e.Evidence
	if h.open[n] = open[:len(open)-1]; len(open) == 1 {
		delete(h.open, n)
	}
}

// Steps are all steps, in the order in which they began.
func (h *History) Steps() []*Step { return h.steps }
