package fakeserver

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

// Passive reports whether the server only refuses to react: such a fault can
// be seen, but not be waited for.
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

// breaksIn is Breaks for a server of the given era. Where there still is
// initialize, a client falls back to it from a failed discovery, unless there
// is no server any more to fall back to.
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
var muting = []string{"exit", "close-stdout", "partial", "stop-reading"}

// Forestalls reports whether no host gets past f to what a server of this era
// is asked next.
func (f Fault) Forestalls(era string) bool {
	return f.breaksIn(era) && !f.action().passable && f.After == 0 && f.Tool == ""
}

// announcement is f as it is told to the bench.
func (f Fault) announcement(era string) birth.Fault {
	return birth.Fault{On: f.On, Do: f.Do, Detail: f.detail(), Passive: f.Passive(), Breaks: f.breaksIn(era)}
}

// pause is what each says, or else the given one.
func (f Fault) pause(otherwise time.Duration) time.Duration {
	if f.Each > 0 {
		return time.Duration(f.Each)
	}
	return otherwise
}

func (f Fault) mibOr(otherwise int) int {
	if f.MiB > 0 {
		return f.MiB
	}
	return otherwise
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }
