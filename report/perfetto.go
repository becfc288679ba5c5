package report

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// traceEvent is an event of the Trace Event Format, which Perfetto and
// chrome://tracing read. Times are microseconds.
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

// tracer writes the events of a file. Each run has a process for its host and
// one for each label; each server is a thread.
type tracer struct {
	b     *bytes.Buffer
	pid   int
	calls int
	err   error
	first bool
}

func perfetto(b *bytes.Buffer, runs []verdict.Judged) error {
	b.WriteString(`{"displayTimeUnit":"ms","traceEvents":[`)
	t := &tracer{b: b, first: true}
	for i := range runs {
		t.run(tell(&runs[i]))
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
	t.b.Write(escapeObscure(line))
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }

func (t *tracer) name(what string, tid int, name string) {
	t.add(traceEvent{Name: what, Phase: "M", PID: t.pid, TID: tid, Args: map[string]any{"name": clean(name, 2*maxName)}})
}

func (t *tracer) slice(tid int, from, to int64, name, cat string, args map[string]any) {
	t.add(traceEvent{Name: clean(name, 2*maxName), Cat: cat, Phase: "X", TS: micros(from), Dur: micros(max(to-from, 1)), PID: t.pid, TID: tid, Args: args})
}

func (t *tracer) mark(tid int, at int64, name, cat string) {
	if at >= 0 {
		t.add(traceEvent{Name: clean(name, 2*maxName), Cat: cat, Phase: "i", Scope: "t", TS: micros(at), PID: t.pid, TID: tid})
	}
}

func (t *tracer) run(s *story) {
	t.pid++
	title := s.header.Scenario.Name + " on " + s.header.Host.Name
	t.name("process_name", 0, title+": host")
	t.name("thread_name", 1, "steps")
	t.name("thread_name", 2, "checkpoints")
	for _, st := range s.steps {
		// Steps may overlap: slices of a thread may not.
		t.async("step", stepName(st), st.from, st.to, 1, map[string]any{"result": stepResult(st)})
	}
	for _, c := range s.checkpoints {
		t.slice(2, c.from, c.to, "checkpoint "+c.Name, "checkpoint", map[string]any{"state": checkState(c)})
	}
	for i := range s.Verdict.Findings {
		f := &s.Verdict.Findings[i]
		for _, at := range f.At {
			t.mark(2, at, f.Law+" "+f.Kind, "finding")
		}
	}
	for _, one := range s.samples {
		t.counter(one.t, "zombies", float64(one.zombies))
		if one.host != nil {
			t.counter(one.t, "host RSS (MiB)", float64(one.host.RSS)/(1<<20))
			if one.host.FDs >= 0 {
				t.counter(one.t, "host fds", float64(one.host.FDs))
			}
		}
	}
	for _, p := range s.lives.Counts() {
		t.counter(p.T, "live "+p.Label, float64(p.Live))
	}
	for _, label := range s.labels() {
		t.pid++
		t.name("process_name", 0, title+": "+label)
		for _, f := range s.fates {
			if f.Label == label {
				t.server(s, f)
			}
		}
	}
}

func (t *tracer) counter(at int64, name string, value float64) {
	t.add(traceEvent{Name: clean(name, maxName), Phase: "C", TS: micros(at), PID: t.pid, Args: map[string]any{"value": value}})
}

// stateWords say what the states of a life mean.
var stateWords = map[string]string{"start": "starting", "work": "in use", "broken": "broken", "leave": "ending", "over": "should be gone"}

func (t *tracer) server(s *story, f *fate) {
	t.name("thread_name", f.n, fmt.Sprintf("%s pid %d: %s", f.ID, f.Birth.PID, s.outcome(f)))
	for _, p := range stretches(f) {
		t.slice(f.n, p.from, p.to, stateWords[p.state], "life", map[string]any{"pid": f.Birth.PID, "session": clean(f.Session, maxName)})
	}
	for _, c := range f.Calls {
		to := c.Answered
		if to < 0 {
			to = f.until
		}
		t.async("call", "call "+c.Tool, c.Received, to, f.n, map[string]any{"answered": c.Answered >= 0})
	}
	t.mark(f.n, f.Established, "initialized", "life")
	t.mark(f.n, f.EOF, "EOF", "life")
	for _, m := range f.Signals {
		t.mark(f.n, m.T, m.Text, "signal")
	}
	for _, m := range f.Faults {
		t.mark(f.n, m.T, "fault: "+string(m.Do), "fault")
	}
	t.mark(f.n, f.Died, "dead", "life")
}

// async is a slice that may overlap others.
func (t *tracer) async(cat, name string, from, to int64, tid int, args map[string]any) {
	t.calls++
	e := traceEvent{Name: clean(name, 2*maxName), Cat: cat, Phase: "b", TS: micros(from), PID: t.pid, TID: tid, ID: fmt.Sprint(t.calls), Args: args}
	t.add(e)
	e.Phase, e.TS, e.Args = "e", micros(max(to, from)), nil
	t.add(e)
}
