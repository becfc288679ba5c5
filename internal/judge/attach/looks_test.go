package attach_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/record"
)

// TestTheHostAsItWasSeenLast: its row is that of the last look, and before the first one that of its start.
func TestTheHostAsItWasSeenLast(t *testing.T) {
	t.Parallel()
	host := record.Process{Identity: hostID, PPID: 1, State: record.StateSleeping, Comm: "host"}
	w := &world{}
	w.at(0, record.Event{Kind: record.HostStarted, Process: &host})
	assert.Equal(t, 10, w.view().Host.PID)
	w.fds = func(t int64) int { return int(t) }
	w.add(100, "srv", -50)
	v := w.watch(0, 7)
	assert.Equal(t, 7, v.Host.FDs)
	assert.Equal(t, 8, v.Looks)
	w.exits(8)
	w.at(9, record.Event{Kind: record.CensusTaken, Census: &record.Census{}})
	v = w.view()
	assert.Equal(t, 10, v.Host.PID, "a look without it says nothing of it")
	assert.True(t, v.Host.Exited)
	w.at(10, record.Event{Kind: record.EvidenceTaken, Evidence: []record.Evidence{{Process: host, Cgroup: "/a"}}})
	assert.Equal(t, "/a", w.view().Host.Cgroup)
	w.at(11, record.Event{Kind: record.CensusTaken})
	w.at(12, record.Event{Kind: record.CensusTaken, Census: &record.Census{}})
	assert.Equal(t, 9*second, w.view().To, "what follows a record that can't be is not read")
}

// TestWhatIsMeasured: memory and processes below the host are those that are there, and descriptors those that could be read.
func TestWhatIsMeasured(t *testing.T) {
	t.Parallel()
	last := func(fds int) map[string]int64 {
		w := &world{handles: &record.Handles{}}
		w.add(100, "a", -50).row.RSS = 3 << 20
		w.add(101, "b", -50).row.RSS = 4 << 20
		w.add(102, "c", -50).row.State = record.StateZombie
		w.procs[2].row.RSS = 0
		w.fds = func(int64) int { return fds }
		w.watch(0, 30)
		of := map[string]int64{}
		for _, trend := range w.view().Trends {
			of[trend.Of] = trend.Last
		}
		return of
	}
	assert.Equal(t, map[string]int64{"processes": 2, attach.OfMemoryBelow: 7 << 20, attach.OfHostMemory: 10 << 20, attach.OfDescriptors: 0}, last(0))
	assert.Equal(t, map[string]int64{"processes": 2, attach.OfMemoryBelow: 7 << 20, attach.OfHostMemory: 10 << 20}, last(-1))
}

// TestGrowthCountsFromTheFirstLook: a watch that begins late is no longer for it.
func TestGrowthCountsFromTheFirstLook(t *testing.T) {
	t.Parallel()
	w := &world{}
	assert.Empty(t, w.watch(10, 39).Trends)
	v := w.watch(40, 609)
	require.NotEmpty(t, v.Trends)
	assert.Nil(t, v.Trends[0].InDay)
	assert.NotNil(t, w.watch(610, 610).Trends[0].InDay)
}

// TestBirths: when a process was born is known from how old another one was, whichever that is; who does not say how old it is says nothing.
func TestBirths(t *testing.T) {
	t.Parallel()
	host := record.Process{Identity: hostID, PPID: 1, State: record.StateSleeping, Comm: "host", FDs: 20}
	young := record.Process{Identity: record.Identity{PID: 100, Start: 100300}, PPID: hostID.PID, State: record.StateSleeping, Comm: "srv"}
	stranger := young
	stranger.Identity = record.Identity{PID: 999, Start: 5}
	w := &world{}
	w.at(0, record.Event{Kind: record.HostStarted, Process: &host})
	w.at(5, record.Event{Kind: record.CensusTaken, Census: &record.Census{Host: &host, Processes: []record.Process{young}}})
	w.at(5, record.Event{Kind: record.EvidenceTaken, Evidence: []record.Evidence{{Process: young}}})
	assert.EqualValues(t, -1, w.view().Children[0].Born)
	w.at(5, record.Event{Kind: record.EvidenceTaken, Evidence: []record.Evidence{{Process: young, Age: record.Duration(2 * second)}}})
	assert.Equal(t, 3*second, w.view().Children[0].Born)
	w.at(6, record.Event{Kind: record.EvidenceTaken, Evidence: []record.Evidence{{Process: host}, {Process: stranger}}})
	v := w.view()
	require.Len(t, v.Children, 1, "of whom no look has shown nothing is told")
	assert.Equal(t, 3*second, v.Children[0].Born)
}

// TestDescriptorsOfTheDead: what leads to a process that is gone leads to nobody.
func TestDescriptorsOfTheDead(t *testing.T) {
	t.Parallel()
	grow := func(dies bool) *attach.View {
		w := &world{handles: &record.Handles{}}
		for i := range 12 {
			p := w.add(100+i, "srv", int64(i)*2+1)
			p.stdin.Holders[0].FD = 100 + i
			p.stdin.Holders = append(p.stdin.Holders, by(77, 300+i)) // another one's descriptor is none of the host's
			p.more = []record.Descriptor{{FD: 2, Target: "/dev/null"}}
			p.busy(0)
			if dies {
				p.died = p.born + 1
			}
		}
		w.fds = func(t int64) int { return 20 + int(min(t+1, 24))/2 }
		return w.watch(0, 40)
	}
	assert.True(t, grow(false).WithServers)
	v := grow(true)
	assert.False(t, v.WithServers)
	assert.Contains(t, open(v, "L5"), "lead to no process below it")

	own := &world{handles: &record.Handles{}} // as many of its own as lead to servers
	for i := range 12 {
		p := own.add(100+i, "srv", int64(i)*2+1)
		p.stdin.Holders = append(p.stdin.Holders, by(77, 300+i))
		p.stdin.Holders[0].FD = 100 + i
		p.busy(0)
	}
	own.fds = func(t int64) int { return 20 + int(min(t+1, 24)) }
	assert.Contains(t, open(own.watch(0, 40), "L5"), "lead to no process below it")
}

// TestDescriptorsThatNobodyCouldFollow: where it could not be seen whom they lead to, the law is open.
func TestDescriptorsThatNobodyCouldFollow(t *testing.T) {
	t.Parallel()
	w := &world{handles: &record.Handles{}}
	w.add(100, "srv", -50).busy(0).stdin.Known = false
	w.fds = func(t int64) int { return 20 + int(t) }
	v := w.watch(0, 20)
	assert.Equal(t, "the host has more and more descriptors, and which of them lead to processes below it was not seen often enough", open(v, "L5"))

	late := &world{handles: &record.Handles{}} // a few of its own at the end are no growth
	for i := range 30 {
		p := late.add(100+i, "srv", int64(i)+1)
		p.stdin.Holders[0].FD = 100 + i
		p.busy(0)
	}
	late.fds = func(t int64) int { return 20 + int(min(t, 30)) + int(max(0, t-56)) }
	assert.Empty(t, open(late.watch(0, 60), "L5"))
}

// TestDescriptorsWithOtherFindings: that they lead to servers is no excuse where the host keeps those, for whatever else it is.
func TestDescriptorsWithOtherFindings(t *testing.T) {
	t.Parallel()
	const keeps = "the host has more and more descriptors, which lead to the servers that it keeps"
	grow := func(n int, used func(i int) bool, zombie bool) *attach.View {
		w := &world{handles: &record.Handles{}}
		for i := range n {
			p := w.add(100+i, "srv", int64(i)*3+1)
			p.stdin.Holders[0].FD = 100 + i
			if used(i) {
				p.busy(0)
			}
		}
		if zombie {
			w.add(500, "dead", -50).row.State = record.StateZombie
		}
		w.fds = func(t int64) int { return 20 + min(int(t+2)/3, n) }
		return w.watch(0, int64(n)*3+30)
	}
	for step := range int64(3) { // a step or two of its own are no excuse either
		w := &world{handles: &record.Handles{}}
		for i := range 8 {
			w.add(100+i, "srv", int64(i)*3+1).stdin.Holders[0].FD = 100 + i
		}
		w.fds = func(t int64) int { return 20 + min(int(t+2)/3, 8) + int(min(t/18, step)) }
		assert.Equal(t, keeps, open(w.watch(0, 54), "L5"), "%d steps", step)
	}
	idle := grow(8, func(int) bool { return false }, false)
	assert.Empty(t, idle.Breaches)
	assert.NotEmpty(t, open(idle, "L1"))
	assert.Equal(t, keeps, open(idle, "L5"))

	left := grow(14, func(i int) bool { return i == 13 }, false)
	assert.Equal(t, []string{"L1 superseded"}, kinds(left))
	assert.Empty(t, open(left, "L1"))
	assert.Equal(t, keeps, open(left, "L5"))

	dead := grow(8, func(int) bool { return true }, true)
	assert.Equal(t, []string{"L4 zombie"}, kinds(dead))
	assert.True(t, dead.WithServers)
}
