// Package reexec is what the program turns into when it executes itself again: the keeper, and the drivers of the built-in hosts.
// What needs no client library is dispatched before the heavy packages are initialised: the fake server in the init of package fakeserver,
// the keeper and others in that of package early. A test binary that calls Main from TestMain can therefore play every part in a run,
// without a build.
package reexec

import (
	"fmt"
	"os"
	"strings"

	"github.com/leakbench/leakbench/hosts/gosdk"
	"github.com/leakbench/leakbench/hosts/mcpgo"
	_ "github.com/leakbench/leakbench/internal/reexec/early" // dispatches in its init
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/subject/gateway"
	"github.com/leakbench/leakbench/internal/subject/oneshot"
	"github.com/leakbench/leakbench/internal/subject/refhost"
)

// Main runs the process that the arguments ask for and returns its exit status. ok is false where they ask for none.
func Main(args []string) (status int, ok bool) {
	if len(args) < 2 || args[1] != "host" {
		return 0, false
	}
	return hostMain(args[2:]), true
}

func hostMain(args []string) int {
	switch {
	case len(args) == 1 && args[0] == "oneshot":
		return oneshot.Main()
	case len(args) == 1 && args[0] == "gateway-clients":
		return gateway.Main()
	case len(args) == 2 && args[0] == refhost.GuardArg:
		return refhost.Guard(args[1])
	}
	if h, ok := catalogue.Named(strings.Join(args, " ")); ok {
		return builtinMain(h)
	}
	fmt.Fprintf(os.Stderr, "leakbench host NAME runs the driver of a built-in host: %v, mcp-go, go-sdk\n", refhost.Names())
	return 2
}

func builtinMain(h catalogue.Host) int {
	switch h.Name {
	case "mcp-go":
		return mcpgo.Main(h.Profile)
	case "go-sdk":
		return gosdk.Main(h.Profile)
	}
	return refhost.Main(h)
}
