// Package early has the parts that the program plays without any client library. A binary that imports it plays them before the heavy
// packages are initialised: a keeper then starts in 3 ms, and in 8 ms otherwise.
package early

import (
	"os"

	"github.com/leakbench/leakbench/internal/console"
	"github.com/leakbench/leakbench/internal/cpuload"
	"github.com/leakbench/leakbench/internal/observe/keeper"
)

// Go initialises a package as soon as its own imports are, in the order of import paths. It does so on the main goroutine, which is bound
// to its thread until all packages are initialised: a part is played on another one, as from main.
func init() {
	if part := partOf(os.Args); part != nil {
		go func() { os.Exit(part()) }()
		select {}
	}
}

// partOf is the part that the arguments ask for, nil where they ask for none.
func partOf(args []string) (part func() (status int)) {
	if len(args) < 2 {
		return nil
	}
	switch args[1] {
	case "keeper":
		return func() int { return keeper.Main(args[2:]) }
	case "bystander":
		return keeper.Bystander
	case console.Arg:
		return func() int { return console.Main(args[2:]) }
	case cpuload.Arg:
		return cpuload.Main
	case "placement":
		return func() int { return keeper.Placement(args[2:]) }
	}
	return nil
}
