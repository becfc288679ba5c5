package fakeserver

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/lists"
)

// Fault is one thing that a server does wrong. See Moments and Actions for the values that On and Do may have, and
// which of them go together, and Fields for the rest. A field that is 0 or "" is one that was not given.
type Fault struct {
	On string `json:"on"`           // the moment: one of Moments
	Do string `json:"do"`           // the action: one of Actions
	As string `json:"as,omitempty"` // the way in which it is done; "" is the first that the action has

	Launch int `json:"launch,omitempty"` // 0 is every launch, unless Every is set
	Every  int `json:"every,omitempty"`
	// Probability has only some of those launches do it. Which ones it is follows from the run's seed, the label and the launch.
	Probability float64 `json:"probability,omitempty"`
	// After has a launch let the moment pass so many times first, of the calls
	// that Tool selects; each one from then on is met with the fault.
	After int `json:"after,omitempty"`

	Tool  string   `json:"tool,omitempty"`
	For   Duration `json:"for,omitempty"`
	Each  Duration `json:"each,omitempty"`
	MiB   int      `json:"mib,omitempty"`
	Bytes int      `json:"bytes,omitempty"`
	Step  int      `json:"step,omitempty"`
	Code  int      `json:"code,omitempty"`
	Count int      `json:"count,omitempty"`

	targets []int // whom it was announced to signal
}

// Field describes one field of a Fault.
type Field struct {
	Name string // in JSON, in YAML and in --fault
	Unit string // what stands for its value in the help
	What string // what its value is, for messages
	Text string // what it does, for editors

	Min, Max int      // of a whole number; a Max of 0 is none
	Words    []string // what a text may be
	Own      bool     // only the actions that take it go with it
	// Without is what a fault does without the field, for a file that gives it as 0; "" where 0 is a value like others.
	Without  string
	Excludes string // the field that it can't stand beside
	// Of is where a fault has it: a *string, *int, *float64 or *Duration.
	Of func(*Fault) any

	launches bool     // it chooses launches: an order goes to a server that is there
	only     []string // the moments that it goes with; nil: all
	why      string   // of what it does not go with
	low      string   // what the least value means, of a number without a greatest
	be       string   // "is", where what it may be is said otherwise than by "may be"
	subject  string   // of a message, where it is not the field alone
	at       string   // the field at which such a message belongs
}

const (
	maxMiB   = 64 << 10 // keeps a typing error from taking the machine down
	maxCount = 64       // and from filling the process table
	maxBytes = 64 * mebi
)

// Fields are all fields of a Fault. The check, the flags and their help, and the reader of scenario files and its
// schema go by this table, so that a new field is a member of Fault and a row here.
var Fields = []Field{
	{Name: "on", Unit: "MOMENT", What: "a moment", Text: "the moment", Of: func(f *Fault) any { return &f.On }},
	{Name: "do", Unit: "ACTION", What: "an action", Text: "the action", Of: func(f *Fault) any { return &f.Do }},
	{
		Name: "launch", Unit: "N", What: "a launch number", Text: "only this launch of the label: 1 is the first of a run",
		Min: 1, low: "the first launch is 1", Without: "every launch", Excludes: "every", Of: func(f *Fault) any { return &f.Launch },
		launches: true, subject: "launch and every do", why: ", which is given to one server",
	},
	{
		Name: "every", Unit: "N", What: "a number of launches", Text: "every Nth launch of the label; without launch and every: all of them",
		Min: 1, low: "2 is each second launch", Without: "every launch", Of: func(f *Fault) any { return &f.Every },
		launches: true, subject: "launch and every do", at: "launch", why: ", which is given to one server",
	},
	{
		Name: "probability", Unit: "P", What: "a probability",
		Text:    "only some of these launches, each with this probability; the seed of the run decides which",
		Without: "always", Of: func(f *Fault) any { return &f.Probability }, be: "is", launches: true, why: ", which is given to one server",
	},
	{
		Name: "after", Unit: "N", What: "how often the moment passes first",
		Text: "skips the moment this many times first, counted anew in each launch",
		Min:  1, low: "1 lets the first one pass", Without: "the first one on", Of: func(f *Fault) any { return &f.After },
		only: []string{onList, onListResources, onListPrompts, onCall, onPing}, why: ", which come more than once",
	},
	{
		Name: "tool", Unit: "NAME", What: "a tool of the fake server", Text: "only calls of this tool",
		Words: Tools, Of: func(f *Fault) any { return &f.Tool }, only: []string{onCall},
	},
	{Name: "for", Unit: "TIME", What: "a time", Text: "how long", Own: true, Of: func(f *Fault) any { return &f.For }},
	{
		Name: "each", Unit: "TIME", What: "a time", Text: "the pause between two notifications, or between two steps of growth",
		Own: true, Of: func(f *Fault) any { return &f.Each },
	},
	{
		Name: "mib", Unit: "N", What: "a size in MiB", Text: "up to how many MiB of resident memory; long-line, flood-stderr: how many MiB",
		Min: 1, Max: maxMiB, Own: true, Without: "no growth", Of: func(f *Fault) any { return &f.MiB },
	},
	{
		Name: "bytes", Unit: "N", What: "a size in bytes", Text: "partial: how many bytes are written; it may be more than a short answer has",
		Min: 1, Max: maxBytes, Own: true, Without: "half an answer", Of: func(f *Fault) any { return &f.Bytes },
	},
	{
		Name: "step", Unit: "N", What: "a size in MiB", Text: "by how many MiB at a time (default 1)",
		Min: 1, Max: maxMiB, Own: true, Without: "1", Of: func(f *Fault) any { return &f.Step },
	},
	{Name: "code", Unit: "N", What: "an exit status", Text: "the exit status", Max: 255, Own: true, Of: func(f *Fault) any { return &f.Code }},
	{Name: "as", Unit: "WAY", What: "a way to do it", Own: true, Of: func(f *Fault) any { return &f.As }, why: ", which has one way only"},
	{
		Name: "count", Unit: "N", What: "a number of processes", Text: "how many of this kind (default 1)",
		Min: 1, Max: maxCount, Own: true, Without: "one", Of: func(f *Fault) any { return &f.Count },
	},
}

func fieldNames() []string { return lists.Map(Fields, func(d Field) string { return d.Name }) }

func fieldNamed(name string) Field { return Fields[slices.Index(fieldNames(), name)] }

// GoesWith reports whether a fault that does this then can have the field.
func (d Field) GoesWith(do, on string) bool { return d.refusal(Fault{Do: do}.action(), on) == "" }

// refusal is what the field does not go with, "" where it does.
func (d Field) refusal(a action, on string) string {
	switch {
	case d.Own && !a.has(d.Name):
		return "do: " + a.name + d.why
	case d.launches && on == onOrder:
		return "on: order" + d.why
	case d.only != nil && !contains(d.only, on):
		return "on: " + on + ", only with on: " + list(d.only) + d.why
	case a.except.field == d.Name && a.except.on == on:
		return "on: " + on + ", " + a.except.why
	}
	return ""
}

// given reports whether a fault has the field.
func (d Field) given(f *Fault) bool { return !reflect.ValueOf(d.Of(f)).Elem().IsZero() }

// allows reports whether the field's value is one that it may have, and says which it may be.
func (d Field) allows(f *Fault) (says string, ok bool) {
	switch v := d.Of(f).(type) {
	case *int:
		return fmt.Sprintf("%d to %d", d.Min, d.Max), *v >= d.Min && (d.Max == 0 || *v <= d.Max)
	case *float64:
		return "more than 0 and less than 1, like 0.25; leave it out for always", !math.IsNaN(*v) && *v > 0 && *v < 1
	case *Duration:
		return `a time like "1.5s", more than 0`, *v > 0
	}
	return "", true
}

// words are what a text may be in a fault that does a.
func (d Field) words(a action) []string {
	if d.Name == "as" {
		return Names(a.as)
	}
	return d.Words
}

// detail is what a fault is announced with. Run files have this order.
func (f Fault) detail() string {
	var parts []string
	add := func(set bool, format string, v any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	add(f.variant() != "", "as %s", f.variant())
	add(f.Count != 0, "%d of them", f.Count)
	add(f.Tool != "", "tool %s", f.Tool)
	add(f.For != 0, "for %s", time.Duration(f.For))
	add(f.MiB != 0 && (f.Do == "grow" || f.Do == "swell"), "to %d MiB", f.MiB)
	add(f.MiB != 0 && f.Do != "grow" && f.Do != "swell", "%d MiB", f.MiB)
	add(f.Bytes != 0, "%d bytes", f.Bytes)
	add(f.Step != 0, "by %d MiB", f.Step)
	add(f.Each != 0, "each %s", time.Duration(f.Each))
	add(f.Do == "exit" || f.Do == "answer-exit", "status %d", f.Code)
	add(f.After != 0, "after %d", f.After)
	add(f.Launch != 0, "on launch %d", f.Launch)
	add(f.Every != 0, "on every launch divisible by %d", f.Every)
	add(f.Probability != 0, "with probability %g", f.Probability)
	return strings.Join(parts, ", ")
}

// Passive reports whether the server only refuses to react: such a fault can be seen, but not be waited for.
func (f Fault) Passive() bool {
	a := f.action()
	return a.passive != nil && a.passive(f.On)
}

// Breaks reports whether no working session can be expected of the server
// after f: what the host does to it from there on is no collateral damage.
func (f Fault) Breaks() bool {
	a := f.action()
	return a.breaks != nil && a.breaks(f.On)
}

// breaksIn is Breaks for a server of the given era. Where there still is initialize, a client falls back to it from a
// failed discovery, unless there is no server any more to fall back to.
func (f Fault) breaksIn(era string) bool {
	if f.On == onDiscover && era != EraModern && !contains(muting, f.Do) {
		return false
	}
	return f.Breaks()
}

// variant is the way in which it is done; "" where there is only one.
func (f Fault) variant() string {
	if a := f.action(); f.As == "" && len(a.as) > 0 {
		return a.as[0].Name
	}
	return f.As
}

// muting are the actions after which nothing comes from a server any more.
var muting = []string{"exit", "answer-exit", "close-stdout", "partial", "stop-reading"}

// Forestalls reports whether no host gets past f to what a server of this era is asked next.
func (f Fault) Forestalls(era string) bool {
	refusedList := f.Do == "reject" && contains(listMoments, f.On) // many hosts go on without one
	return f.breaksIn(era) && !f.action().passable && !refusedList && f.After == 0 && f.Tool == ""
}

// announcement is f as the bench gets it.
func (f Fault) announcement(era string) birth.Fault {
	return birth.Fault{On: f.On, Do: f.Do, Detail: f.detail(), Passive: f.Passive(), Breaks: f.breaksIn(era)}
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

// Script is what a fake server does wrong, and when. The zero Script is a correct server of the legacy era.
type Script struct {
	// Era is which protocol the server speaks: "legacy" (initialize; it refuses server/discover; the default),
	// "legacy-mute" (initialize; it ignores server/discover), "modern" (server/discover, no initialize) or "dual".
	Era    string  `json:"era,omitempty"`
	Faults []Fault `json:"faults,omitempty"`
}

// Duration is a time.Duration that reads and writes as text ("1.5s").
type Duration = duration.Duration

// Due reports whether f is for the given launch of label in a run with this seed. It is a function of nothing else:
// the bench plans with it what the server will do.
func (f Fault) Due(seed uint64, label string, launch int) bool {
	return f.selects(launch) && (f.Probability == 0 || f.chance(seed, label, launch) < f.Probability)
}

// Selective reports whether f is for some launches or some times alone. What a
// server without any such fault does, it does each time.
func (f Fault) Selective() bool {
	return f.Launch > 0 || f.Every > 0 || f.After > 0 || f.Probability > 0
}

// selects reports whether launch and every leave this launch to f.
func (f Fault) selects(launch int) bool {
	switch {
	case f.Every > 0:
		return launch%f.Every == 0
	case f.Launch > 0:
		return launch == f.Launch
	}
	return true
}

// chance is a number of at least 0 and less than 1. It is the same on every machine and in every version: a seed is
// there to have a play again. Faults of the same launch have numbers that do not depend on each other.
func (f Fault) chance(seed uint64, label string, launch int) float64 {
	h := fnv.New64a()
	for _, word := range []string{label, f.On, f.Do, f.Tool} {
		_, _ = io.WriteString(h, word+"\x00")
	}
	z := mix(h.Sum64() ^ mix(seed+uint64(launch)*golden))
	return float64(z>>11) / (1 << 53) // what a float64 holds
}

// golden is the step of SplitMix64, and mix its finaliser.
const golden = 0x9e3779b97f4a7c15

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
