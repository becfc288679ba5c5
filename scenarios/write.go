package scenarios

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// Text is the scenario as a file, which Parse reads back as the same scenario. It holds what a generated scenario can have: no about,
// reports, laws or severities.
func (s *Scenario) Text() string {
	w := &fileWriter{}
	w.line(0, "name: %s", s.Name)
	w.line(0, "title: %s", strconv.Quote(s.Title))
	w.line(0, "servers:")
	for _, server := range s.Servers {
		w.server(server)
	}
	if s.Place != "" {
		w.line(0, "host: {place: %s}", s.Place)
	}
	w.limits(s.Limits)
	w.line(0, "steps:")
	w.steps(1, s.Steps)
	return w.String()
}

type fileWriter struct{ strings.Builder }

func (w *fileWriter) line(depth int, format string, args ...any) {
	fmt.Fprintf(w, strings.Repeat("  ", depth)+format+"\n", args...)
}

func (w *fileWriter) server(s Server) {
	w.line(1, "%s:", s.Label)
	if s.Script.Era != "" {
		w.line(2, "era: %s", s.Script.Era)
	}
	if s.Optional {
		w.line(2, "optional: true")
	}
	if len(s.Script.Faults) == 0 {
		return
	}
	w.line(2, "faults:")
	for _, f := range s.Script.Faults {
		w.line(3, "- {%s}", strings.Join(faultFields(f, 0), ", "))
	}
}

// faultFields are the fields that a fault has, from one of fakeserver.Fields on.
func faultFields(f fakeserver.Fault, from int) (fields []string) {
	for _, d := range fakeserver.Fields[from:] {
		if v := reflect.ValueOf(d.Of(&f)).Elem(); !v.IsZero() {
			fields = append(fields, fmt.Sprintf("%s: %v", d.Name, asText(v.Interface())))
		}
	}
	return fields
}

// asText is a value as a file has it: a time is written otherwise than in a sentence.
func asText(value any) any {
	if m, ok := value.(encoding.TextMarshaler); ok {
		if text, err := m.MarshalText(); err == nil {
			return string(text)
		}
	}
	return value
}

func (w *fileWriter) limits(l record.Limits) {
	fields := &written{}
	d := defaults
	for _, row := range []struct {
		name       string
		is, preset record.Duration
	}{
		{"settle", l.Settle, d.Settle},
		{"confirm", l.Confirm, d.Confirm},
		{"quiet", l.Quiet, d.Quiet},
		{"close", l.Close, d.Close},
		{"stop", l.Stop, d.Stop},
		{"grace", l.Grace, d.Grace},
	} {
		fields.add(row.is != row.preset, row.name, row.is)
	}
	fields.add(l.Patience > 0 && l.Patience != defaultPatience, "patience", l.Patience)
	fields.add(l.SpawnsPerSession > 0, "spawns_per_session", l.SpawnsPerSession)
	fields.add(l.SpawnsPerMinute > 0, "spawns_per_minute", l.SpawnsPerMinute)
	fields.add(l.GrowthPerCycle != d.GrowthPerCycle, "kib_per_cycle", l.GrowthPerCycle>>10)
	fields.add(l.NoFile > 0, "nofile", l.NoFile)
	if len(fields.all) > 0 {
		w.line(0, "limits: {%s}", strings.Join(fields.all, ", "))
	}
}

// written are the fields of a mapping on one line.
type written struct{ all []string }

func (f *written) add(given bool, name string, value any) {
	if given {
		f.all = append(f.all, fmt.Sprintf("%s: %v", name, asText(value)))
	}
}

func (w *fileWriter) steps(depth int, steps []Step) {
	for i := range steps {
		w.step(depth, &steps[i])
	}
}

func (w *fileWriter) step(depth int, s *Step) {
	f := &written{}
	switch s.Op {
	case record.OpParallel:
		w.line(depth, "- parallel:")
		for i := range s.Lanes {
			w.line(depth+2, "-")
			w.steps(depth+3, s.Lanes[i])
		}
		return
	case record.OpRepeat:
		w.line(depth, "- repeat: %d", s.Count)
		w.line(depth+1, "steps:")
		w.steps(depth+2, s.Steps)
		return
	case record.OpTick:
		w.tick(depth, s)
		return
	case record.OpReload:
		f.add(true, string(s.Op), s.Label)
	case record.OpBreak:
		f.add(true, string(s.Op), subjectOf(s))
		f.add(true, "with", "{"+strings.Join(faultFields(s.With, 1), ", ")+"}")
	case record.OpCheckpoint:
		f.add(true, string(s.Op), s.Name)
		f.add(len(s.Live) > 0, "live", countsOf(s.Live))
	case record.OpStop, record.OpTerm, record.OpKill, record.OpRestart:
		f.add(true, string(s.Op), "host")
		f.add(s.After != "", "after", s.After)
		f.add(s.Grace > 0, "grace", s.Grace)
	default:
		f.add(true, string(s.Op), s.Session)
		f.add(s.Op == record.OpOpen, "server", s.Label)
		f.add(s.If != "", "if", s.If)
		f.add(s.For != "", "for", s.For)
		f.add(s.What != "", "what", s.What)
	}
	f.call(s.Tool, s.Args, s.Timeout, s.Cancel)
	f.add(s.Twice, "twice", true)
	f.add(s.CancelAfter > 0, "cancel_after", s.CancelAfter)
	f.add(s.Patient, "patient", true)
	f.add(s.Shared, "shared", true)
	f.add(s.Expect != "", "expect", s.Expect)
	f.add(s.Defining, "defining", true)
	w.line(depth, "- {%s}", strings.Join(f.all, ", "))
}

func subjectOf(s *Step) string {
	if s.Session != "" {
		return s.Session
	}
	return s.Label
}

func countsOf(live map[string]int) string {
	var all []string
	for _, label := range slices.Sorted(maps.Keys(live)) {
		all = append(all, fmt.Sprintf("%s: %d", label, live[label]))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// call are the fields of a call, in a step or a job.
func (f *written) call(tool string, args map[string]any, timeout record.Duration, cancel bool) {
	f.add(tool != "", "tool", tool)
	f.add(args["ms"] != nil, "args", fmt.Sprintf("{ms: %v}", args["ms"]))
	if pad, ok := args["pad"].(string); ok {
		f.add(true, "pad", len(pad)>>10)
	}
	f.add(timeout > 0, "timeout", timeout)
	f.add(cancel, "cancel", cancel)
}

func (w *fileWriter) tick(depth int, s *Step) {
	w.line(depth, "- tick:")
	w.line(depth+3, "jobs:")
	for _, j := range s.Jobs {
		f := &written{}
		f.add(true, "server", j.Label)
		f.add(j.Count > 1, "count", j.Count)
		f.call(j.Tool, j.Args, j.Timeout, j.Cancel)
		f.add(j.Signal != "", "signal", j.Signal)
		f.add(j.Probe, "probe", true)
		f.add(j.Expect != "", "expect", j.Expect)
		w.line(depth+4, "- {%s}", strings.Join(f.all, ", "))
	}
	if len(s.Steps) > 0 {
		w.line(depth+3, "during:")
		w.steps(depth+4, s.Steps)
	}
	if s.Defining {
		w.line(depth+1, "defining: true")
	}
}
