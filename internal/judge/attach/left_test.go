package attach_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/record"
)

// TestHoldersInAnyOrder: who weighs most holds stdin, wherever it stands among the holders.
func TestHoldersInAnyOrder(t *testing.T) {
	t.Parallel()
	host := record.Holder{Identity: hostID, FD: 5, Mode: "write"}
	for name, one := range map[string]struct {
		holders []record.Holder
		want    attach.Hold
	}{
		"the host, and a stray copy after it": {[]record.Holder{host, by(200, 5)}, attach.HeldByHost},
		"a pipeline that writes to stderr":    {[]record.Holder{by(200, 2)}, attach.HeldByFeed},
		"a stray copy with the next number":   {[]record.Holder{by(200, 3)}, attach.HeldBySibling},
		"stdout of who is not below the host": {[]record.Holder{by(77, 1)}, attach.HeldOutside},
	} {
		w := &world{}
		w.add(200, "sibling", -100)
		p := w.add(100, "srv", -50)
		p.stdin.Holders = one.holders
		p.more = []record.Descriptor{{FD: 1, Target: "pipe:[1]", Known: true}}
		assert.Equal(t, one.want, child(t, w.watch(0, 2), 100).Stdin, name)
	}
	w := &world{}
	p := w.add(100, "srv", -50)
	p.unseen = []string{"descriptors: some could not be read"}
	w.add(101, "srv", -50).stdin.Target = "socket:[7]"
	v := w.watch(0, 2)
	assert.Equal(t, attach.HoldUnknown, v.Children[0].Stdin)
	assert.Equal(t, []attach.Hold{attach.HeldByHost}, []attach.Hold{v.Children[1].Stdin})
	assert.Equal(t, attach.RoleServer, v.Children[1].Role, "a socket pair serves as well as a pipe")
}

// TestWhoStandsAbove: each launcher between the host and a server may hold its stdin; one beside it may not.
func TestWhoStandsAbove(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i, pid := range []int{101, 102, 103} {
		w.add(pid, fmt.Sprint("p", i), int64(i)-50).row.PPID = []int{hostID.PID, 101, 102}[i]
	}
	w.procs[2].stdin.Holders = []record.Holder{{Identity: w.procs[0].row.Identity, FD: 9, Mode: "write"}}
	assert.Equal(t, attach.HeldByHost, child(t, w.watch(0, 2), 103).Stdin)

	circle := &world{} // rows of different moments
	circle.add(101, "a", -50).row.PPID = 102
	circle.add(102, "b", -49).row.PPID = 101
	circle.procs[0].stdin.Holders = []record.Holder{by(200, 9)}
	circle.add(200, "c", -100)
	v := circle.watch(0, 2)
	assert.Equal(t, attach.HeldBySibling, child(t, v, 101).Stdin)
	assert.False(t, child(t, v, 101).Below)
}

// TestNothingIsAccusedOfTooLittle: each of the facts that a finding rests on is needed.
func TestNothingIsAccusedOfTooLittle(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		line, other string // "": there is no other one
		begin       func(p *process)
		change      func(p *process)
		at          int64
		note        string
	}{
		"a tool whose stdin a sibling had from the start": {"tool", "", func(p *process) { p.stdin.Holders = []record.Holder{by(200, 9)} }, nil, 3, ""},
		"a server whose stdin a sibling has had for 7 s":  {"srv", "srv", nil, func(p *process) { p.stdin.Holders = []record.Holder{by(200, 9)} }, 13, ""},
		"a server whose stdin was closed 7 s ago":         {"srv", "srv", nil, func(p *process) { p.stdin.Holders = nil }, 13, ""},
		"a server that came 7 s ago, with its stdin closed": {"srv", "srv", func(p *process) {
			p.stdin.Holders, p.born, p.row.Start = nil, 13, 101300
		}, nil, 3, ""},
		"one that left, and is no server as far as is known": {"tool", "", nil, func(p *process) { p.row.PPID, p.stdin.Holders = 1, nil }, 3, ""},
		"one that left 7 s after it came": {"srv", "srv", func(p *process) { p.born, p.row.Start = 12, 101200 }, func(p *process) {
			p.row.PPID, p.stdin.Holders = 1, nil
		}, 14, ""},
		"one that left, and whose stdin somebody holds": {"srv", "srv", nil, func(p *process) { p.row.PPID, p.stdin.Holders = 1, []record.Holder{by(77, 9)} }, 3, ""},
		"one that left, called a server, alone":         {"x-mcp", "", nil, func(p *process) { p.row.PPID, p.stdin.Holders = 1, nil }, 3, ""},
		"one whose holders are not known":               {"srv", "srv", nil, func(p *process) { p.stdin.Holders, p.stdin.Known = nil, false }, 3, ""},
		"one that was never below the host":             {"srv", "srv", func(p *process) { p.row.PPID, p.stdin.Holders = 1, nil }, nil, 3, "of an earlier life, or of another host"},
		"one that never was, and that the host feeds":   {"srv", "srv", func(p *process) { p.busy(-50).row.PPID = 1 }, nil, 3, ""},
		"two tools that have got their input": {"tool", "tool", func(p *process) {
			p.stdin.Holders, p.row.Args = nil, []string{"another"}
		}, nil, 3, "stdin at its end, may be a tool"},
		"a tool of which nobody can see whether it works": {"tool", "", func(p *process) { p.stdin.Holders, p.noIO, p.quiet = nil, true, nil }, nil, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{}
			w.add(200, "sibling", -100).busy(-100)
			p := w.add(100, one.line, -50)
			if one.other != "" {
				w.add(101, one.other, -40).busy(-40)
			}
			if one.begin != nil {
				one.begin(p)
			}
			w.watch(0, one.at-1)
			if one.change != nil {
				one.change(p)
			}
			v := w.watch(one.at, 20)
			assert.Empty(t, v.Breaches)
			assert.Equal(t, one.note, child(t, v, 100).Note)
			assert.Equal(t, strings.Contains(one.note, "tool"), strings.Contains(open(v, "L1"), "at its end"))
		})
	}
}

// TestEqualToolsAreNoServers: that another one of the command line is there says nothing where the host holds no stdin of any.
func TestEqualToolsAreNoServers(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 2 {
		w.add(100+i, "tool", -50).stdin.Holders = nil
	}
	v := w.watch(0, 20)
	assert.Empty(t, v.Breaches)
	assert.Contains(t, open(v, "L1"), "the stdin of pid 100 (srv) and pid 101 (srv) is at its end")
}

// TestWhatTheHostLeaves: only what was below the host, runs, and had time to end is left by it.
func TestWhatTheHostLeaves(t *testing.T) {
	t.Parallel()
	left := func(exit int64, state record.State, wasBelow bool) *attach.View {
		w := &world{handles: &record.Handles{}}
		p := w.add(100, "srv", -50)
		if !wasBelow {
			p.row.PPID = 1
			p.stdin.Holders = nil
		}
		w.watch(0, 3)
		w.exits(exit)
		row := p.row
		row.PPID, row.State = 1, state
		stdin := *p.stdin
		stdin.Holders = nil
		for t := exit + 1; t <= 20; t++ {
			w.at(t, record.Event{Kind: record.CensusTaken, Census: &record.Census{Processes: []record.Process{row}}})
			w.at(t, record.Event{Kind: record.EvidenceTaken, Evidence: []record.Evidence{
				{Process: row, Age: record.Duration((50 + t) * second), Descriptors: []record.Descriptor{stdin}},
			}})
		}
		return w.view()
	}
	v := left(5, record.StateSleeping, true)
	assert.Equal(t, []string{"L2 deaf"}, kinds(v))
	assert.NotNil(t, v.Breaches[0].Evidence)
	assert.False(t, v.Children[0].Below)
	assert.NotEmpty(t, open(v, "L5"), "what a host held that is gone can't be seen")
	assert.Empty(t, left(12, record.StateSleeping, true).Breaches, "it has its time to end")
	assert.Empty(t, left(5, record.StateZombie, true).Breaches, "it is dead, and its new parent's to wait for")
	assert.Empty(t, left(5, record.StateSleeping, false).Breaches, "it may be another one's")
}

// TestALauncherThatIsGone: a server whose launcher has ended is what is left of the launch.
func TestALauncherThatIsGone(t *testing.T) {
	t.Parallel()
	w := &world{}
	launcher := w.add(100, "npx x-mcp", -50)
	launcher.row.Args = []string{"npx", "x-mcp"}
	server := w.add(101, "node", -49)
	server.row.PPID, server.stdin = 100, launcher.stdin
	third := w.add(102, "relay", -48)
	third.stdin = nil
	third.row.PPID = 101
	deep := w.add(103, "deep", -47)
	deep.stdin, deep.row.PPID = nil, 102
	launcher.busy(-50)
	v := w.watch(0, 2)
	assert.Equal(t, attach.RoleLauncher, child(t, v, 100).Role)
	assert.Equal(t, attach.RoleHelper, child(t, v, 103).Role, "a helper's helper")
	assert.True(t, v.Units[0].Used, "the launcher hands on what it is told")
	launcher.died, server.row.PPID = 2, hostID.PID
	launcher.stdin.Holders = nil
	v = w.watch(3, 20)
	require.Equal(t, []string{"L1 not-escalated"}, kinds(v))
	assert.Equal(t, 101, v.Breaches[0].Process.PID)
	assert.Equal(t, "x-mcp", strings.TrimPrefix(v.Breaches[0].Label, "npx "))

	alone := &world{}
	alone.add(100, "srv", -50)
	child101 := alone.add(101, "cat", -49)
	child101.row.PPID, child101.stdin = 100, alone.procs[0].stdin
	alone.watch(0, 2)
	child101.row.State = record.StateZombie
	assert.Equal(t, attach.RoleServer, child(t, alone.watch(3, 5), 100).Role, "what it launched is dead")
}

// TestAFileForStdin: what can be seen of a process counts, though something else of it could not be read.
func TestAFileForStdin(t *testing.T) {
	t.Parallel()
	w := &world{}
	p := w.add(100, "job", -50)
	p.stdin = &record.Descriptor{FD: 0, Target: "/dev/null", Mode: "read"}
	p.unseen = []string{"descriptors: 3 of them could not be read"}
	assert.Equal(t, attach.RoleOther, w.watch(0, 2).Children[0].Role)
}

// TestZombiesOfTheHost: a zombie is the host's to wait for as long as the host runs, and what was known of it is of before its death.
func TestZombiesOfTheHost(t *testing.T) {
	t.Parallel()
	w := &world{}
	p := w.add(100, "srv", -50)
	w.add(101, "srv", -50).busy(-50)
	w.add(102, "srv", -50).busy(-50)
	p.unseen = []string{"exe: denied"}
	w.watch(0, 5)
	p.row.State = record.StateZombie
	v := w.watch(6, 20)
	require.Equal(t, []string{"L4 zombie"}, kinds(v))
	assert.Nil(t, v.Breaches[0].Evidence)
	assert.Contains(t, v.Breaches[0].Narrative, "has not waited for it in 14 s")
	assert.Equal(t, attach.HoldUnknown, v.Children[0].Stdin)
	assert.Empty(t, v.Unread, "nothing is read of it any more")
	assert.Empty(t, open(v, "L1"), "it is dead, and not idle")

	ended := &world{}
	ended.add(100, "srv", -50).row.State = record.StateZombie
	ended.watch(0, 3)
	ended.exits(4)
	row := ended.procs[0].row
	ended.at(20, record.Event{Kind: record.CensusTaken, Census: &record.Census{Processes: []record.Process{row}}})
	assert.Empty(t, ended.view().Breaches)
}

// TestAStrayIsNobodysIdleServer: what another life of the host left is no server that it does not use.
func TestAStrayIsNobodysIdleServer(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 2 {
		w.add(100+i, "srv", -50).busy(-50)
	}
	stray := w.add(99, "srv", -500)
	stray.row.PPID, stray.stdin.Holders = 1, []record.Holder{by(77, 9)}
	v := w.watch(0, 20)
	assert.Empty(t, open(v, "L1"))
	assert.Equal(t, 2, v.Groups[0].Alive)
}
