package terminal_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/terminal"
)

// watched is a watch of a host with a server that has a finding, and a zombie.
func watched(o terminal.Options) string {
	server := &attach.Child{
		Process: record.Process{Identity: record.Identity{PID: 100, Start: 1}, SID: 77, RSS: 1 << 20, State: record.StateSleeping, Comm: "srv"},
		Syscall: "read(0)", Cgroup: "/a/group/of/its/own", Stdin: attach.HeldByHost, StdinHolder: &record.Holder{Identity: record.Identity{PID: 10}, FD: 7},
		Role: attach.RoleServer, Below: true, Kind: "superseded", Facts: &record.Evidence{Process: record.Process{FDs: 12}}, FactsAge: record.Duration(3 * time.Second),
	}
	dead := &attach.Child{Process: record.Process{Identity: record.Identity{PID: 101, Start: 2}, SID: 77, State: record.StateZombie, Comm: "old"}, Role: attach.RoleZombie, Below: true}
	v := &attach.View{Children: []*attach.Child{server, dead}, Looks: 3, From: 0, To: int64(2 * time.Second)}
	var b bytes.Buffer
	terminal.Watched(&b, v, 0, o)
	return b.String()
}

func head(table string) []string {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "  PID ") {
			return strings.Fields(strings.NewReplacer("WAITS IN", "WAITS_IN", "STDIN HELD BY", "STDIN_HELD_BY").Replace(line))
		}
	}
	return nil
}

// TestAllColumns: a file has room for all columns, and -v shows all. A window that is too narrow loses the least important ones, and says which.
func TestAllColumns(t *testing.T) {
	t.Parallel()
	all := strings.Fields(strings.NewReplacer("WAITS IN", "WAITS_IN", "STDIN HELD BY", "STDIN_HELD_BY").Replace(strings.Join(model.WatchedHead, " ")))
	without := func(names ...string) (rest []string) {
		for _, name := range all {
			if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
				rest = append(rest, name)
			}
		}
		return rest
	}
	all = without("GEN") // it belongs to no launch
	assert.Equal(t, all, head(watched(terminal.Options{})))
	assert.Equal(t, all, head(watched(terminal.Options{Width: 60, Window: true, Verbose: true})))
	assert.Equal(t, all, head(watched(terminal.Options{Width: 200, Window: true})))
	narrow := watched(terminal.Options{Width: 100, Window: true})
	assert.Equal(t, without("CGROUP", "SESSION"), head(narrow))
	assert.Contains(t, narrow, "2 columns hidden (CGROUP, SESSION); use -v to show all")
	assert.NotContains(t, watched(terminal.Options{}), "hidden")
}

// TestAZombiesRow: of what is dead nothing is read, so that nothing is told.
func TestAZombiesRow(t *testing.T) {
	t.Parallel()
	text := watched(terminal.Options{})
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  101 ") {
			assert.Equal(t, strings.Fields("101 0 s 0 - Z - - zombie old - 77 - -"), strings.Fields(line))
			return
		}
	}
	require.Fail(t, "it has no row", text)
}
