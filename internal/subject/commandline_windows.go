package subject

import (
	"strings"
	"syscall"

	"github.com/leakbench/leakbench/internal/lists"
)

// CommandLine is one text for cmd.exe, which the program that it starts takes apart as it was (CommandLineToArgvW).
func CommandLine(args []string) string { return strings.Join(lists.Map(args, syscall.EscapeArg), " ") }

// stoppedWith is what asks a command line to stop.
const stoppedWith = "CTRL_C"
