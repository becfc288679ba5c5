//go:build !linux

package trickhost

import (
	"fmt"
	"os"
)

// Main says that the tricks are played on Linux only.
func Main(args []string) int {
	fmt.Fprintf(os.Stderr, "%v: the trick hosts run on Linux only\n", args)
	return 2
}
