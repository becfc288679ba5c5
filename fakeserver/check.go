package fakeserver

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// maxMiB keeps a typing error from taking the machine down.
const maxMiB = 64 << 10

// Check says everything that is wrong with the script.
func (s Script) Check() []error {
	var errs []error
	if s.Era != "" && !contains(eras, s.Era) {
		errs = append(errs, unknown("era", s.Era, eras))
	}
	for i, f := range s.Faults {
		at := func(err error) error { return fmt.Errorf("fault %d (on %s: %s): %w", i+1, f.On, f.Do, err) }
		if err := f.Check(); err != nil {
			errs = append(errs, at(err))
			continue
		}
		if err := f.checkIn(s.Era); err != nil {
			errs = append(errs, at(err))
		}
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
			errs = append(errs, at(fmt.Errorf("contradicts fault %d (on %s: %s): %s", j+1, g.On, g.Do, why)))
		}
	}
	return errs
}

// Check says what is wrong with the fault alone: unknown values, values that
// do not go together, and values that are missing.
func (f Fault) Check() error {
	if !contains(names(momentDocs()), f.On) {
		return unknown("on", f.On, names(momentDocs()))
	}
	d, ok := deedNamed(f.Do)
	if !ok {
		return unknown("do", f.Do, names(deedDocs()))
	}
	if !contains(d.on, f.On) {
		return fmt.Errorf("do: %s does not go with on: %s; it goes with on: %s; on: %s goes with do: %s",
			f.Do, f.On, list(d.on), f.On, list(deedsAt(f.On)))
	}
	return errors.Join(f.checkLaunch(), f.checkChance(), f.checkTool(), f.checkFields(d), f.checkAs(d), f.checkCount(d))
}

func (f Fault) checkLaunch() error {
	switch {
	case f.Launch < 0:
		return fmt.Errorf("launch: %d is less than 1; the first launch is 1", f.Launch)
	case f.Every < 0:
		return fmt.Errorf("every: %d is less than 1; 2 is each second launch", f.Every)
	case f.Launch > 0 && f.Every > 0:
		return errors.New("launch and every exclude each other")
	case f.On == onOrder && (f.Launch > 0 || f.Every > 0):
		return errors.New("launch and every do not go with on: order, which is given to one server")
	}
	return nil
}

// counted are the moments that a launch can let pass.
var counted = []string{onList, onCall, onPing}

func (f Fault) checkChance() error {
	var errs []error
	if f.Probability != 0 && (math.IsNaN(f.Probability) || f.Probability < 0 || f.Probability >= 1) {
		errs = append(errs, errors.New("probability is out of range; it is more than 0 and less than 1, like 0.25; leave it out for always"))
	}
	if f.Probability != 0 && f.On == onOrder {
		errs = append(errs, errors.New("probability does not go with on: order, which is given to one server"))
	}
	switch {
	case f.After < 0:
		errs = append(errs, fmt.Errorf("after: %d is less than 1; 1 lets the first one pass", f.After))
	case f.After > 0 && !contains(counted, f.On):
		errs = append(errs, fmt.Errorf("after does not go with on: %s, only with on: %s, which come more than once", f.On, list(counted)))
	}
	return errors.Join(errs...)
}

func (f Fault) checkTool() error {
	switch {
	case f.Tool == "":
		return nil
	case f.On != onCall:
		return fmt.Errorf("tool does not go with on: %s, only with on: call", f.On)
	case !contains(toolNames, f.Tool):
		return unknown("tool", f.Tool, toolNames)
	}
	return nil
}

// checkFields checks the fields that one deed alone uses.
func (f Fault) checkFields(d deed) error {
	var errs []error
	for _, field := range []struct {
		name    string
		set, ok bool
		allowed string
	}{
		{"for", f.For != 0, f.For > 0, `a time like "1.5s", more than 0`},
		{"each", f.Each != 0, f.Each > 0, `a time like "1.5s", more than 0`},
		{"mib", f.MiB != 0, f.MiB > 0 && f.MiB <= maxMiB, fmt.Sprintf("1 to %d", maxMiB)},
		{"step", f.Step != 0, f.Step > 0 && f.Step <= maxMiB, fmt.Sprintf("1 to %d", maxMiB)},
		{"code", f.Code != 0, f.Code > 0 && f.Code <= 255, "0 to 255"},
	} {
		switch {
		case field.set && !d.uses(field.name):
			errs = append(errs, fmt.Errorf("%s does not go with do: %s", field.name, f.Do))
		case field.set && !field.ok:
			errs = append(errs, fmt.Errorf("%s is out of range; it may be %s", field.name, field.allowed))
		case !field.set && d.needed && d.field == field.name:
			errs = append(errs, fmt.Errorf("do: %s needs %s: %s", f.Do, field.name, field.allowed))
		}
	}
	if f.Each != 0 && f.On == onCall && f.Do == "swell" {
		errs = append(errs, errors.New("each does not go with on: call, where it grows with each call"))
	}
	return errors.Join(errs...)
}

// maxCount keeps a typing error from filling the process table.
const maxCount = 64

func (f Fault) checkCount(d deed) error {
	switch {
	case f.Count != 0 && !d.counts:
		return fmt.Errorf("count does not go with do: %s", f.Do)
	case f.Count < 0 || f.Count > maxCount:
		return fmt.Errorf("count is out of range; it may be 1 to %d", maxCount)
	}
	return nil
}

func (f Fault) checkAs(d deed) error {
	switch {
	case f.As == "" || contains(names(d.as), f.As):
		return nil
	case len(d.as) == 0:
		return fmt.Errorf("as does not go with do: %s, which has one way only", f.Do)
	}
	return unknown("as", f.As, names(d.as))
}

// checkIn finds faults that can never happen in a script of this era.
func (f Fault) checkIn(era string) error {
	switch {
	case f.On == onOrder:
		return errors.New("on: order does not go into a script; a break step of the scenario gives the order")
	case f.On == onDiscover && era == EraLegacyMute:
		return errors.New("a server of era legacy-mute ignores server/discover anyway; use another era")
	case f.On == onDiscover && f.Do == "wrong-version" && (era == EraLegacy || era == ""):
		return errors.New("a server of era legacy has no answer to server/discover; use era modern or dual")
	case f.On == onPing && era == EraModern:
		return errors.New("a server of era modern has no answer to ping; use era legacy, legacy-mute or dual")
	case f.On == onInitialize && f.Do == "wrong-version" && era == EraModern:
		return errors.New("a server of era modern has no answer to initialize; use era legacy, legacy-mute or dual")
	}
	return nil
}

// contradicts reports whether f and g can both be due, and only one of them
// can be done. The same fault twice is a contradiction too.
func (f Fault) contradicts(g Fault) bool {
	df, _ := deedNamed(f.Do)
	dg, _ := deedNamed(g.Do)
	if f.meets(g) && isDetached(df) && dg.slot == slotWatchdog || f.meets(g) && isDetached(dg) && df.slot == slotWatchdog {
		return true
	}
	if f.On != g.On || !f.meets(g) || (f.Tool != "" && g.Tool != "" && f.Tool != g.Tool) {
		return false
	}
	sameSlot := df.slot != "" && df.slot == dg.slot
	return f.Do == g.Do && f.variant() == g.variant() || sameSlot || (df.decides && dg.decides)
}

// isDetached says that the server is nobody's child: a watchdog would have no
// parent to look after.
func isDetached(d deed) bool { return d.name == "container" }

// silences reports whether f happens for certain in each launch that g is for,
// before g, and keeps the moment of g from coming.
func (f Fault) silences(g Fault, era string) bool {
	d, _ := deedNamed(f.Do)
	first := f.On == onStart || f.On == onInitialize && era != EraModern && era != EraDual
	always := f.Probability == 0 && (f.Launch == 0 && f.Every <= 1 || f.Launch > 0 && f.Launch == g.Launch || f.Every > 0 && f.Every == g.Every)
	return first && always && d.silences != "" && g.On == d.silences
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

func deedsAt(moment string) []string {
	for _, m := range momentDocs() {
		if m.Name == moment {
			return m.With
		}
	}
	return nil
}

func names(docs []Doc) []string {
	var all []string
	for _, d := range docs {
		all = append(all, d.Name)
	}
	return all
}

func unknown(field, value string, allowed []string) error {
	if value == "" {
		return fmt.Errorf("%s is missing; it may be %s", field, list(allowed))
	}
	return fmt.Errorf("%s: %q is unknown; it may be %s", field, value, list(allowed))
}

func list(words []string) string { return strings.Join(words, ", ") }
