package facts

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	// starved is the share of the time in which the bench wanted a processor and had
	// none from which on others may have been late, too.
	starved = 0.3
	// starving is that share from which on a machine may be several times slower
	// than its limits take it for, as the runner stretches its waits then.
	starving    = 0.6
	mostStretch = 4
	// leastDelay of the whole time the bench must have waited: a few late awakenings slow nobody down.
	leastDelay = 0.4
	// ownShare of all processors is what the run's own processes may take before
	// they themselves are what starves the bench: that excuses nothing.
	ownShare = 0.4
)

// looksAround are the last look with a load before a time, and the first one after another; last is nil where there are none.
func (f *Facts) looksAround(from, to int64) (first, last *history.Look) {
	all := f.Censuses()
	for i := range all {
		switch look := &all[i]; {
		case look.Load == nil:
		case look.T <= from || first == nil:
			first = look
		case last == nil && look.T >= to:
			last = look
		}
	}
	return first, last
}

// StarvedBetween is the share of the time in which the bench wanted a processor and had none, from the last look
// before a time to the first one after another; 0 where it was a moment.
func (f *Facts) StarvedBetween(from, to int64) (share float64, known bool) {
	first, last := f.looksAround(from, to)
	if last == nil {
		return 0, false
	}
	delayed, ran := last.Load.Delayed-first.Load.Delayed, last.Load.Ran-first.Load.Ran
	if delayed < record.Duration(20*time.Millisecond) {
		return 0, true
	}
	return float64(delayed) / float64(delayed+ran), true
}

// Slowdown is how many times longer than on a machine that gets round to everything something may have taken between
// two times; 1 where the machine was not starved, or by the run itself.
func (f *Facts) Slowdown(from, to int64) float64 {
	share, _ := f.StarvedBetween(from, to)
	if share < starving {
		return 1
	}
	first, last := f.looksAround(from, to)
	if f.selfStarved(first, last) || float64(last.Load.Delayed-first.Load.Delayed) < leastDelay*float64(last.T-first.T) {
		return 1
	}
	return min(1/(1-min(share, 0.99)), mostStretch)
}

// selfStarved says that the run's own processes took the processors between two looks.
func (f *Facts) selfStarved(first, last *history.Look) bool {
	all := float64(last.T-first.T) * float64(max(f.Header.System.CPUs, 1))
	return float64(last.Load.Own-first.Load.Own) > ownShare*all
}

// Scaled is how long a time on a clock may have been around a moment.
func (f *Facts) Scaled(d time.Duration, t int64) int64 {
	return int64(float64(d) * f.Slowdown(t-int64(d), t+int64(d)))
}

// noteBlur is how much later than its effect a server's note may come: a host
// sees the end of a pipe at once, the note goes through a busy machine.
const noteBlur = time.Second

// NotedBy is by when a server's note of something has come whose effect was seen at t.
func (f *Facts) NotedBy(t int64) int64 { return t + f.Scaled(noteBlur, t) }

// HadProcessors says that what all processes of the run together had to wait for a processor between two times is known to be less
// than that time, so that each of them had some; where a file does not tell that, that the bench got its share of the processors.
func (f *Facts) HadProcessors(from, to int64) bool {
	if excuse, _, known := f.excuse(from, to); known {
		return excuse < (to-from)*9/10
	}
	share, known := f.StarvedBetween(from, to)
	return known && share < starved
}

// MayBeTheMachines says that what took from one time to another, and longer than its limit, need not have been the host's doing:
// the processes of the run had to wait for processors that long, or, where a file does not tell that, the bench itself had, and no
// more was lost than a starved machine loses.
func (f *Facts) MayBeTheMachines(from, to int64, limit time.Duration) bool {
	over := to - from - int64(limit)
	if excuse, own, known := f.excuse(from, to); known {
		return over <= excuse && !own
	}
	slow := f.Slowdown(from, to)
	if slow == 1 || float64(to-from) > slow*float64(limit) {
		return false
	}
	first, last := f.looksAround(from, to)
	return over <= int64(last.Load.Delayed-first.Load.Delayed)
}

// excuse is how much longer than on another machine something may have taken between two times, where a file tells that; own: the
// run's own processes took the processors.
func (f *Facts) excuse(from, to int64) (excuse int64, own, known bool) {
	first, last := f.looksAround(from, to)
	if last == nil {
		return 0, false, false
	}
	d, known := last.Load.Excuse(*first.Load, f.latest(first, last))
	return int64(d), f.selfStarved(first, last), known
}

// latest is the most by which the bench has woken up too late between two looks.
func (f *Facts) latest(first, last *history.Look) (late record.Duration) {
	for _, look := range f.Censuses() {
		if look.T >= first.T && look.T <= last.T && look.Load != nil {
			late = max(late, look.Load.Late)
		}
	}
	return late
}

// Pushed is the most by which the want of processors may have pushed what went on between two times, where a file tells that.
func (f *Facts) Pushed(from, to int64) (by int64, known bool) {
	by, own, known := f.excuse(from, to)
	return by, known && !own
}

// Excused is how much longer something may have taken between two times than it would have on another machine; 0 where that is not known.
func (f *Facts) Excused(from, to int64) int64 {
	if excuse, own, _ := f.excuse(from, to); !own {
		return excuse
	}
	return 0
}

// Waited is how long the processes of the run have waited for processors between two times, where that is known.
func (f *Facts) Waited(from, to int64) (waited record.Duration, known bool) {
	first, last := f.looksAround(from, to)
	if last == nil {
		return 0, false
	}
	return last.Load.Excuse(*first.Load, 0)
}

// WasStopped says that a look saw the server stopped or traced: it sees nothing then.
func (f *Facts) WasStopped(s *history.Server) bool {
	return slices.ContainsFunc(f.Censuses(), func(l history.Look) bool {
		return slices.ContainsFunc(l.Processes, func(p record.Process) bool {
			return p.Identity == s.Birth.Identity && (p.State == record.StateStopped || p.State == record.StateTraced)
		})
	})
}

// TellsLoad says that the file tells how starved the bench was.
func (f *Facts) TellsLoad() bool {
	return slices.ContainsFunc(f.Censuses(), func(l history.Look) bool { return l.Load != nil })
}
