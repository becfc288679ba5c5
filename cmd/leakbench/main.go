// Command leakbench is a crash-test lab for programs that launch MCP servers
// over stdio.
package main

import (
	"os"

	_ "github.com/leakbench/leakbench/fakeserver" // dispatches in its init
	"github.com/leakbench/leakbench/internal/stage/reexec"
)

func main() { os.Exit(run(os.Args)) }

// run is main without the exit, for the tests.
func run(args []string) int {
	if status, ok := reexec.Main(args); ok {
		return status
	}
	return execute(args[1:], os.Stdout, os.Stderr)
}
