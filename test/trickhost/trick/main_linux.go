// Command trick is the process of a trick host, or of a child of one: `trick NAME ARGS...`. A program of its own starts as fast as a
// host does that is no test binary.
package main

import (
	"os"

	"github.com/leakbench/leakbench/test/trickhost"
)

func main() { os.Exit(trickhost.Main(os.Args[1:])) }
