package fakeserver_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// row is what /proc says of a process.
type row struct {
	pid              int
	comm, state      string
	ppid, pgid, sid  int
	args             []string
	stdin, out, errs string // what fds 0, 1 and 2 are
}

// rowOf is the zero row for a process that is not there.
func rowOf(pid int) row {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return row{}
	}
	text := string(stat)
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	fields := strings.Fields(text[end+1:])
	r := row{pid: pid, comm: text[open+1 : end], state: fields[0]}
	r.ppid, _ = strconv.Atoi(fields[1])
	r.pgid, _ = strconv.Atoi(fields[2])
	r.sid, _ = strconv.Atoi(fields[3])
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	r.args = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	for fd, into := range []*string{&r.stdin, &r.out, &r.errs} {
		*into, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	}
	return r
}

// table is every process for which ok holds.
func table(t *testing.T, ok func(row) bool) []row {
	t.Helper()
	needsProc(t)
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	var all []row
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if r := rowOf(pid); r.pid != 0 && ok(r) {
				all = append(all, r)
			}
		}
	}
	return all
}

func needsProc(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("looks into /proc")
	}
}

func childrenOf(t *testing.T, pid int) []row {
	t.Helper()
	return table(t, func(r row) bool { return r.ppid == pid })
}

// helpersOf are the living helper processes of a bench.
func helpersOf(t *testing.T, b *lab) []row {
	t.Helper()
	return table(t, func(r row) bool {
		return len(r.args) > 1 && r.args[1] == "fakehelper" && slices.Contains(r.args, b.ledger.Path()) && r.state != "Z"
	})
}

func awaitRows(t *testing.T, what string, n int, look func() []row) []row {
	t.Helper()
	var rows []row
	require.Eventually(t, func() bool { rows = look(); return len(rows) == n }, patience, 5*time.Millisecond, "%d %s", n, what)
	return rows
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool { r := rowOf(pid); return r.pid == 0 || r.state == "Z" }, patience, 5*time.Millisecond, "pid %d", pid)
}

// behind launches what a host is given for a server whose script has a
// launcher, in a process group of its own. The second result is the server.
func (b *lab) behind(t *testing.T, script fakeserver.Script, wrap ...string) (*process, record.Event) {
	t.Helper()
	needsProc(t)
	before := len(b.births())
	argv := append(wrap, script.Argv(self(t), b.ledger.Path(), "run-1", "s", "main")...)
	if len(wrap) == 0 {
		argv = argv[1:]
	}
	p := startAs(t, func(cmd *exec.Cmd) { inOwnGroup(cmd); unheard(cmd) }, argv...)
	b.await("birth", func(record.Event) bool { return len(b.births()) > before })
	return p, b.births()[before]
}

// unheard gives a process no stderr: who outlives it would hold the test's end
// of it, and so the test.
func unheard(cmd *exec.Cmd) { cmd.Stderr = nil }

func (b *lab) births() []record.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []record.Event
	for _, e := range b.events {
		if e.Kind == record.Born {
			all = append(all, e)
		}
	}
	return all
}

func (b *lab) beside(name string) string { return filepath.Join(filepath.Dir(b.ledger.Path()), name) }
