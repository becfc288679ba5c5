package verdict

import (
	"slices"
	"strconv"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/judge/prose"
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

// withLoad says that the file tells how starved the bench was.
func (f *facts) withLoad() bool {
	return slices.ContainsFunc(f.Censuses(), func(l history.Look) bool { return l.Load != nil })
}

// looksAround are the last look with a load before a time, and the first one after another; nil where there are none.
func (f *facts) looksAround(from, to int64) (first, last *history.Look) {
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

// starvedBetween is the share of the time in which the bench wanted a processor and had none, from the last look
// before a time to the first one after another; 0 where it was a moment.
func (f *facts) starvedBetween(from, to int64) (share float64, known bool) {
	first, last := f.looksAround(from, to)
	if first == nil || last == nil {
		return 0, false
	}
	delayed, ran := last.Load.Delayed-first.Load.Delayed, last.Load.Ran-first.Load.Ran
	if delayed < record.Duration(20*time.Millisecond) {
		return 0, true
	}
	return float64(delayed) / float64(delayed+ran), true
}

// slowdown is how many times longer than on a machine that gets round to everything something may have taken between
// two times; 1 where the machine was not starved, or by the run itself.
func (f *facts) slowdown(from, to int64) float64 {
	share, known := f.starvedBetween(from, to)
	if !known || share < starving {
		return 1
	}
	first, last := f.looksAround(from, to)
	all := float64(last.T-first.T) * float64(max(f.header.System.CPUs, 1))
	busy := float64(last.Load.Own-first.Load.Own) > ownShare*all
	if busy || float64(last.Load.Delayed-first.Load.Delayed) < leastDelay*float64(last.T-first.T) {
		return 1
	}
	return min(1/(1-min(share, 0.99)), mostStretch)
}

// waitedBetween is how long the bench had waited for a processor.
func (f *facts) waitedBetween(from, to int64) int64 {
	if first, last := f.looksAround(from, to); first != nil && last != nil {
		return int64(last.Load.Delayed - first.Load.Delayed)
	}
	return 0
}

// scaled is how long a time on a clock may have been around a moment.
func (f *facts) scaled(d time.Duration, t int64) int64 {
	return int64(float64(d) * f.slowdown(t-int64(d), t+int64(d)))
}

// late takes in a breach that is one by the clock alone: from one time to another it took longer than it may. Where
// the machine was so starved meanwhile that it need not have been the host, it is a doubt.
func (f *facts) late(b *breach, from, to int64, limit time.Duration) {
	slow := f.slowdown(from, to)
	if slow == 1 || float64(to-from) > slow*float64(limit) || to-from-int64(limit) > f.waitedBetween(from, to) {
		f.broken(b)
		return
	}
	f.excused = append(f.excused, excuse{b, from, to})
}

// excuse is a breach that may be the machine's.
type excuse struct {
	*breach
	from, to int64
}

// doubtStarved says what took too long on a machine that was starved.
func (f *facts) doubtStarved() {
	for _, e := range f.excused {
		if f.severity(e.law) == record.SeverityOff {
			continue
		}
		share, _ := f.starvedBetween(e.from, e.to)
		f.doubt(record.DoubtStarved, "%s (%s) can't be judged by the clock: %s; the machine was starved meanwhile (%d %% of the time in which leakbench wanted a processor it had to wait for one)",
			e.law, law.Of(e.law).Name, e.value, int(100*share))
	}
}

// rested says which checkpoint came to rest only because its wait was
// stretched, or "": what was gone by then need not have been in time.
func (f *facts) rested(hostGone bool) string {
	for _, cp := range f.checkpoints {
		if cp.Quiet && cp.Stretched > 0 && cp.HostGone == hostGone {
			return "checkpoint " + strconv.Quote(prose.Plain(cp.Name)) + " came to rest only because the wait was stretched: what was gone by then need not have been in time"
		}
	}
	return ""
}
