//go:build !windows

package hostinit

import "github.com/mattn/go-shellwords"

// exe ends the name of a program.
const exe = ""

// words takes a command line apart.
func words(line string) ([]string, error) { return shellwords.Parse(line) }
