//go:build !windows

package subject

import "github.com/leakbench/leakbench/internal/text"

// CommandLine is one text for a shell, which takes it apart as it was.
func CommandLine(args []string) string { return text.Shell(args) }

// stoppedWith is what asks a command line to stop.
const stoppedWith = "SIGTERM"
