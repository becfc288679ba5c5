package fakeserver

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a script, for whoever knows where its parts stand. Text is for people alone.
type Problem struct {
	Fault int    // which fault of the script, from 0; -1: none
	Field string // of the fault; "" is the fault as a whole
	Other int    // the fault that this one contradicts, from 0; -1: none
	// Code is the kind of problem: "unknown" (a value), "needed" (a field), "misplaced" (fields, or an action and a
	// moment, that do not go together), "range", "impossible" (it never comes to that), "contradiction".
	Code string
	Text string

	about, against string // what the two faults are
}

// Says is the text, with the other fault called what the reader knows it by.
func (p Problem) Says(other string) string {
	if p.Other < 0 {
		return p.Text
	}
	return fmt.Sprintf("contradicts %s %s: %s", other, p.against, p.Text)
}

// Problems is everything that is wrong with a script.
type Problems []Problem

// Err is the problems as an error, nil where there is none. It gives each a
// line; a fault is named where what is said of it begins.
func (all Problems) Err() error {
	if len(all) == 0 {
		return nil
	}
	var lines []string
	for i, p := range all {
		text := p.Says(fmt.Sprintf("fault %d", p.Other+1))
		if p.Fault >= 0 && (p.Other >= 0 || i == 0 || all[i-1].Fault != p.Fault) {
			text = fmt.Sprintf("fault %d %s: %s", p.Fault+1, p.about, text)
		}
		lines = append(lines, text)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// Check is everything that is wrong with the script.
func (s Script) Check() Problems {
	var all Problems
	if s.Era != "" && !contains(eras, s.Era) {
		all = append(all, unknown("era", s.Era, eras))
	}
	for i, f := range s.Faults {
		own := f.Check()
		if field, text := f.checkIn(s.Era); len(own) == 0 && text != "" {
			own = append(own, problem(field, "impossible", "%s", text))
		}
		if len(own) == 0 || own[0].Code == "impossible" {
			own = append(own, s.contradictions(i)...)
		}
		for _, p := range own {
			p.Fault, p.about = i, f.name()
			all = append(all, p)
		}
	}
	return all
}

// contradictions are those of a fault with the faults before it.
func (s Script) contradictions(i int) Problems {
	var all Problems
	f := s.Faults[i]
	for j, g := range s.Faults[:i] {
		var why string
		switch {
		case f.contradicts(g):
			why = "both can be due at the same moment of the same launch"
		case f.silences(g, s.Era):
			why = "after this one, that one can't happen"
		case g.silences(f, s.Era):
			why = "after that one, this one can't happen"
		default:
			continue
		}
		all = append(all, Problem{Other: j, Code: "contradiction", Text: why, against: g.name()})
	}
	return all
}

// name is what the fault is called beside its number.
func (f Fault) name() string { return fmt.Sprintf("(on %s: %s)", f.On, f.Do) }

func problem(field, code, format string, args ...any) Problem {
	return Problem{Fault: -1, Field: field, Other: -1, Code: code, Text: fmt.Sprintf(format, args...)}
}

// Check is what is wrong with the fault alone: unknown values, values that do not go together, and values that are missing.
func (f Fault) Check() Problems {
	if !contains(Names(Moments), f.On) {
		return Problems{unknown("on", f.On, Names(Moments))}
	}
	a := f.action()
	if a.name == "" {
		return Problems{unknown("do", f.Do, Names(Actions))}
	}
	if !contains(a.on, f.On) {
		at := Moments[slices.IndexFunc(Moments, func(d Doc) bool { return d.Name == f.On })]
		return Problems{problem("do", "misplaced", "do: %s does not go with on: %s; it goes with on: %s; on: %s goes with do: %s",
			f.Do, f.On, list(a.on), f.On, list(at.With))}
	}
	var all Problems
	for _, field := range Fields[2:] {
		if p := field.check(&f, a); p.Code != "" {
			all = append(all, p)
		}
	}
	return all
}

// check is what is wrong with the field in a fault that does a.
func (d Field) check(f *Fault, a action) Problem {
	says, allowed := d.allows(f)
	value, _ := d.Of(f).(*int)
	text, _ := d.Of(f).(*string)
	refusal := d.refusal(a, f.On)
	switch {
	case !d.given(f):
		if a.needs == d.Name {
			return problem("do", "needed", "do: %s needs %s: %s", f.Do, d.Name, says)
		}
	case d.low != "" && *value < d.Min:
		return problem(d.Name, "range", "%s: %d is less than %d; %s", d.Name, *value, d.Min, d.low)
	case d.Excludes != "" && fieldNamed(d.Excludes).given(f):
		return problem(d.Name, "misplaced", "%s and %s exclude each other", d.Name, d.Excludes)
	case refusal != "":
		return problem(cmp.Or(d.at, d.Name), "misplaced", "%s not go with %s", cmp.Or(d.subject, d.Name+" does"), refusal)
	case text != nil && !contains(d.words(a), *text):
		return unknown(d.Name, *text, d.words(a))
	case !allowed:
		return problem(d.Name, "range", "%s is out of range; it %s %s", d.Name, cmp.Or(d.be, "may be"), says)
	}
	return Problem{}
}

// nevers are the faults that can't happen in a script: at a moment, of some actions, in some eras; nil is all of them.
var nevers = []struct {
	on       string
	do, eras []string
	field    string
	text     string
}{
	{on: onOrder, field: "on", text: "on: order does not go into a script; a break step of the scenario gives the order"},
	{on: onDiscover, eras: []string{EraLegacyMute}, text: "a server of era legacy-mute ignores server/discover anyway; use another era"},
	{
		on: onDiscover, do: []string{"wrong-version", "unsupported-version"}, eras: []string{EraLegacy, ""},
		text: "a server of era legacy has no answer to server/discover; use era modern or dual",
	},
	{on: onPing, eras: []string{EraModern}, text: "a server of era modern has no answer to ping; use era legacy, legacy-mute or dual"},
	{
		on: onInitialize, do: []string{"wrong-version"}, eras: []string{EraModern},
		text: "a server of era modern has no answer to initialize; use era legacy, legacy-mute or dual",
	},
}

// checkIn finds faults that can never happen in a script of this era.
func (f Fault) checkIn(era string) (field, text string) {
	for _, no := range nevers {
		if f.On == no.on && (no.do == nil || contains(no.do, f.Do)) && (no.eras == nil || contains(no.eras, era)) {
			return no.field, no.text
		}
	}
	return "", ""
}

// contradicts reports whether f and g can both be due, and only one of them
// can be done. The same fault twice is a contradiction too.
func (f Fault) contradicts(g Fault) bool {
	df, dg := f.action(), g.action()
	if !f.meets(g) {
		return false
	}
	if isDetached(df) && dg.slot == slotWatchdog || isDetached(dg) && df.slot == slotWatchdog {
		return true
	}
	if !f.coincides(g) {
		return false
	}
	sameSlot := df.slot != "" && df.slot == dg.slot
	return f.Do == g.Do && f.variant() == g.variant() || sameSlot || (df.decides && dg.decides)
}

// coincides reports whether both are due at the same moment of a launch.
func (f Fault) coincides(g Fault) bool {
	return f.On == g.On && (f.Tool == "" || g.Tool == "" || f.Tool == g.Tool)
}

// isDetached says that the server is nobody's child: a watchdog would have no parent to look after.
func isDetached(a action) bool { return a.name == "container" }

// silences reports whether f happens for certain in each launch that g is for, before g, and keeps the moment of g from coming.
func (f Fault) silences(g Fault, era string) bool {
	silenced := f.action().silences
	first := f.On == onStart || f.On == onInitialize && era != EraModern && era != EraDual
	always := f.Probability == 0 &&
		(f.Launch == 0 && f.Every <= 1 || f.Launch > 0 && f.Launch == g.Launch || f.Every > 0 && f.Every == g.Every)
	return first && always && silenced != "" && g.On == silenced
}

// meets reports whether there is a launch for which both are due.
func (f Fault) meets(g Fault) bool {
	switch {
	case f.Launch > 0:
		return g.selects(f.Launch)
	case g.Launch > 0:
		return f.selects(g.Launch)
	}
	return true
}

func unknown(field, value string, allowed []string) Problem {
	if value == "" {
		return problem(field, "unknown", "%s is missing; it may be %s", field, list(allowed))
	}
	return problem(field, "unknown", "%s: %q is unknown; it may be %s", field, value, list(allowed))
}

func list(words []string) string { return strings.Join(words, ", ") }
