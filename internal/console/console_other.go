//go:build !windows

package console

import (
	"fmt"
	"os"
)

// Main has nothing to do where there are signals.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "leakbench "+Arg+" is for Windows")
	return 2
}
