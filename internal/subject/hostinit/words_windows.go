package hostinit

import (
	"errors"
	"strings"

	"golang.org/x/sys/windows"
)

// exe ends the name of a program.
const exe = ".exe"

// words takes a command line apart as programs on Windows do: a backslash is part of a path, and only double quotes are quotes.
func words(line string) ([]string, error) {
	if strings.TrimSpace(line) == "" {
		return nil, nil
	}
	if strings.Count(strings.ReplaceAll(line, `\"`, ""), `"`)%2 != 0 {
		return nil, errors.New("a double quote is missing")
	}
	return windows.DecomposeCommandLine(line)
}
