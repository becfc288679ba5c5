package attach_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/record"
)

// by is a copy of a write end that a process has.
func by(pid, fd int) record.Holder {
	return record.Holder{Identity: record.Identity{PID: pid, Start: 90000}, FD: fd, Mode: "write"}
}

func child(t *testing.T, v *attach.View, pid int) *attach.Child {
	t.Helper()
	for _, ch := range v.Children {
		if ch.PID == pid {
			return ch
		}
	}
	require.Fail(t, fmt.Sprint("no process ", pid))
	return nil
}

// exits writes down that the host has ended.
func (w *world) exits(t int64) {
	gone := record.Process{Identity: hostID}
	w.at(t, record.Event{Kind: record.HostExited, Process: &gone, Exit: &record.Exit{Code: -1}})
}

// TestWaysToWait: a server that is seen to wait for its stdin has shaken hands, by whatever name the kernel gives that.
func TestWaysToWait(t *testing.T) {
	t.Parallel()
	for wchan, generations := range map[string]int{"": 11, "anon_pipe_read": 11, "pipe_read": 11, "unix_stream_read_generic": 11, "do_wait": 1} {
		w := &world{}
		for i := range 11 {
			p := w.add(100+i, "srv", int64(i)*3+1)
			born := p.born
			p.used = func(t int64) int64 { return 100 + min(1, max(0, t-born)/3) }
			p.quiet = func(t int64) int64 {
				if t < born+3 {
					return born * second
				}
				return (born+3)*second - second/10 // until the next one is launched
			}
			p.waits, p.wchan = func(int64) bool { return true }, wchan
		}
		v := w.watch(0, 50)
		assert.Equal(t, generations, v.Groups[0].Generations, wchan)
		assert.Equal(t, generations > 1, len(v.Breaches) == 10, wchan)
	}
}

// TestTurnsShowWork: a server that nobody saw wait works where it was used at two looks after the first one at which it had answered.
func TestTurnsShowWork(t *testing.T) {
	t.Parallel()
	pile := func(span int64) *attach.View {
		w := &world{}
		for i := range 11 {
			w.add(100+i, "srv", int64(i)*4+1).until(span)
			w.procs[i].waits = nil
		}
		return w.watch(0, 60)
	}
	assert.Len(t, pile(4).Breaches, 10)
	slow := &world{} // one turn alone may be the end of a slow handshake
	for i := range 30 {
		p := slow.add(100+i, "srv", int64(i)*2+1)
		born := p.born
		p.used = func(t int64) int64 { return 100 + 20*min(1, (t-born)/2) }
		p.quiet = func(t int64) int64 { return min(t, born+2) * second }
	}
	assert.Equal(t, 1, slow.watch(0, 90).Groups[0].Generations)
}

// wroteAfter makes a process one that has written something from so long after its birth on; below 0 it never has.
func (p *process) wroteAfter(span int64) *process {
	born := p.born
	p.wrote = func(t int64) int64 {
		if span < 0 || t < born+span {
			return 0
		}
		return 1
	}
	return p
}

// inWork launches three servers, which work until the next one is launched, and then three more, which are used for so many seconds each.
// It says how many generations they are. What more adds is there beside them.
func inWork(used int64, slow []int64, more func(w *world)) int {
	w := &world{}
	for i, span := range slow {
		p := w.add(100+i, "srv", int64(i)*6+1)
		p.until(6)
		p.wroteAfter(span)
	}
	for i := range 3 {
		p := w.add(200+i, "srv", 19+int64(i)*used)
		p.until(used)
		p.wroteAfter(used)
		p.waits = nil
	}
	if more != nil {
		more(w)
	}
	return w.watch(0, 40).Groups[0].Generations
}

// TestHandshakes: a server that is used for as long as a handshake takes is one of a pool that is being filled. Longer is work.
func TestHandshakes(t *testing.T) {
	t.Parallel()
	same := []int64{2, 2, 2}
	assert.Equal(t, 4, inWork(3, same, nil), "three that worked, and a batch")
	assert.Equal(t, 6, inWork(4, same, nil), "each of them worked")
	assert.Equal(t, 6, inWork(4, []int64{4, 2, 4}, nil), "the quickest handshake counts")
	assert.Equal(t, 4, inWork(4, []int64{4, 4, 4}, nil))
	assert.Equal(t, 5, inWork(3, same, func(w *world) {
		w.add(99, "srv", 0).until(5)
	}), "of one that was there before nobody saw when it answered")
	assert.Equal(t, 5, inWork(3, same, func(w *world) {
		w.add(99, "srv", 3).until(6)
		w.procs[len(w.procs)-1].wroteAfter(-1)
	}), "one that never answered has no handshake")
	for _, spans := range [][]int64{{4, 2, -1}, {2, 4, -1}} {
		assert.Equal(t, 6, inWork(4, []int64{spans[0], spans[0], spans[0]}, func(w *world) {
			for i := range 3 { // the three are launchers
				for k, span := range spans[1:] {
					p := w.add(300+10*i+k, "srv", w.procs[i].born)
					p.row.Start++
					p.row.PPID, p.stdin = 100+i, w.procs[i].stdin
					p.until(6)
					p.wroteAfter(span)
				}
			}
		}), "the first of a launch to write is the one that has answered")
	}
	assert.Equal(t, 2, inWork(4, same[:2], nil), "two are too few to know")
}

// TestReadsBeforeItAnswers: what a server reads before it has answered is part of its handshake, however often.
func TestReadsBeforeItAnswers(t *testing.T) {
	t.Parallel()
	w := &world{}
	begin := int64(1)
	for i, span := range []int64{3, 3, 3, 6, 3} {
		p := w.add(100+i, "srv", begin)
		p.until(span)
		p.wroteAfter(span)
		p.waits = nil
		begin += span
	}
	assert.Equal(t, 1, w.watch(0, 40).Groups[0].Generations)
}

// TestAReplacedServer: another one takes its place that is launched after its last use and a pause, in a later generation.
func TestAReplacedServer(t *testing.T) {
	t.Parallel()
	w := &world{}
	a := w.add(100, "srv", 0)
	a.used = func(t int64) int64 { return 100 + min(1, max(0, t)/10) }
	a.quiet = func(t int64) int64 {
		if t < 10 {
			return second / 100
		}
		return 9*second + 900_000_000
	}
	w.add(101, "srv", 5)
	w.add(102, "srv", 10)
	v := w.watch(-2, 12)
	newer := map[int]int{}
	for _, u := range v.Units {
		newer[u.PIDs[0]] = u.Newer
	}
	assert.Equal(t, map[int]int{100: 0, 101: 1, 102: 0}, newer)
	assert.Equal(t, 2, v.Units[0].Generations())
}

// TestNobodyCanSeeTheUse: a server of which nobody can see whether it is used is not called idle.
func TestNobodyCanSeeTheUse(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.pile(28, 30)
	for _, p := range w.procs[:2] {
		p.noIO, p.quiet = true, nil
	}
	w.procs[1].row.Start = w.procs[0].row.Start
	v := w.watch(0, 20)
	assert.Len(t, v.Breaches, 25)
	assert.Nil(t, v.Children[0].QuietFor)
	assert.Contains(t, open(v, "L1"), "it can't be seen whether the host uses 2 servers of srv")
	assert.Equal(t, 27, v.Groups[0].Generations, "the two were launched at the same time")
	assert.Zero(t, v.Units[0].Newer)

	gone := &world{} // and the end of one says nothing of how long others may be idle
	gone.pile(28, 30)
	blind := gone.add(99, "srv", -900)
	blind.noIO, blind.quiet, blind.died = true, nil, 5
	assert.Len(t, gone.watch(0, 20).Breaches, 27)
}

// TestOnlyTheProcessorIsSeen: where what it reads and writes can't be seen, a server may have been used whenever it ran.
func TestOnlyTheProcessorIsSeen(t *testing.T) {
	t.Parallel()
	for _, works := range []bool{false, true} {
		w := &world{}
		w.pile(28, 30)
		for _, p := range w.procs[:27] {
			p.noIO = true
			if p.quiet = func(int64) int64 { return p.born*second + second/100 }; works {
				p.quiet = func(t int64) int64 { return t * second }
			}
		}
		v := w.watch(0, 20)
		for _, ch := range v.Children[:27] {
			assert.Equal(t, works, *ch.QuietFor == 0)
		}
		assert.Equal(t, works, len(v.Breaches) == 0)
	}

	young := &world{}
	p := young.add(100, "srv", 5)
	p.noIO = true
	p.quiet = func(int64) int64 { return 6 * second }
	p.told = func(t int64) bool { return t > 5 }
	assert.Equal(t, record.Duration(14*second), *young.watch(0, 20).Children[0].QuietFor)

	late := &world{} // one that runs by itself after what it read last is not used beside newer ones
	late.pile(20, 30)
	late.procs[0].quiet = func(int64) int64 { return 10 * second }
	late.procs[0].told = func(t int64) bool { return t > 10 }
	assert.Len(t, late.watch(0, 22).Breaches, 18)
	blind := &world{}
	blind.pile(20, 30)
	blind.procs[0].noIO = true
	blind.procs[0].quiet = func(int64) int64 { return 10 * second }
	assert.Len(t, blind.watch(0, 22).Breaches, 18)
}

// TestUsedAtItsBirth: one that is launched while somebody looks, and reads, is used. It need not be seen to read again.
func TestUsedAtItsBirth(t *testing.T) {
	t.Parallel()
	for reads, found := range map[int64]int{100: 12, 0: 0} {
		w := &world{}
		w.pile(12, 30)
		w.procs[11].used = w.procs[10].used
		newest := w.add(200, "srv", 15)
		newest.used = func(int64) int64 { return reads }
		newest.quiet = func(t int64) int64 { return 15*second + second/100 }
		assert.Len(t, w.watch(0, 20).Breaches, found)
	}
}

// TestThreeGenerations: servers that were replaced in three batches are a leak.
func TestThreeGenerations(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 12 {
		w.add(100+i, "srv", -300+60*int64(i/4))
	}
	w.add(200, "srv", -10).busy(-10)
	v := w.watch(0, 20)
	assert.Equal(t, 4, v.Groups[0].Generations)
	assert.Len(t, v.Breaches, 12)
}

// TestHowLongTheHostLetsThemBeIdle: a host that ended an idle one after 16 s is given twice that for the others.
func TestHowLongTheHostLetsThemBeIdle(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 13 {
		w.add(100+i, "srv", -21+int64(i))
	}
	w.add(200, "srv", -2).busy(-2)
	w.procs[9].died = 4 // it was idle since -12, and is missing at 5
	v := w.watch(0, 10)
	assert.Empty(t, v.Breaches)
	assert.InDelta(t, 34, v.Groups[0].IdleAfter.D().Seconds(), 0.1)
	assert.InDelta(t, 34, w.watch(11, 11).Groups[0].IdleAfter.D().Seconds(), 0.1, "it ended then, and not now")
}

// TestAViewOfEachLook: what a look has shown of a process is gone from the view of the next one where it holds no more.
func TestAViewOfEachLook(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.pile(28, 30)
	w.watch(0, 20)
	fold := attach.New(&record.Header{Limits: record.Limits{Settle: record.Duration(10 * second)}})
	apply := func() *attach.View {
		for i := range w.events {
			fold.Apply(&w.events[i])
		}
		w.events = nil
		return fold.View()
	}
	v := apply()
	assert.Equal(t, "superseded", v.Children[0].Kind)
	assert.NotNil(t, v.Children[27].QuietFor)
	for _, p := range w.procs[:25] {
		p.busy(0)
	}
	w.procs[27].row.State = record.StateZombie
	w.watch(21, 25)
	v = apply()
	assert.Empty(t, v.Breaches)
	assert.Empty(t, v.Children[0].Kind)
	assert.Nil(t, v.Children[27].QuietFor)
}
