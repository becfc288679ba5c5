package fakeserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

// The processes beside a server are the same binary under other names, since
// they are none of the servers that the ledger knows.
const (
	helperCommand = "fakehelper"
	detachCommand = "fakedetach"

	helperExits = "exit" // a helper that does not stay
)

// helper is the command line of a helper process.
func (o options) helper(kind string) []string {
	return []string{
		os.Args[0], helperCommand, kind, "--ledger", o.ledger, "--run", o.run, "--label", o.label, "--lifetime", o.lifetime.String(),
	}
}

// helperMain is a helper. It holds a connection to the ledger, on which it is
// no server, only to end when the bench does; by hand, without a ledger, its
// lifetime ends it.
func helperMain(args []string) int {
	if len(args) == 0 || args[0] == helperExits {
		return 0
	}
	setName("helper-" + args[0])
	o, err := parseFlags(args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "leakbench %s: %v\n", helperCommand, err)
		return statusUsage
	}
	if o.ledger == "" {
		o.endInTime()
		select {}
	}
	return o.attend(birth.RoleHelper)
}

// endInTime ends the process at its lifetime. It is none that answers a host,
// and needs few of its pages.
func (o options) endInTime() {
	time.AfterFunc(o.lifetime, func() { vanish(statusLifetime) })
	time.AfterFunc(idleAfter, dropPages)
}

// join reports to the bench as something else than a server.
func (o options) join(role string) (*birth.Conn, birth.Welcome, error) {
	o.endInTime()
	c := certificate(o)
	c.Role = role
	return birth.Dial(o.ledger, c)
}

// attend is there until the bench is gone.
func (o options) attend(role string) int {
	conn, _, err := o.join(role)
	if err != nil {
		return statusNoBench
	}
	endWithBench(conn)
	return 0
}

// endWithBench returns never: when the bench is gone, this process is.
func endWithBench(conn *birth.Conn) {
	for range conn.Orders() {
	}
	vanish(statusBenchGone)
}

// place is where the servers of a label keep what they share: beside the
// ledger's socket, which the bench removes, and by hand in the folder for
// temporary files.
func (o options) place(what string) string {
	dir := os.TempDir()
	if o.ledger != "" {
		dir = filepath.Dir(o.ledger)
	}
	label := strings.Map(func(r rune) rune {
		if r == filepath.Separator || r == '.' || strings.ContainsRune(`*?[\`, r) {
			return '_'
		}
		return r
	}, o.label)
	return filepath.Join(dir, "leakbench-"+what+"-"+label)
}

// TwinMark is the variable in the environment that makes of a server's command
// line a twin: a process that looks like the server to whoever goes by command
// lines, and is none of the host's. It speaks to nobody and catches no signal,
// so that whoever signals it ends it. No host is started with it.
const TwinMark = "LEAKBENCH_TWIN"

// twinMain is a twin. It ends when the bench does, or at its lifetime.
func twinMain(args []string) int {
	o, err := parse(args)
	if err != nil || o.ledger == "" {
		fmt.Fprintf(os.Stderr, "leakbench %s: a twin is part of leakbench run: %v\n", command, err)
		return statusUsage
	}
	return o.attend(birth.RoleTwin)
}
