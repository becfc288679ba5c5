// Package attach says what a watch shows of a host that was running already: which of its processes are servers, who holds the write
// end of each one's stdin, which generations of a command line there are and which of them the host still uses, what grows, and
// which breaches that comes to. It is a function of the run alone.
//
// Nobody has told the bench which sessions the host has. So nothing is a breach here for being idle: an older generation that
// the host has stopped using at the moment it began to use a newer one is, and what no healthy host has is.
package attach

import (
	"cmp"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

const never = history.Never

// View is what a watch shows.
type View struct {
	Host     Host              `json:"host"`
	Children []*Child          `json:"children" jsonschema:"all that was below the host at the last look, and what has left it"`
	Units    []*Unit           `json:"launches" jsonschema:"what was launched with a pipe or a socket for stdin, and what runs on the same one"`
	Groups   []*Group          `json:"command_lines"`
	Trends   []Trend           `json:"trends" jsonschema:"growth an hour; none after less than 30 seconds, or of fewer than 20 looks"`
	Unread   []Unread          `json:"unread" jsonschema:"what could not be read, and why"`
	Breaches []*breach.Breach  `json:"-"`
	Open     []breach.Unjudged `json:"-"` // laws that can't be judged, with the reason
	From     int64             `json:"-"` // of the first look
	To       int64             `json:"-"` // of the last one
	Looks    int               `json:"-"`
	// WithServers says that the host has more and more descriptors, but that those lead to processes below it.
	WithServers bool `json:"-"`
	// TooShort says that the watch is too short to tell whether the host's descriptors grow.
	TooShort bool `json:"-"`
	// fed are processes whose stdin is at its end, and that may be servers or tools.
	fed []string
	// tasks are shells that would break a law if they were servers, by the law.
	tasks map[string][]string
}

// Host is the host itself.
type Host struct {
	record.Process
	Cgroup   string          `json:"cgroup,omitempty"`
	Exited   bool            `json:"exited,omitempty"`
	Handles  *record.Handles `json:"handles,omitempty"`
	exitedAt int64
}

// Unread is a column that could not be read of some processes, with the reason.
type Unread struct {
	Column string `json:"column"`
	Why    string `json:"why"`
	Of     int    `json:"of"` // processes
}

// Trend is how much something grows in an hour, with the interval that has it with 95 %, and what it comes to in a day.
type Trend struct {
	Of    string   `json:"of" jsonschema:"processes below the host, descriptors of the host, memory of the host or memory below the host in bytes"`
	First int64    `json:"first"`
	Last  int64    `json:"last"`
	InDay *float64 `json:"in_a_day,omitempty" jsonschema:"what it reaches in a day if it goes on like that; none after less than 10 minutes"`
	// Steps says that it changed at so few looks that the interval is that of none.
	Steps bool `json:"steps,omitempty" jsonschema:"it changed too seldom to tell how much it grows: slope, low and high are those of the looks between"`
	facts.Trend
}

const (
	// LeastLooks is how many looks growth in an hour is told from.
	LeastLooks = 20
	// LeastSpan is how long a watch must be for it: a host that has only just launched its servers looks like a flood.
	LeastSpan = 30 * time.Second
	// leastForDay is how long a watch must be for a day to be told from it.
	leastForDay = 10 * time.Minute
)

// What a trend is of; what is written in a way of its own is exported.
const (
	ofProcesses   = "processes"
	OfHostMemory  = "memory of the host"
	OfMemoryBelow = "memory below the host"
	OfDescriptors = "descriptors"
	// ofOwnDescriptors are those that lead to no process below it. It is not shown.
	ofOwnDescriptors = "descriptors of its own"
)

// Watch folds the events of a watch.
type Watch struct {
	limits   record.Limits
	resident int
	host     Host
	children map[record.Identity]*Child
	parents  map[int]record.Identity // of the last look
	anchor   anchor
	from, to int64
	looks    int
	points   map[string]*points
	dangling []int64 // what the host held of processes that are gone, at each look that told it
	loads    []loadAt
}

// loadAt is what the host had waited for a processor at a look.
type loadAt struct {
	t int64
	record.Load
}

// anchor ties start times to the clock of the run.
type anchor struct {
	start uint64
	born  int64
	known bool
}

// tick is the unit of start times on Linux, where hosts are watched.
const tick = 10 * time.Millisecond

type points struct {
	at     []float64 // hours
	values []int64
}

// New is a watch before its first event.
func New(h *record.Header) *Watch {
	return &Watch{
		limits: h.Limits, resident: h.Host.Profile.Resident, children: map[record.Identity]*Child{}, from: never,
		points: map[string]*points{}, host: Host{exitedAt: never},
	}
}

// Of is the view of a whole run.
func Of(run *record.Run) *View {
	w := New(&run.Header)
	for i := range run.Events {
		if run.Events[i].Check() != nil {
			break
		}
		w.Apply(&run.Events[i])
	}
	return w.View()
}

// Apply folds one more event.
func (w *Watch) Apply(e *record.Event) {
	switch e.Kind {
	case record.HostStarted:
		w.host.Process = *e.Process
	case record.HostExited:
		w.host.Exited, w.host.exitedAt = true, e.T
	case record.CensusTaken:
		w.census(e.T, e.Census)
	case record.EvidenceTaken:
		for i := range e.Evidence {
			w.evidence(e.T, &e.Evidence[i])
		}
	}
}

func (w *Watch) census(t int64, c *record.Census) {
	if w.from == never {
		w.from = t
	}
	w.to, w.looks = t, w.looks+1
	if c.Host != nil {
		w.host.Process = *c.Host
	}
	if c.Load != nil {
		w.loads = append(w.loads, loadAt{t, *c.Load})
	}
	w.parents = map[int]record.Identity{w.host.PID: w.host.Identity}
	for i := range c.Processes {
		w.parents[c.Processes[i].PID] = c.Processes[i].Identity
	}
	memory, alive, below := int64(0), int64(0), w.below(c)
	for i := range c.Processes {
		p := &c.Processes[i]
		w.child(p.Identity, t).look(t, p, below[p.PID])
		memory += p.RSS
		if p.State != record.StateZombie {
			alive++
		}
	}
	for _, ch := range w.children {
		if ch.Last < t && ch.died == never {
			ch.died = t
		}
	}
	if c.Host != nil {
		w.point(t, ofProcesses, alive)
		w.point(t, OfHostMemory, c.Host.RSS)
		w.point(t, OfMemoryBelow, memory)
		if c.Host.FDs >= 0 {
			w.point(t, OfDescriptors, int64(c.Host.FDs))
			if lead, known := w.leadBelow(); known {
				w.point(t, ofOwnDescriptors, int64(c.Host.FDs-lead))
			}
		}
	}
}

// leadBelow is how many descriptors of the host lead to processes below it that are alive, where that was looked up for each of them.
func (w *Watch) leadBelow() (n int, known bool) {
	ends := map[int]bool{} // a launcher and its server share them
	for _, ch := range w.children {
		if !ch.alive() {
			continue
		}
		if ch.Facts == nil {
			return 0, false
		}
		for i := range ch.Facts.Descriptors {
			if d := &ch.Facts.Descriptors[i]; isPipe(d) && !d.Known {
				return 0, false
			}
		}
		for _, fd := range ch.leads {
			ends[fd] = true
		}
	}
	n = len(ends)
	if h := w.host.Handles; h != nil {
		n += h.Living
	}
	return n, true
}

func (w *Watch) point(t int64, of string, value int64) {
	if w.points[of] == nil {
		w.points[of] = &points{}
	}
	p := w.points[of]
	p.at, p.values = append(p.at, time.Duration(t).Hours()), append(p.values, value)
}

// below are the rows that are below the host by their parents in the same look.
func (w *Watch) below(c *record.Census) map[int]bool {
	parent, below := make(map[int]int, len(c.Processes)), make(map[int]bool, len(c.Processes))
	for i := range c.Processes {
		parent[c.Processes[i].PID] = c.Processes[i].PPID
	}
	for pid := range parent {
		above := parent[pid]
		for range len(parent) {
			next, there := parent[above]
			if !there {
				break
			}
			above = next
		}
		below[pid] = above == w.host.PID
	}
	return below
}

func (w *Watch) child(id record.Identity, t int64) *Child {
	ch := w.children[id]
	if ch == nil {
		ch = &Child{
			stay:    stay{First: t, died: never, zombieSince: never, heldUntil: never},
			traffic: traffic{spoke: never, ready: never},
		}
		w.children[id] = ch
	}
	return ch
}

func (w *Watch) evidence(t int64, e *record.Evidence) {
	if e.Age > 0 { // written down some time after it was read: the earliest is the most exact
		a := anchor{e.Start, t - int64(e.Age), true}
		if w.anchor.known {
			a.born = min(a.born, w.born(e.Identity))
		}
		w.anchor = a
	}
	ch := w.children[e.Identity]
	switch {
	case e.Identity == w.host.Identity:
		w.host.Cgroup = e.Cgroup
		if e.Handles != nil {
			w.host.Handles = e.Handles
			w.dangling = append(w.dangling, int64(e.Handles.Dangling+e.Handles.PIDFDs))
		}
	case ch != nil:
		ch.told(t, w.born(e.Identity), e)
		ch.leads = ch.leadFrom(w.host.PID)
		if hold, _ := w.holdOf(ch); hold == HeldByHost {
			ch.heldUntil = t
		}
	}
}

// born is when a process was started, on the clock of the run: below 0 where that was before.
func (w *Watch) born(id record.Identity) int64 {
	if !w.anchor.known {
		return never
	}
	return w.anchor.born + (int64(id.Start)-int64(w.anchor.start))*int64(tick)
}

// View is what the watch shows so far.
func (w *Watch) View() *View {
	v := &View{
		Host: w.host, From: w.from, To: w.to, Looks: w.looks,
		Children: []*Child{}, Units: []*Unit{}, Groups: []*Group{}, Trends: []Trend{}, Unread: []Unread{},
		tasks: map[string][]string{},
	}
	all := w.sorted()
	for _, ch := range all {
		ch.Born = w.born(ch.Identity)
		ch.quiet = ch.Born + ch.ran
		ch.Stdin, ch.StdinHolder = w.holdOf(ch)
		ch.Age = record.Duration(w.to - ch.Born)
	}
	units := w.units(all)
	v.Groups = w.groups(units)
	for _, u := range units {
		if u.Alive() {
			v.Units = append(v.Units, u)
		}
	}
	for _, ch := range all {
		if ch.died == never {
			v.Children = append(v.Children, ch)
		}
	}
	v.trends(w)
	v.unread()
	w.judge(v, units)
	return v
}

// sorted are all processes in the order of their births.
func (w *Watch) sorted() []*Child {
	all := make([]*Child, 0, len(w.children))
	for _, ch := range w.children {
		all = append(all, ch)
	}
	slices.SortFunc(all, func(a, b *Child) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID)) })
	return all
}

// trends are told where there were looks enough, for long enough.
func (v *View) trends(w *Watch) {
	if w.looks < LeastLooks || w.to-w.from < int64(LeastSpan) {
		return
	}
	for _, of := range []string{ofProcesses, OfDescriptors, OfHostMemory, OfMemoryBelow} {
		t := w.trend(of)
		if t == nil {
			continue
		}
		if w.to-w.from >= int64(leastForDay) {
			day := max(0, float64(t.Last)+24*t.Slope)
			t.InDay = &day
		}
		v.Trends = append(v.Trends, *t)
	}
}

// trend is that of something, or nil where there were too few looks for any.
func (w *Watch) trend(of string) *Trend {
	p := w.points[of]
	if p == nil {
		return nil
	}
	at, values := facts.Thin(p.at), facts.Thin(p.values)
	t, ok := facts.TrendOf(at, values)
	if !ok {
		return nil
	}
	first, last := values[0], values[len(values)-1]
	return &Trend{Of: of, First: first, Last: last, Steps: t == facts.Trend{} && first != last, Trend: t}
}
