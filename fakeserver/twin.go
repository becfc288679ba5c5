package fakeserver

import (
	"fmt"
	"os"
	"time"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

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
	time.AfterFunc(o.lifetime, func() { vanish(statusLifetime) })
	time.AfterFunc(idleAfter, dropPages)
	c := certificate(o)
	c.Role = birth.RoleTwin
	conn, _, err := birth.Dial(o.ledger, c)
	if err != nil {
		return statusNoBench
	}
	endWithBench(conn)
	return 0
}
