package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// ofServer are the kinds of events about one fake server.
var ofServer = []Kind{Born, Ready, RPC, Faulted, SawEOF, SawSignal, WroteStderr, Bye, Died, Lost}

// payloads are what events of some kinds must have besides, as a person reads it.
var payloads = []struct {
	name  string
	kinds []Kind
	has   func(*Event) bool
}{
	{"process", []Kind{HostStarted, HostExited, BystanderSeen}, func(e *Event) bool { return e.Process != nil }},
	{"text", []Kind{WroteStdout}, func(e *Event) bool { return e.Text != "" }},
	{"hello", []Kind{HostReady}, func(e *Event) bool { return e.Hello != nil }},
	{"exit", []Kind{HostExited}, func(e *Event) bool { return e.Exit != nil }},
	{"process and exit", []Kind{Reaped}, func(e *Event) bool { return e.Process != nil && e.Exit != nil }},
	{"step", []Kind{StepBegun, StepEnded, StepSkipped}, func(e *Event) bool { return e.Step != nil }},
	{"session", []Kind{SessionChanged}, func(e *Event) bool { return e.Session != nil }},
	{"birth", []Kind{Born}, func(e *Event) bool { return e.Birth != nil }},
	{"rpc", []Kind{RPC}, func(e *Event) bool { return e.RPC != nil }},
	{"fault", []Kind{Faulted}, func(e *Event) bool { return e.Fault != nil }},
	{"checkpoint", []Kind{CheckpointBegun, CheckpointEnded}, func(e *Event) bool { return e.Checkpoint != nil }},
	{"census", []Kind{CensusTaken, Swept}, func(e *Event) bool { return e.Census != nil }},
	{"control", []Kind{Controlled}, func(e *Event) bool { return e.Control != nil }},
	{"doubt", []Kind{Doubted}, func(e *Event) bool { return e.Doubt != nil }},
	{"end", []Kind{Ended}, func(e *Event) bool { return e.End != nil }},
	{"evidence", []Kind{EvidenceTaken}, func(e *Event) bool { return len(e.Evidence) > 0 }},
}

// Check says what an event of its kind lacks. Writer and reader both hold to it, so that whoever reads a run may use
// the fields that a kind fills. A kind that is not known here is an error: what it says may change the meaning of all
// that follows, as the death of a server does.
func (e *Event) Check() error {
	lacks := ""
	for _, p := range payloads {
		if slices.Contains(p.kinds, e.Kind) && !p.has(e) {
			lacks = p.name
		}
	}
	switch {
	case e.Kind == "":
		return errors.New("an event without a kind (or the header of a second run)")
	case !e.Kind.Known():
		return fmt.Errorf("an event of kind %.40q, which this version does not know", string(e.Kind))
	case e.Kind.OfServer() && e.Server == "":
		lacks = "server"
	}
	if lacks != "" {
		return fmt.Errorf("an event of kind %q without its %s", e.Kind, lacks)
	}
	return nil
}

// check says what a header lacks that every Writer's has, and without which no law can be judged: the limits, what must have
// happened, and of whom. A plan may be empty, as that of a test which steers its host by itself, but it has to say so.
func (h *Header) check(line []byte) error {
	var planned struct {
		Labels, Checkpoints json.RawMessage // "null" is one too
	}
	if err := json.Unmarshal(line, &struct{ Plan any }{&planned}); err != nil {
		return err
	}
	for _, p := range []struct {
		name string
		has  bool
	}{
		{"scenario.name", h.Scenario.Name != ""},
		{"host.kind", slices.Contains([]HostKind{KindDriver, KindCommand, KindGateway, KindOneshot, KindServer, KindAttached}, h.Host.Kind)},
		{"limits.settle", h.Limits.Settle > 0},
		{"limits.confirm", h.Limits.Confirm > 0},
		{"plan.checkpoints", planned.Checkpoints != nil},
		{"plan.labels", planned.Labels != nil},
	} {
		if !p.has {
			return fmt.Errorf("a header without its %s", p.name)
		}
	}
	return h.sense()
}

// lawForm is what the id of a law looks like. A later version may have more laws than this one.
var lawForm = regexp.MustCompile(`^[LS]([1-9]|[1-4][0-9])$`)

// number is one that stands in a header, with its name.
type number struct {
	name  string
	value int64
}

// numbers are those of a header that no Writer writes below 0.
func (h *Header) numbers() []number {
	l, p := h.Limits, h.Host.Profile
	all := []number{
		{"system.cpus", int64(h.System.CPUs)},
		{"limits.quiet", int64(l.Quiet)},
		{"limits.close", int64(l.Close)},
		{"limits.stop", int64(l.Stop)},
		{"limits.grace", int64(l.Grace)},
		{"limits.fast", int64(l.Fast)},
		{"limits.spawns_per_session", int64(l.SpawnsPerSession)},
		{"limits.spawns_per_minute", int64(l.SpawnsPerMinute)},
		{"limits.growth_per_cycle", l.GrowthPerCycle},
		{"limits.nofile", int64(l.NoFile)},
		{"soak", int64(h.Soak)},
		{"plan.defining", int64(h.Plan.Defining)},
		{"host.profile.settle", int64(p.Settle)},
		{"host.profile.confirm", int64(p.Confirm)},
		{"host.profile.stop", int64(p.Stop)},
		{"host.profile.idle", int64(p.Idle)},
		{"host.profile.renewal", int64(p.Renewal)},
		{"host.profile.resident", int64(p.Resident)},
		{"host.profile.spare", int64(p.Spare)},
	}
	for _, label := range h.Plan.Labels {
		all = append(all, number{"plan.labels.launches", int64(label.Launches)})
	}
	for _, f := range h.Plan.Faults {
		all = append(all, number{"plan.faults.launch", int64(f.Launch)}, number{"plan.faults.every", int64(f.Every)},
			number{"plan.faults.fires", int64(f.Fires)})
	}
	return all
}

// sense says which number or name of a header no Writer writes: a limit below 0, a law that there can't be.
func (h *Header) sense() error {
	for _, n := range h.numbers() {
		if n.value < 0 {
			return fmt.Errorf("a header whose %s is below 0", n.name)
		}
	}
	l, p := h.Limits, h.Host.Profile
	for _, d := range []number{
		{"limits.settle", int64(l.Settle)},
		{"limits.confirm", int64(l.Confirm)},
		{"limits.quiet", int64(l.Quiet)},
		{"limits.close", int64(l.Close)},
		{"limits.stop", int64(l.Stop)},
		{"limits.grace", int64(l.Grace)},
		{"limits.fast", int64(l.Fast)},
		{"soak", int64(h.Soak)},
		{"host.profile.settle", int64(p.Settle)},
		{"host.profile.confirm", int64(p.Confirm)},
		{"host.profile.stop", int64(p.Stop)},
		{"host.profile.idle", int64(p.Idle)},
		{"host.profile.renewal", int64(p.Renewal)},
	} {
		if d.value > maxTime {
			return fmt.Errorf("a header whose %s is more than a year", d.name)
		}
	}
	for _, law := range append(slices.Sorted(maps.Keys(l.Severity)), h.Plan.Laws...) {
		if !lawForm.MatchString(law) {
			return fmt.Errorf("a header with an unknown law %.40q", law)
		}
	}
	for law, s := range l.Severity {
		if !slices.Contains([]Severity{SeverityError, SeverityWarning, SeverityOff}, s) {
			return fmt.Errorf("a header whose severity of %s is %.40q", law, string(s))
		}
	}
	return nil
}

// OfServer says that an event of this kind is about one fake server.
func (k Kind) OfServer() bool { return slices.Contains(ofServer, k) }

// Known says that this version knows the kind.
func (k Kind) Known() bool {
	for _, p := range payloads {
		if slices.Contains(p.kinds, k) {
			return true
		}
	}
	return k.OfServer()
}
