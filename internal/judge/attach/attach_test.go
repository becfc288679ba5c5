package attach_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/record"
)

const second = int64(time.Second)

var hostID = record.Identity{PID: 10, Start: 1000}

// world is a hand-made watch. Its clock begins 1000 s after the machine's, and it looks every second.
type world struct {
	procs    []*process
	events   []record.Event
	handles  *record.Handles
	settle   time.Duration
	resident int
	old      bool                       // its evidence does not say when it was read
	fds      func(t int64) int          // of the host; nil: 20
	load     func(t int64) *record.Load // what the host had to wait for; nil: not told
}

type process struct {
	row    record.Process
	born   int64 // s
	died   int64
	used   func(t int64) int64 // bytes read so far
	quiet  func(t int64) int64 // when it ran last; nil: that can't be seen
	stdin  *record.Descriptor
	unseen []string
	waits  func(t int64) bool  // for its stdin; nil: that can't be seen
	told   func(t int64) bool  // whether there is evidence at a look; nil: always
	read   func(t int64) int64 // when the evidence of a look was read; nil: at that look
	wrote  func(t int64) int64
	noIO   bool                // what it reads and writes can't be seen
	wchan  string              // in place of the system call that it waits in
	more   []record.Descriptor // before its stdin
}

func (w *world) add(pid int, line string, born int64) *process {
	p := &process{
		row: record.Process{
			Identity: record.Identity{PID: pid, Start: uint64((1000 + born) * 100)}, PPID: hostID.PID, State: record.StateSleeping,
			Comm: "srv", Args: []string{line}, RSS: 1 << 20,
		},
		born: born, died: 1 << 40, used: func(int64) int64 { return 100 },
		stdin: &record.Descriptor{FD: 0, Target: fmt.Sprintf("pipe:[%d]", pid), Mode: "read", Known: true, Holders: []record.Holder{{Identity: hostID, FD: 7, Mode: "write"}}},
	}
	p.quiet = func(t int64) int64 { // it was used right after its birth alone
		if p.used(t) == 100 {
			return min(t*second, p.born*second+second/100)
		}
		return t * second
	}
	w.procs = append(w.procs, p)
	return p
}

// io is what it has read and written up to a time, where that can be seen.
func (p *process) io(t int64) *record.IO {
	switch {
	case p.noIO:
		return nil
	case p.wrote != nil:
		return &record.IO{Read: p.used(t), Wrote: p.wrote(t)}
	}
	return &record.IO{Read: p.used(t), Wrote: p.used(t)}
}

// until makes a process one that is used each second for so many seconds from its birth on, and read is what it waits in.
func (p *process) until(span int64) {
	begun, ended := p.born, p.born+span
	p.used = func(t int64) int64 { return 100 + max(0, min(t, ended)-begun) }
	p.quiet, p.waits = nil, func(int64) bool { return true }
}

// busy makes a process one that is used each second from a time on.
func (p *process) busy(from int64) *process {
	p.used = func(t int64) int64 { return 100 + max(0, t-from) }
	return p
}

func (w *world) at(t int64, e record.Event) {
	e.Seq, e.T = int64(len(w.events)+1), t*second
	w.events = append(w.events, e)
}

// watch looks every second from one time to another.
func (w *world) watch(from, to int64) *attach.View {
	host := record.Process{Identity: hostID, PPID: 1, State: record.StateSleeping, Comm: "host", FDs: 20, RSS: 10 << 20}
	w.at(from, record.Event{Kind: record.HostStarted, Process: &host})
	for t := from; t <= to; t++ {
		host := host
		if w.fds != nil {
			host.FDs = w.fds(t)
		}
		c := record.Census{Role: record.CensusSample, Host: &host}
		if w.load != nil {
			c.Load = w.load(t)
		}
		evidence := []record.Evidence{{Process: host, Handles: w.handles, Age: record.Duration((1000 + t - 10) * second)}}
		for _, p := range w.procs {
			if t < p.born || t > p.died {
				continue
			}
			row := p.row
			row.IO = p.io(t)
			c.Processes = append(c.Processes, row)
			if p.told != nil && !p.told(t) {
				continue
			}
			read := t
			if p.read != nil {
				read = p.read(t)
			}
			e := record.Evidence{Process: row, Age: record.Duration((t - p.born) * second), Unseen: p.unseen}
			e.IO = nil
			if ago := record.Duration((t - read) * second); !w.old {
				e.ReadAgo, e.IO = &ago, p.io(read)
			}
			e.Descriptors = slices.Clone(p.more)
			if p.stdin != nil {
				e.Descriptors = append(e.Descriptors, *p.stdin)
			}
			if e.Wchan = p.wchan; p.waits != nil && p.waits(t) && p.wchan == "" {
				e.Syscall = "read(0)"
			}
			if p.quiet != nil {
				idle := record.Duration(max(0, t*second-p.quiet(read)))
				e.Idle = &idle
			}
			evidence = append(evidence, e)
		}
		w.at(t, record.Event{Kind: record.CensusTaken, Census: &c})
		w.at(t, record.Event{Kind: record.EvidenceTaken, Evidence: evidence})
	}
	return w.view()
}

func (w *world) view() *attach.View {
	header := record.Header{Limits: record.Limits{Settle: record.Duration(max(w.settle, 10*time.Second))}}
	header.Host.Profile.Resident = w.resident
	return attach.Of(&record.Run{Header: header, Events: w.events})
}

func kinds(v *attach.View) (all []string) {
	for i := range v.Breaches {
		all = append(all, v.Breaches[i].Law+" "+v.Breaches[i].Kind)
	}
	return slices.Compact(all)
}

func open(v *attach.View, law string) string {
	for _, u := range v.Open {
		if u.Law == law {
			return u.Reason
		}
	}
	return ""
}

// pile launches servers of one command line, one after the other, so many seconds apart; the last of them is used from then on.
func (w *world) pile(n int, apart int64) {
	for i := range n {
		w.add(100+i, "srv", int64(i)*apart-1000)
	}
	w.procs[len(w.procs)-1].busy(-1000)
}

func TestAPileThatNobodySawGrow(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.pile(28, 30)
	v := w.watch(0, 20)
	assert.Equal(t, []string{"L1 superseded"}, kinds(v))
	require.Len(t, v.Breaches, 27)
	assert.Equal(t, 28, v.Groups[0].Generations)
	assert.Equal(t, 1, v.Groups[0].Used)
	assert.Contains(t, v.Breaches[0].Value, "pid 100 (srv): started 17 m before the end of the watch, not used for 17 m, 27 newer ones launched since")
	assert.Empty(t, open(v, "L1"))
}

// A runtime runs now and then by itself, long after its server was used last. Nothing was transferred since.
func TestAPileOfServersThatRunByThemselves(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.pile(28, 30)
	for _, p := range w.procs[:27] {
		born := p.born
		p.quiet = func(t int64) int64 {
			if t > 10 {
				return 10 * second
			}
			return born*second + second/100
		}
	}
	v := w.watch(0, 20)
	assert.Equal(t, []string{"L1 superseded"}, kinds(v))
	assert.Equal(t, 28, v.Groups[0].Generations)
}

// Evidence that was read before a transfer says nothing of the time after it.
func TestEvidenceOfBeforeATransfer(t *testing.T) {
	t.Parallel()
	w := &world{}
	p := w.add(100, "srv", -50)
	p.used = func(t int64) int64 { return 100 + max(0, min(t, 8)-7) }
	p.quiet = func(int64) int64 { return -50 * second }
	p.told = func(t int64) bool { return t < 5 }
	v := w.watch(0, 20)
	assert.Equal(t, record.Duration(12*second), *v.Children[0].QuietFor)
}

// sessions are 16 servers, launched one second apart, each of which is used again after 12 s. Its evidence of the look that shows that
// was read before.
func (w *world) sessions() *attach.View {
	for i := range 16 {
		p := w.add(100+i, "srv", int64(i)+1)
		again := p.born + 12
		p.used = func(t int64) int64 { return 100 + min(1, max(0, t-again+1)) }
		p.quiet = func(t int64) int64 {
			if t < again {
				return p.born*second + second/100
			}
			return again*second - second/10
		}
		p.read = func(t int64) int64 {
			if t == again {
				return t - 1
			}
			return t
		}
	}
	w.add(200, "srv", 29).busy(29)
	return w.watch(0, 60)
}

// Evidence that was read before a transfer and written down after it says nothing of the time after it, nor does what is read then.
func TestEvidenceThatWasReadBeforeATransfer(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		w := &world{old: old}
		v := w.sessions()
		assert.Empty(t, v.Breaches, "an old file: %v", old)
		for _, ch := range v.Children[:16] {
			last := (ch.Born + 12*second) - second/10
			assert.InDelta(t, last, v.To-int64(*ch.QuietFor), float64(second)/4, "pid %d, an old file: %v", ch.PID, old)
		}
	}
	for _, old := range []bool{false, true} { // and where all of it is late, what was used last counts from the look that shows it
		w := &world{old: old}
		p := w.add(100, "srv", 1)
		p.used = func(t int64) int64 { return 100 + min(1, max(0, t-19)) }
		p.quiet, p.read = func(int64) int64 { return second }, func(t int64) int64 { return min(t, 19) }
		ch := w.watch(0, 30).Children[0]
		assert.Equal(t, record.Duration(10*second), *ch.QuietFor, "an old file: %v", old)
		assert.Equal(t, old, ch.FactsAge != record.Duration(11*second))
	}
}

// One look is enough to tell how long each has been idle: what it had read and written was read before the evidence in it.
func TestTheFirstLook(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.pile(28, 30)
	for _, p := range w.procs {
		p.read = func(t int64) int64 { return t - 1 } // before the look was written down
	}
	v := w.watch(0, 0)
	assert.Equal(t, 28, v.Groups[0].Generations)
	assert.InDelta(t, 1000, v.Children[0].QuietFor.D().Seconds(), 1)
	late := &world{} // and a look whose evidence is of before the last transfer leaves that one
	late.pile(28, 30)
	for _, p := range late.procs[:27] {
		p.used = func(t int64) int64 { return 100 + max(0, min(1, t)) }
		p.quiet = func(int64) int64 { return p.born * second }
		p.read = func(int64) int64 { return 0 }
	}
	for _, ch := range late.watch(0, 3).Children[:27] {
		assert.Equal(t, record.Duration(2*second), *ch.QuietFor)
	}
}

// Nine equal servers that are idle beside one that is used may be sessions: nobody saw the host replace them.
func TestTenEqualServers(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.pile(10, 30)
	v := w.watch(0, 20)
	assert.Empty(t, v.Breaches)
	assert.Contains(t, open(v, "L1"), "9 of 10 equal servers of srv were idle")
	assert.Equal(t, "9 newer, may be sessions", v.Children[0].Note)

	used := &world{}
	for i := range 10 {
		used.add(100+i, "srv", int64(i)*30-1000).busy(-1000)
	}
	v = used.watch(0, 20)
	assert.Empty(t, v.Breaches)
	assert.Empty(t, open(v, "L1"), "each of them is used")
}

func TestGenerationsThatComeWhileItIsWatched(t *testing.T) {
	t.Parallel()
	come := func(n int, apart, used int64) *attach.View {
		w := &world{}
		for i := range n {
			w.add(100+i, "srv", int64(i)*apart+1).until(used)
		}
		return w.watch(0, int64(n)*apart+10)
	}
	v := come(11, 4, 3)
	assert.Equal(t, []string{"L1 superseded"}, kinds(v))
	assert.Len(t, v.Breaches, 10)
	assert.Empty(t, come(10, 4, 3).Breaches, "ten sessions, one after the other, are no leak")

	v = come(11, 4, 4)
	assert.Equal(t, []string{"L1 superseded"}, kinds(v), "each is used until the next one is launched")
	assert.Len(t, v.Breaches, 10)
	assert.Equal(t, 11, v.Groups[0].Generations)
	assert.Empty(t, come(10, 4, 4).Breaches)
}

// Servers that are slow to come up are a batch where each is launched when the one before has answered.
func TestAPoolOfSlowServers(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 30 {
		p := w.add(100+i, "srv", int64(i)*2+1)
		born := p.born
		p.used = func(t int64) int64 { return 100 + 20*min(1, (t-born)/2) } // a line to stderr, and then its answer
		p.quiet = func(t int64) int64 { return min(t, born+2) * second }
		p.waits = func(t int64) bool { return t >= born+2 }
	}
	v := w.watch(0, 90)
	assert.Equal(t, 1, v.Groups[0].Generations)
	assert.Empty(t, v.Breaches)
}

// A host that comes back to its servers after a while has no idle ones, as long as that has not passed again.
func TestTurns(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 20 {
		p := w.add(100+i, "srv", int64(i)*4+1)
		born := p.born
		p.used = func(t int64) int64 { return 100 + min(t-born, 3) + max(0, min(t-born-30, 3)) }
		p.quiet = nil
	}
	assert.Empty(t, w.watch(0, 90).Breaches)
}

// A pool is filled one server after the other, without a pause: one batch, whichever of it is used.
func TestAPool(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 30 {
		p := w.add(100+i, "srv", -100)
		p.row.Start += uint64(i * 10) // 100 ms
		born := -100*second + int64(i)*second/10
		p.quiet = func(int64) int64 { return born + second/20 }
	}
	w.procs[29].busy(-100)
	v := w.watch(0, 20)
	assert.Empty(t, v.Breaches)
	assert.Equal(t, 1, v.Groups[0].Generations)
}

// A host that ends idle servers by itself after a while keeps none of them for good.
func TestAHostThatEndsWhatIsIdle(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 40 {
		w.add(100+i, "srv", int64(i)*4-80).died = int64(i)*4 - 80 + 60
	}
	w.procs[39].busy(0)
	v := w.watch(0, 80)
	assert.Empty(t, v.Breaches)
}

func TestSessionsSideBySide(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.pile(20, 30)
	for i := range 5 { // older ones are used beside the newest
		w.procs[i].busy(-1000)
	}
	assert.Empty(t, w.watch(0, 20).Breaches)

	storm := &world{}
	storm.pile(30, 30)
	storm.procs[0].busy(-1000) // one session lives beside one that is reconnected
	assert.Len(t, storm.watch(0, 20).Breaches, 28)
}

func TestWhatTheHostKeepsOnPurpose(t *testing.T) {
	t.Parallel()
	w := &world{resident: 27}
	w.pile(28, 30)
	assert.Empty(t, w.watch(0, 20).Breaches)
	w = &world{resident: 3}
	w.pile(28, 30)
	assert.Len(t, w.watch(0, 20).Breaches, 24)
}

// Where nobody uses any of them, or nobody can see whether, there is no second fact.
func TestNoSecondFact(t *testing.T) {
	t.Parallel()
	idle := &world{}
	for i := range 28 {
		idle.add(100+i, "srv", int64(i)*30-1000)
	}
	v := idle.watch(0, 20)
	assert.Empty(t, v.Breaches)
	assert.Contains(t, open(v, "L1"), "28 of 28 equal servers of srv were idle")

	other := &world{}
	other.pile(28, 30)
	other.procs[27].row.Args = []string{"another"}
	assert.Empty(t, other.watch(0, 20).Breaches, "what is used is another program")

	blind := &world{}
	blind.pile(28, 30)
	for _, p := range blind.procs {
		p.stdin, p.unseen = nil, []string{"descriptors: permission denied"}
	}
	v = blind.watch(0, 20)
	assert.Empty(t, v.Breaches)
	assert.Equal(t, []attach.Unread{{Column: "descriptors", Why: "permission denied", Of: 28}}, v.Unread)
}

func TestWhoHoldsStdin(t *testing.T) {
	t.Parallel()
	by := func(pid, fd int, mode string) []record.Holder {
		return []record.Holder{{Identity: record.Identity{PID: pid, Start: 90000}, FD: fd, Mode: mode}}
	}
	for _, one := range []struct {
		name    string
		holders []record.Holder
		known   bool
		want    attach.Hold
	}{
		{"the host", []record.Holder{{Identity: hostID, FD: 5, Mode: "write"}}, true, attach.HeldByHost},
		{"the host, whoever else", append(by(200, 5, "write"), record.Holder{Identity: hostID, FD: 5, Mode: "write"}), false, attach.HeldByHost},
		{"a stray copy", by(200, 5, "write"), true, attach.HeldBySibling},
		{"a pipeline", by(200, 1, "write"), true, attach.HeldByFeed},
		{"who is not below the host", by(77, 5, "write"), true, attach.HeldOutside},
		{"nobody", nil, true, attach.HeldByNobody},
		{"nobody that is seen", nil, false, attach.HoldUnknown},
		{"a stray copy, as far as is seen", by(200, 5, "write"), false, attach.HoldUnknown},
		{"who only reads", by(200, 5, "read"), true, attach.HeldByNobody},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			w := &world{}
			w.add(200, "sibling", -100)
			p := w.add(100, "srv", -50)
			p.stdin.Holders, p.stdin.Known = one.holders, one.known
			v := w.watch(0, 20)
			require.Equal(t, 100, v.Children[1].PID)
			assert.Equal(t, one.want, v.Children[1].Stdin)
		})
	}
}

// TestALaunchRightBeforeTheEnd: the first call of a server may be still to come when the watch ends.
func TestALaunchRightBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for born, idle := range map[int64]bool{17: true, 18: false} {
		w := &world{}
		w.add(100, "srv", -50).busy(-50)
		w.add(101, "srv", -20).busy(-20)
		w.add(102, "srv", born)
		assert.Equal(t, idle, open(w.watch(0, 20), "L1") != "", "launched at %d", born)
	}
}

// A tool that got its input and works on it has a closed stdin, too. A server whose host had it open a moment ago has been told to end.
func TestAClosedStdin(t *testing.T) {
	t.Parallel()
	tool := &world{}
	tool.add(100, "build", -50).stdin.Holders = nil
	v := tool.watch(0, 30)
	assert.Empty(t, v.Breaches)
	assert.Contains(t, open(v, "L1"), "the stdin of pid 100 (srv) is at its end", "it did nothing all the time")
	works := &world{}
	works.add(100, "build", -50).busy(0)
	works.procs[0].stdin.Holders = nil
	v = works.watch(0, 30)
	assert.Empty(t, v.Breaches)
	assert.Empty(t, open(v, "L1"))

	for holder, kind := range map[int]string{0: "L1 not-escalated", 200: "L1 eof-withheld"} {
		w := &world{}
		w.add(200, "sibling", -100)
		p := w.add(100, "my-MCP-server", -50)
		w.watch(0, 2)
		p.stdin.Holders = nil
		if holder != 0 {
			p.stdin.Holders = []record.Holder{{Identity: record.Identity{PID: 200, Start: 90000}, FD: 9, Mode: "write"}}
		}
		assert.Equal(t, []string{kind}, kinds(w.watch(3, 20)))
	}
	fed := &world{}
	p := fed.add(100, "cc1", -50)
	fed.watch(0, 2)
	p.stdin.Holders = nil
	v = fed.watch(3, 20)
	assert.Empty(t, v.Breaches, "it was fed, and works on that")
	assert.Contains(t, open(v, "L1"), "the stdin of pid 100 (srv) is at its end")
	twice := &world{}
	p = twice.add(100, "pytest mcp-x", -50)
	twice.add(101, "pytest mcp-x", -40).died = -20
	twice.watch(-30, 2)
	p.stdin.Holders = nil
	assert.Empty(t, twice.watch(3, 20).Breaches, "nothing shows that it has answered")
	before := &world{}
	before.add(100, "node /opt/mcp-files.js", -50).stdin.Holders = nil
	before.procs[0].row.Args = strings.Fields("node --no-warnings /opt/mcp-files.js")
	assert.Equal(t, []string{"L1 not-escalated"}, kinds(before.watch(0, 20)), "it was closed before anybody looked")
	soon := &world{}
	p = soon.add(100, "srv", -50)
	soon.watch(0, 12)
	p.stdin.Holders = nil
	assert.Empty(t, soon.watch(13, 20).Breaches, "it has its time to end")
}

// TestCalledServer: what a program or package is called counts, and not what it is told.
func TestCalledServer(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"mcp-server-git --repo x": true, "npx -y @modelcontextprotocol/server-everything": true, "python3.11 -m mcp_server_time": true,
		"uv run mcp-server": true, "docker run -i --rm mcp/git": true, "/usr/bin/node /srv/dist/mcp.js": true,
		"node /x/node_modules/@modelcontextprotocol/server-x/dist/index.js": true, "node /x/node_modules/mcp-x/index.js": true, "node /x/node_modules/.bin/mcp-x": true,
		"python3 -mmcp_server_git": true, "python3 -um mcp_server_git": true, "sh /usr/bin/mcp-x.sh": true, "java -cp /x -jar mcp.jar": true, "deno run -A mcp.ts": true,
		"npm exec -- mcp-x": true, "uv --directory /x run python -m mcp_x": true, "npx -y tsx src/mcp.ts": true, "bash -l /x/run-mcp": true, "env A=b npx x-mcp": true,
		"docker run -e A=b -i node:22 npx -y @modelcontextprotocol/x": true, "docker exec -i box mcp-x": true, "perl -w mcp.pl": true,
		"sh build.sh /home/u/mcp-proj": false, "bash /home/u/mcp-gateway/.claude/hooks/check.sh": false, "env FOO=mcp make": false, "perl tool.pl mcp.txt": false,
		"bash -c ./mcp-build": false, "bash -lc ./mcp-build": false, "ruby -e mcp": false, "java -cp /x/mcp.jar Main": false, "node --eval=mcp": false, "node -r mcp.js x.js": false,
		"node /home/u/mcp/node_modules/eslint/bin.js": false, "docker run -v /x/mcp:/w -i node:22 npm test": false, "docker exec mcp-box make": false,
		"uv --directory /x/mcp run pytest": false, "npm --prefix /x/mcp run build": false, "npx tsc -p /x/mcp": false, "env -u mcp make": false, "docker ps mcp": false,
		"docker run": false, "env": false, "python3 -m": false, "npx": false, "uv run /x/mcp/build.py": false, "python3 -c mcp": false, "python3 -cmcp": false,
		"claude --mcp-config x -p": false, "rg foo /src/mcp-x": false, "pytest /src/mcp-x": false, "cc1 mcp.c": false, "node build.js a b /src/mcp": false,
	} {
		w := &world{}
		p := w.add(100, "srv", -50)
		p.row.Args, p.stdin.Holders = strings.Fields(line), nil
		assert.Equal(t, want, len(w.watch(0, 20).Breaches) > 0, line)
	}
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.add(100, "srv", -50).busy(0)
	p := w.add(99, "srv", -500)
	w.watch(0, 2)
	p.row.PPID, p.stdin.Holders = 1, nil
	v := w.watch(3, 20)
	assert.Equal(t, []string{"L2 deaf"}, kinds(v))
	assert.Contains(t, v.Breaches[0].Value, "its parent is process 1")

	others := &world{}
	others.add(100, "srv", -50).busy(0)
	p = others.add(99, "srv", -500)
	p.row.PPID, p.stdin.Holders = 1, nil
	v = others.watch(0, 20)
	assert.Empty(t, v.Breaches, "another host may have left it")
	assert.Empty(t, open(v, "L1"))
	assert.Equal(t, 1, v.Groups[0].Alive)

	daemon := &world{}
	daemon.add(100, "srv", -50).busy(0)
	daemon.add(99, "agent", -500).row.PPID = 1
	daemon.procs[1].stdin.Holders = nil
	assert.Empty(t, daemon.watch(0, 20).Breaches, "it is no server of this host, as far as anybody can tell")
}

func TestTheHostEnds(t *testing.T) {
	t.Parallel()
	w := &world{}
	p := w.add(100, "srv", -50)
	w.watch(0, 5)
	gone := record.Process{Identity: hostID}
	w.at(6, record.Event{Kind: record.HostExited, Process: &gone, Exit: &record.Exit{Code: -1}})
	row := p.row
	row.PPID = 1
	stdin := *p.stdin
	stdin.Holders = nil
	w.at(20, record.Event{Kind: record.CensusTaken, Census: &record.Census{Processes: []record.Process{row}}})
	w.at(20, record.Event{Kind: record.EvidenceTaken, Evidence: []record.Evidence{{Process: row, Age: record.Duration(70 * second), Descriptors: []record.Descriptor{stdin}}}})
	v := w.view()
	assert.Equal(t, []string{"L2 deaf"}, kinds(v))
	assert.True(t, v.Host.Exited)
}

func TestZombies(t *testing.T) {
	t.Parallel()
	w := &world{}
	p := w.add(100, "srv", -50)
	p.row.State = record.StateZombie
	w.add(200, "srv2", -50)
	child := w.add(201, "", -50)
	child.row.PPID, child.row.State = 200, record.StateZombie
	v := w.watch(0, 20)
	assert.Equal(t, []string{"L4 zombie"}, kinds(v))
	assert.Len(t, v.Breaches, 1, "the other one's parent is a server")
	fresh := &world{}
	fresh.add(100, "srv", 15).row.State = record.StateZombie
	assert.Empty(t, fresh.watch(0, 20).Breaches)
}

// TestWhatAHostWithoutAProcessorLeaves: for as long as the host waits for a processor it can't reap. A watch that shows no more than that
// shows neither a breach nor that there is none.
func TestWhatAHostWithoutAProcessorLeaves(t *testing.T) {
	t.Parallel()
	watch := func(waits, late record.Duration) *attach.View {
		w := &world{load: func(t int64) *record.Load {
			waited := waits * record.Duration(t)
			return &record.Load{Waited: &waited, Late: late}
		}}
		w.add(100, "srv", -50).row.State = record.StateZombie
		return w.watch(0, 12)
	}
	assert.Equal(t, []string{"L4 zombie"}, kinds(watch(0, 0)))
	assert.Equal(t, []string{"L4 zombie"}, kinds(watch(record.Duration(second/10), 0)))
	for _, v := range []*attach.View{watch(record.Duration(second/2), 0), watch(0, record.Duration(3*second))} {
		assert.Empty(t, v.Breaches)
		assert.Equal(t, "pid 100 (srv) was not waited for in 12 s, but the host had no processor for 6 s of that", open(v, "L4"))
		assert.Equal(t, "a zombie for 12 s, while the host waited for a processor", v.Children[0].Note)
	}
	// What it waited for, and how late the bench was, before the process ended is nothing to it.
	w := &world{load: func(t int64) *record.Load {
		waited := record.Duration(min(t, 4) * 5 * second)
		return &record.Load{Waited: &waited, Late: record.Duration(max(0, 4-t) * second)}
	}}
	dies := w.add(100, "srv", -50)
	w.watch(0, 4)
	dies.row.State = record.StateZombie
	assert.Equal(t, []string{"L4 zombie"}, kinds(w.watch(5, 16)))
}

// TestAClosedServerOfAHostWithoutAProcessor has not had the settle time to be ended either.
func TestAClosedServerOfAHostWithoutAProcessor(t *testing.T) {
	t.Parallel()
	watch := func(waits record.Duration) *attach.View {
		w := &world{load: func(t int64) *record.Load {
			waited := waits * record.Duration(t)
			return &record.Load{Waited: &waited}
		}}
		closed := w.add(100, "mcp-server", -50)
		closed.stdin.Holders = nil
		return w.watch(0, 12)
	}
	assert.Equal(t, []string{"L1 not-escalated"}, kinds(watch(0)))
	v := watch(record.Duration(second / 2))
	assert.Empty(t, v.Breaches)
	assert.Contains(t, open(v, "L1"), "the stdin of pid 100 (srv) is at its end, and the host had no processor for a part of the time since")
}

func TestHandles(t *testing.T) {
	t.Parallel()
	held := func(dangling ...int) *attach.View {
		w := &world{}
		for i, n := range dangling {
			w.handles = &record.Handles{Dangling: n, PIDFDs: 1}
			w.watch(int64(i)*5, int64(i)*5)
		}
		return w.view()
	}
	assert.Equal(t, []string{"L5 fd-leak"}, kinds(held(0, 2, 4, 6, 8)))
	assert.Empty(t, kinds(held(0, 2, 4, 4, 4, 4)))
	assert.Empty(t, kinds(held(0, 8, 0, 8, 0, 8, 1)))
	assert.NotEmpty(t, open((&world{}).watch(0, 20), "L5"))

	for seconds, short := range map[int64]bool{5: true, 40: false} { // a trend takes 30 s
		w := &world{handles: &record.Handles{}}
		w.fds = func(int64) int { return 20 }
		assert.Equal(t, short, w.watch(0, seconds).TooShort, "%d s", seconds)
	}
}

// A launcher and what it launches have the same stdin: they are one launch.
func TestLaunchersAndHelpers(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.add(100, "npx", -50)
	server := w.add(101, "node", -49)
	server.row.PPID, server.stdin = 100, w.procs[0].stdin
	helper := w.add(102, "chrome", -48)
	helper.row.PPID, helper.stdin = 101, nil
	w.add(103, "build", -48).stdin = nil
	v := w.watch(0, 20)
	require.Len(t, v.Units, 1)
	assert.Equal(t, []int{100, 101}, v.Units[0].PIDs)
	roles := map[int]attach.Role{}
	for _, ch := range v.Children {
		roles[ch.PID] = ch.Role
	}
	assert.Equal(t, map[int]attach.Role{100: attach.RoleLauncher, 101: attach.RoleServer, 102: attach.RoleHelper, 103: attach.RoleOther}, roles)
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 31 {
		w.add(100+i, fmt.Sprint("srv", i), int64(i))
	}
	assert.Empty(t, w.watch(0, 29).Trends, "29 seconds are too short")
	v := w.watch(30, 30)
	require.Len(t, v.Trends, 4)
	processes := v.Trends[0]
	assert.Equal(t, "processes", processes.Of)
	assert.True(t, processes.Grows())
	assert.InDelta(t, 3600, processes.Slope, 1)
	assert.Equal(t, []int64{1, 31}, []int64{processes.First, processes.Last})
	assert.Nil(t, processes.InDay, "half a minute tells of no day")
	assert.False(t, processes.Steps)

	day := &world{handles: &record.Handles{}}
	day.fds = func(t int64) int { return 20 + int(t)/10 }
	day.add(100, "srv", 0)
	day.watch(0, 599)
	assert.Nil(t, day.view().Trends[1].InDay)
	fds := day.watch(600, 600).Trends[1]
	assert.Equal(t, "descriptors", fds.Of)
	require.NotNil(t, fds.InDay)
	assert.InDelta(t, 80+24*360, *fds.InDay, 200)
	falls := &world{}
	falls.fds = func(t int64) int { return 600 - int(t)/2 }
	assert.Zero(t, *falls.watch(0, 600).Trends[1].InDay, "there is less than none of nothing")

	few := &world{}
	for i := range 19 {
		few.watch(int64(i)*10, int64(i)*10)
	}
	assert.Empty(t, few.view().Trends, "19 looks are too few")
	assert.NotEmpty(t, few.watch(190, 190).Trends)
}

// Something that changed once or twice has an interval of no width, which is no proof that it does not grow.
func TestGrowthInSteps(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.add(100, "a", -10)
	w.add(101, "b", 50)
	v := w.watch(0, 60)
	assert.True(t, v.Trends[0].Steps)
	assert.Equal(t, []int64{1, 2}, []int64{v.Trends[0].First, v.Trends[0].Last})
	assert.False(t, v.Trends[0].Grows())
	assert.False(t, v.Trends[1].Steps, "the descriptors stay as they are")
}

// What the host uses is what it has used lately, not at any time of a long watch.
func TestUsedLately(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 30 {
		w.add(100+i, "srv", int64(i)*4+1).until(3)
	}
	last := w.procs[29]
	last.until(1000)
	v := w.watch(0, 120)
	require.Len(t, v.Groups, 1)
	g := v.Groups[0]
	assert.Equal(t, []int{30, 30}, []int{g.Alive, g.Generations})
	assert.Equal(t, 3, g.Used, "the one that is in use, and those that were used less than 10 s before")
	assert.Equal(t, record.Duration(10*second), g.IdleAfter)
	assert.Len(t, v.Breaches, 27)
	for _, u := range v.Units {
		assert.NotEqual(t, u.Kind == "superseded", u.Used, "%d", u.PIDs)
	}

	turns := &world{} // a host that comes back to its servers after 20 s
	for i := range 4 {
		p := turns.add(100+i, "srv", 0)
		p.used = func(t int64) int64 { return 100 + t/20 }
		p.quiet = nil
	}
	g = turns.watch(0, 75).Groups[0]
	assert.Equal(t, record.Duration(40*second), g.IdleAfter)
	assert.Equal(t, 4, g.Used)
}

// What has ended is counted apart from what is there, and a zombie is neither idle nor used.
func TestWhatHasEnded(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 5 {
		w.add(100+i, "srv", int64(i)-20).busy(-20)
	}
	w.watch(0, 2)
	for _, p := range w.procs[:2] {
		p.row.State = record.StateZombie
	}
	w.procs[2].died = 2
	v := w.watch(3, 20)
	g := v.Groups[0]
	assert.Equal(t, []int{2, 2, 1, 2}, []int{g.Alive, g.Zombies, g.Ended, g.Used})
	assert.Zero(t, g.Like)
	assert.Nil(t, v.Children[0].QuietFor)
	assert.Nil(t, v.Children[1].QuietFor)
	assert.NotNil(t, v.Children[2].QuietFor)
}

// Two command lines can have one label: they are told apart by a process of each.
func TestEqualLabels(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i, line := range []string{"/a/srv x", "/a/srv y", "other"} {
		w.add(100+i, "", int64(i)-50).row.Args = strings.Fields(line)
	}
	v := w.watch(0, 12)
	require.Len(t, v.Groups, 3)
	assert.Equal(t, []int{100, 101, 0}, []int{v.Groups[0].Like, v.Groups[1].Like, v.Groups[2].Like})
	w.procs[0].row.State = record.StateZombie
	w.add(103, "", -40).row.Args = w.procs[0].row.Args
	assert.Equal(t, 103, w.watch(13, 14).Groups[0].Like, "one that runs says more than one that is dead")
	w.procs[3].died = 14
	assert.Equal(t, 100, w.watch(15, 16).Groups[0].Like)
	hostile := &world{}
	hostile.add(100, "\x1b[31msrv\n", -50)
	assert.Equal(t, "?[31msrv?", hostile.watch(0, 12).Groups[0].Label, "it is fit to be shown, wherever it stands")
}

// A shell that a host keeps for a task, and feeds commands, is no server: however many there are, they are a doubt.
func TestShells(t *testing.T) {
	t.Parallel()
	pile := func(line string) *attach.View {
		w := &world{}
		w.pile(28, 30)
		for _, p := range w.procs {
			p.row.Args = strings.Fields(line)
		}
		w.add(500, "srv", -30).busy(-30)
		return w.watch(0, 20)
	}
	v := pile("bash --norc -i")
	assert.Empty(t, v.Breaches)
	assert.Equal(t, "27 of 28 equal shells of bash were idle, and nothing shows whether a task has them", open(v, "L1"))
	assert.True(t, v.Groups[0].Shell)
	assert.Equal(t, attach.RoleShell, v.Children[0].Role)
	assert.Equal(t, "27 newer, may be tasks", v.Children[0].Note)
	assert.Len(t, pile("bash start.sh").Breaches, 27, "a script can be a server")

	only := &world{}
	only.add(100, "bash", -30).busy(-30)
	assert.Equal(t, "it had no server while it was watched", open(only.watch(0, 20), "L1"))

	w := &world{}
	w.add(100, "bash", -30)
	job := w.add(101, "sleep", -20)
	job.row.PPID, job.stdin = 100, w.procs[0].stdin
	v = w.watch(0, 20)
	assert.Equal(t, []attach.Role{attach.RoleShell, attach.RoleHelper}, []attach.Role{v.Children[0].Role, v.Children[1].Role})
	job.row.Args = []string{"mcp-server"}
	v = w.watch(21, 21)
	assert.False(t, v.Groups[0].Shell, "what it runs speaks the protocol")
	assert.Equal(t, []attach.Role{attach.RoleLauncher, attach.RoleServer}, []attach.Role{v.Children[0].Role, v.Children[1].Role})
}

// A shell whose stdin was closed runs what it was told to. It may be a task, whoever holds its stdin and whatever runs beside it.
func TestShellsThatAreLeft(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		line    string
		holders []record.Holder
		kind    string
		open    string
	}{
		"a server that has a stray copy": {"srv", []record.Holder{{Identity: record.Identity{PID: 200, Start: 90000}, FD: 9, Mode: "write"}}, "L1 eof-withheld", "-"},
		"a shell that has a stray copy": {
			"bash",
			[]record.Holder{{Identity: record.Identity{PID: 200, Start: 90000}, FD: 9, Mode: "write"}},
			"",
			"1 of 2 equal shells of bash were idle, and nothing shows whether a task has them and the shell pid 100 (srv) still runs; it may be a task's",
		},
		"a server at its end": {"srv", nil, "L1 not-escalated", ""},
		"a shell at its end": {
			"bash", nil, "", "the stdin of pid 100 (srv) is at its end, and nothing shows whether that is a server which does not heed it, or a tool that works on its input",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{}
			w.add(200, "sibling", -100).busy(-100)
			p := w.add(100, one.line, -50)
			w.add(101, one.line, -40).busy(-40)
			w.watch(0, 2)
			p.stdin.Holders = one.holders
			v := w.watch(3, 20)
			assert.Equal(t, one.kind, strings.Join(kinds(v), ""))
			if one.open != "-" {
				assert.Equal(t, one.open, open(v, "L1"))
			}
			assert.Equal(t, one.kind == "", v.Children[1].Note != "")
		})
	}
}

// When the host ends, a shell that runs on may have been meant to.
func TestAShellOutlivesTheHost(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{"srv": "L2 orphan", "bash": ""} {
		w := &world{}
		p := w.add(100, line, -50)
		w.watch(0, 5)
		gone := record.Process{Identity: hostID}
		w.at(6, record.Event{Kind: record.HostExited, Process: &gone, Exit: &record.Exit{Code: -1}})
		row := p.row
		row.PPID = 1
		stdin := *p.stdin
		stdin.Holders = []record.Holder{{Identity: record.Identity{PID: 77, Start: 1}, FD: 9, Mode: "write"}}
		w.at(20, record.Event{Kind: record.CensusTaken, Census: &record.Census{Processes: []record.Process{row}}})
		w.at(20, record.Event{Kind: record.EvidenceTaken, Evidence: []record.Evidence{{Process: row, Age: record.Duration(70 * second), Descriptors: []record.Descriptor{stdin}}}})
		v := w.view()
		assert.Equal(t, want, strings.Join(kinds(v), ""))
		assert.Equal(t, want == "", open(v, "L2") == "the shell pid 100 (srv) still runs; it may be a task's")
	}
}

// TestReadsCommands: an interpreter without a script reads what it is to do from its stdin. Nothing else does.
func TestReadsCommands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"bash": true, "-bash": true, "/bin/sh -i": true, "bash --norc --noprofile": true, "bash -o pipefail": true, "bash +O extglob": true, "zsh -s a b": true,
		"bash --rcfile /tmp/rc -i": true, "python3 -u -i": true, "python3.11 -": true, "node -r x.js -i": true, "env A=1 bash -l": true, "env bash": true, "bash -p": true, "python3 - x": true,
		"docker exec -i box bash": true, "podman run -i --rm python": true, "busybox.static": false, "ash.static": true, "fish": true,
		"bash run.sh": false, "bash -l run.sh bash": false, "bash -c cat": false, "bash -lc cat": false, "python3 -m mcp_server": false, "python3 server.py --lang python": false,
		"node dist/index.js": false, "node -r x.js index.js": false, "python3 -s server.py": false, "npx -y pkg bash": false, "docker run -i mcp/git": false, "grep bash": false,
		"docker run -i box sh -c srv": false, "env node index.js": false, "cat": false, "uvx bash": false,
		"python3 -mmcp_server_git": false, "python3 -Immcp_server": false, "python3 -cimport": false, "node --eval=x": false, "node --print=x": false, "node --run=start": false,
		"docker run -i --rm ghcr.io/acme/node": false, "docker run -i --rm -v /bin/bash:/x acme/srv": false, "docker run -i node:22": true, "docker run -i docker.io/library/bash:5": true,
		"docker run -i ghcr.io/acme/node bash": true, "docker exec -i node srv": false, "perl -e1": false, "perl -w": true, "ruby -rjson -ne p": false, "deno eval x": false,
		"deno run x.ts": false, "python3 -O server.py": false, "python3 -W ignore": true, "env -u A bash": true, "env -u bash srv": false, "docker ps bash": false, "java": false,
	} {
		w := &world{}
		w.add(100, "", -50).row.Args = strings.Fields(line)
		assert.Equal(t, want, w.watch(0, 2).Groups[0].Shell, line)
	}
	none := &world{}
	none.add(100, "", -50).row.Args = nil
	assert.False(t, none.watch(0, 2).Groups[0].Shell)
}

// What is written down late shifts no birth, and no use: the most exact of all evidence counts.
func TestEvidenceThatComesLate(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.pile(28, 1)
	for _, p := range w.procs[:27] {
		born := p.born
		p.row.Start += 7 // 70 ms, each right after the one before
		p.quiet = func(int64) int64 { return born*second + second*9/10 }
	}
	v := w.watch(0, 20)
	require.Empty(t, v.Breaches, "each is launched right after the one before has answered")
	for i := range w.events {
		if w.events[i].Kind == record.EvidenceTaken && i < 6 {
			for k := range w.events[i].Evidence {
				e := &w.events[i].Evidence[k]
				e.Age -= record.Duration(second)
				if e.Idle != nil {
					*e.Idle -= record.Duration(second)
				}
			}
		}
	}
	assert.Empty(t, w.view().Breaches)
}

// What can't be seen is no evidence: a host that launches nothing, or whose processes belong to another user.
func TestNothingSeen(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "it had no server while it was watched", open((&world{}).watch(0, 20), "L1"))

	w := &world{}
	for i := range 3 {
		p := w.add(100+i, "srv", -100)
		p.stdin, p.unseen = nil, []string{"descriptors: permission denied"}
	}
	v := w.watch(0, 20)
	assert.Empty(t, v.Breaches)
	assert.Equal(t, "it can't be seen whether 3 processes below the host are servers", open(v, "L1"))

	late := &world{}
	late.add(100, "srv", -100)
	late.add(101, "srv", -100).unseen = []string{"anything: process 101: the process has ended"}
	assert.Empty(t, late.watch(0, 20).Unread, "what ended while it was looked at is no column that could not be read")
}

// Descriptors that lead to servers come and go with them. Of others nobody can say what they are for.
func TestDescriptorsThatGrow(t *testing.T) {
	t.Parallel()
	grow := func(own int, use bool) *attach.View {
		w := &world{handles: &record.Handles{}}
		for i := range 12 {
			p := w.add(100+i, "srv", int64(i)+1)
			p.stdin.Holders[0].FD = 100 + i
			if use {
				p.busy(0)
			}
		}
		w.fds = func(t int64) int { return 20 + int(min(t, 12)) + own*int(t) }
		return w.watch(0, 20)
	}
	v := grow(0, true)
	assert.Empty(t, open(v, "L1"))
	assert.Empty(t, open(v, "L5"))
	assert.True(t, v.WithServers)

	v = grow(0, false)
	assert.NotEmpty(t, open(v, "L1"))
	assert.Equal(t, "the host has more and more descriptors, which lead to the servers that it keeps", open(v, "L5"))

	w := &world{handles: &record.Handles{}}
	w.add(100, "srv", -50).busy(0)
	w.fds = func(t int64) int { return 20 + int(t/7) } // two steps: a client may open as many once
	v = w.watch(0, 20)
	assert.Empty(t, open(v, "L5"))
	assert.False(t, v.WithServers, "they lead to none of them")

	v = grow(1, true)
	assert.Equal(t, "the host has more and more descriptors that lead to no process below it (40, 20 at first), and nothing shows what they are for", open(v, "L5"))
	assert.False(t, v.WithServers)
}

// A host can have a pidfd of each process that it has launched: that leads to it, too.
func TestPidfdsOfChildren(t *testing.T) {
	t.Parallel()
	grow := func(pidfds bool) *attach.View {
		w := &world{}
		for i := range 12 {
			p := w.add(100+i, "srv", int64(i)*3+1)
			p.stdin.Holders[0].FD = 100 + i
			p.busy(0)
		}
		come := func(t int64) int { return int(t+2) / 3 }
		w.fds = func(t int64) int { return 20 + 2*come(t) } // a pipe end and a pidfd each
		for at := range int64(36) {
			w.handles = &record.Handles{}
			if pidfds {
				w.handles.Living = come(at)
			}
			w.watch(at, at)
		}
		return w.view()
	}
	assert.Contains(t, open(grow(false), "L5"), "lead to no process below it")
	v := grow(true)
	assert.Empty(t, open(v, "L5"))
	assert.True(t, v.WithServers)
}

// What is a program text or a setting is no name of a server: both can hold secrets.
func TestLabels(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"sh -c TOKEN=x exec srv":           "sh -c",
		"python3 -u -c password='x'":       "python3 -c",
		"python3 -m my_server --port 1":    "python3 my_server",
		"env TOKEN=x node dist/index.js":   "env node",
		"node /home/me/dist/index.js a":    "node index.js",
		"/usr/bin/npx -y @scope/server@1":  "npx server@1",
		"/opt/tools/server --token secret": "server",
		"python3.11 /srv/s.py":             "python3.11 s.py",
		"node --inspect":                   "node",
		"node  index.js":                   "node index.js",
	} {
		w := &world{}
		w.add(100, "", -50).row.Args = strings.Split(line, " ")
		v := w.watch(0, 12)
		assert.Equal(t, want, v.Units[0].Label, line)
	}
	w := &world{}
	p := w.add(100, "", -50)
	p.row.Args, p.stdin.Holders = nil, nil
	v := w.watch(0, 12)
	assert.Equal(t, "srv", v.Units[0].Label, "a process that shows no command line has a name")
	assert.Empty(t, v.Breaches, "it is not known to be a server")
}

// A process that has only just come, so that nothing of it was read, is no reason to doubt the others.
func TestWhoHasOnlyJustCome(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.add(100, "srv", -100).busy(-100)
	w.watch(0, 19)
	host := record.Process{Identity: hostID, PPID: 1, State: record.StateSleeping, Comm: "host", FDs: 20}
	young := record.Process{Identity: record.Identity{PID: 300, Start: 102000}, PPID: hostID.PID, State: record.StateRunning, Comm: "seq"}
	row := w.procs[0].row
	row.IO = &record.IO{Read: 300}
	w.at(20, record.Event{Kind: record.CensusTaken, Census: &record.Census{Host: &host, Processes: []record.Process{row, young}}})
	v := w.view()
	require.Len(t, v.Children, 2)
	assert.Equal(t, attach.RoleUnknown, v.Children[1].Role)
	assert.Empty(t, open(v, "L1"))
}

// A server that holds the other end of its own stdin can't see EOF, and neither can one that shares it.
func TestItHoldsItsOwnStdin(t *testing.T) {
	t.Parallel()
	w := &world{}
	p := w.add(100, "srv", -50)
	w.watch(0, 2)
	p.stdin.Holders = []record.Holder{{Identity: p.row.Identity, FD: 9, Mode: "write"}}
	v := w.watch(3, 20)
	assert.Equal(t, []string{"L1 eof-withheld"}, kinds(v))
	assert.Equal(t, attach.HeldBySelf, v.Children[0].Stdin)
	assert.Contains(t, v.Breaches[0].Value, "the server itself does")
}

// Who stands between the host and a server may hold its stdin: a launcher that feeds it.
func TestALauncherHoldsStdin(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.add(100, "feeder", -50)
	server := w.add(101, "srv", -40)
	server.row.PPID = 100
	server.stdin.Holders = []record.Holder{{Identity: w.procs[0].row.Identity, FD: 5, Mode: "write"}}
	v := w.watch(0, 20)
	assert.Equal(t, attach.HeldByHost, v.Children[1].Stdin)
	assert.Empty(t, v.Breaches)
}

// A zombie keeps the command line that it had, and what is dead is no server that is alive.
func TestOneThatDies(t *testing.T) {
	t.Parallel()
	w := &world{}
	p := w.add(100, "srv", -50)
	w.watch(0, 5)
	p.row.Args, p.row.State, p.row.Comm = nil, record.StateZombie, "srv"
	v := w.watch(6, 20)
	require.Len(t, v.Children, 1)
	assert.Equal(t, []string{"srv"}, v.Children[0].Args)
	assert.Equal(t, attach.RoleZombie, v.Children[0].Role)
	assert.Equal(t, []string{"L4 zombie"}, kinds(v))
	assert.Equal(t, "pid 100 (srv): a zombie for 14 s at least", v.Breaches[0].Value)
	assert.Zero(t, v.Groups[0].Alive)
	assert.Empty(t, v.Units)

	gone := &world{}
	gone.add(100, "srv", -50).died = 5
	v = gone.watch(0, 20)
	assert.Empty(t, v.Children)
	assert.Empty(t, v.Units)
	assert.Empty(t, open(v, "L1"), "it had a server")
}

// An orphan that was below the host is told as that.
func TestAnOrphanThatWasBelow(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.add(99, "srv", -60).busy(0)
	p := w.add(100, "srv", -50)
	w.watch(0, 2)
	p.row.PPID, p.stdin.Holders = 1, nil
	v := w.watch(3, 20)
	assert.Equal(t, []string{"L2 deaf"}, kinds(v))
	assert.Contains(t, v.Breaches[0].Narrative, "It was below the host before.")
	assert.False(t, v.Children[1].Below)
}

// Two batches that were replaced may be two configurations: it takes three generations.
func TestTwoBatches(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 12 {
		w.add(100+i, "srv", -100-60*int64(i/6))
	}
	w.add(200, "srv", -10).busy(-10)
	v := w.watch(0, 20)
	assert.Equal(t, 3, v.Groups[0].Generations)
	assert.Empty(t, v.Breaches)
	assert.Contains(t, open(v, "L1"), "12 of 13 equal servers of srv were idle")
}

// What can't be read of a process is listed by column, with a zombie left out.
func TestUnread(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.add(100, "a", -50).unseen = []string{"syscall: denied", "exe: denied"}
	w.add(101, "b", -50).unseen = []string{"syscall: denied", "syscall: gone"}
	dead := w.add(102, "c", -50)
	dead.unseen, dead.row.State = []string{"exe: denied"}, record.StateZombie
	assert.Equal(t, []attach.Unread{{Column: "exe", Why: "denied", Of: 1}, {Column: "syscall", Why: "denied", Of: 2}, {Column: "syscall", Why: "gone", Of: 1}}, w.watch(0, 3).Unread)
}

// Dead pipe ends and pidfds are one number; a host that has ended is asked for none.
func TestHandlesOfBothKinds(t *testing.T) {
	t.Parallel()
	w := &world{}
	for i := range 5 {
		w.handles = &record.Handles{Dangling: 10 - i, PIDFDs: 2 * i}
		w.watch(int64(i)*5, int64(i)*5)
	}
	v := w.view()
	require.Equal(t, []string{"L5 fd-leak"}, kinds(v))
	assert.Contains(t, v.Breaches[0].Value, "14 pipe ends and pidfds of processes that are gone, 10 at first")
	assert.Equal(t, 6, v.Host.Handles.Dangling)
}
