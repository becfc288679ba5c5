package formats

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// traceEvent is an event of the Trace Event Format, which Perfetto and chrome://tracing read. Times are microseconds.
type traceEvent struct {
	Name  string         `json:"name,omitempty"`
	Phase string         `json:"ph"`
	Cat   string         `json:"cat,omitempty"`
	TS    float64        `json:"ts"`
	Dur   float64        `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    string         `json:"id,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// tracer writes the events of a file. Each run has a process for its host and one for each label; each server is a thread.
type tracer struct {
	b     *bytes.Buffer
	pid   int
	calls int
	err   error
	first bool
}

// Perfetto writes a trace of all runs.
func Perfetto(b *bytes.Buffer, runs []verdict.Judged) error {
	b.WriteString(`{"displayTimeUnit":"ms","traceEvents":[`)
	t := &tracer{b: b, first: true}
	for i := range runs {
		t.run(model.New(&runs[i]))
	}
	b.WriteString("\n]}\n")
	return t.err
}

func (t *tracer) add(e traceEvent) {
	line, err := json.Marshal(e)
	if err != nil {
		t.err = err
		return
	}
	if !t.first {
		t.b.WriteByte(',')
	}
	t.first = false
	t.b.WriteByte('\n')
	t.b.Write(words.EscapeObscure(line))
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }

func (t *tracer) name(what string, tid int, name string) {
	t.add(traceEvent{Name: what, Phase: "M", PID: t.pid, TID: tid, Args: map[string]any{"name": words.Clean(name, 2*words.MaxName)}})
}

func (t *tracer) slice(tid int, from, to int64, name, cat string, args map[string]any) {
	t.add(traceEvent{
		Name: words.Clean(name, 2*words.MaxName), Cat: cat, Phase: "X", TS: micros(from), Dur: micros(max(to-from, 1)),
		PID: t.pid, TID: tid, Args: args,
	})
}

func (t *tracer) mark(tid int, at int64, name, cat string) {
	if at >= 0 {
		t.add(traceEvent{Name: words.Clean(name, 2*words.MaxName), Cat: cat, Phase: "i", Scope: "t", TS: micros(at), PID: t.pid, TID: tid})
	}
}

func (t *tracer) run(s *model.Run) {
	t.pid++
	title := s.Header.Scenario.String() + " on " + s.Header.Host.Name
	t.name("process_name", 0, title+": host")
	t.name("thread_name", 1, "steps")
	t.name("thread_name", 2, "checkpoints")
	for _, st := range s.History.Steps() {
		// Steps may overlap: slices of a thread may not.
		t.async("step", model.StepName(st), st.Begun, s.Ended(st.Ended), 1, map[string]any{"result": model.StepResult(st)})
	}
	for _, c := range s.History.Checkpoints() {
		t.slice(2, c.Begun, s.Ended(c.Ended), "checkpoint "+c.Name, "checkpoint", map[string]any{"state": s.CheckState(c)})
	}
	for i := range s.Verdict.Findings {
		f := &s.Verdict.Findings[i]
		for _, at := range f.At {
			t.mark(2, at, f.Law+" "+f.Kind, "finding")
		}
	}
	for _, one := range s.History.Samples() {
		t.counter(one.T, "zombies", float64(one.Zombies))
		if one.Host != nil {
			t.counter(one.T, "host RSS (MiB)", float64(one.Host.RSS)/(1<<20))
			if one.Host.FDs >= 0 {
				t.counter(one.T, "host fds", float64(one.Host.FDs))
			}
		}
	}
	for _, p := range s.History.Counts() {
		t.counter(p.T, "live "+p.Label, float64(p.Live))
	}
	for _, label := range s.Labels() {
		t.pid++
		t.name("process_name", 0, title+": "+label)
		for _, f := range s.Servers {
			if f.Label == label {
				t.server(s, f)
			}
		}
	}
}

func (t *tracer) counter(at int64, name string, value float64) {
	t.add(traceEvent{Name: words.Clean(name, words.MaxName), Phase: "C", TS: micros(at), PID: t.pid, Args: map[string]any{"value": value}})
}

// stateWords say what the states of a life mean.
var stateWords = map[string]string{"start": "starting", "work": "in use", "broken": "broken", "leave": "ending", "over": "should be gone"}

func (t *tracer) server(s *model.Run, f *model.Server) {
	t.name("thread_name", f.N, fmt.Sprintf("%s pid %d: %s", f.ID, f.Birth.PID, s.Outcome(f)))
	for _, p := range model.Stretches(f) {
		t.slice(f.N, p.From, p.To, stateWords[p.State], "life",
			map[string]any{"pid": f.Birth.PID, "session": words.Clean(f.Session, words.MaxName)})
	}
	for _, c := range f.Calls {
		to := c.Answered
		if to < 0 {
			to = f.Until
		}
		t.async("call", "call "+c.Tool, c.Received, to, f.N, map[string]any{"answered": c.Answered >= 0})
	}
	t.mark(f.N, f.Established, "initialized", "life")
	t.mark(f.N, f.EOF, "EOF", "life")
	for _, m := range f.Signals {
		t.mark(f.N, m.T, m.Text, "signal")
	}
	for _, m := range f.Faults {
		t.mark(f.N, m.T, "fault: "+string(m.Do), "fault")
	}
	t.mark(f.N, f.Died, "dead", "life")
}

// async is a slice that may overlap others.
func (t *tracer) async(cat, name string, from, to int64, tid int, args map[string]any) {
	t.calls++
	e := traceEvent{
		Name: words.Clean(name, 2*words.MaxName), Cat: cat, Phase: "b", TS: micros(from), PID: t.pid, TID: tid,
		ID: fmt.Sprint(t.calls), Args: args,
	}
	t.add(e)
	e.Phase, e.TS, e.Args = "e", micros(max(to, from)), nil
	t.add(e)
}
