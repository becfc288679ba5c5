package host

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// Placeholder stands for the fake server's command line in a command host's.
const Placeholder = "{{server}}"

// FromCommand makes a host of a command line, which the bench only starts,
// watches and stops. An argument must hold Placeholder.
func FromCommand(argv []string) (Spec, error) {
	if len(argv) == 0 {
		return Spec{}, errors.New("no command")
	}
	if argv[0] == Placeholder {
		return Spec{}, errors.New(Placeholder + " can't be the command itself: the host is what starts the server")
	}
	if !slices.ContainsFunc(argv[1:], func(arg string) bool { return strings.Contains(arg, Placeholder) }) {
		return Spec{}, errors.New("the command must say where the fake server's command line goes: write " + Placeholder + " there")
	}
	return Spec{
		Name: filepath.Base(argv[0]), About: "a command line: started, watched, stopped with SIGTERM",
		Kind: record.KindCommand, Argv: slices.Clone(argv), Profile: unknownProfile(),
	}, nil
}

// unknownProfile is for a host that declares nothing: the longest ladder of a
// published client's close is 15 s, and a host that takes longer is late, not
// leaking. Only a run that is not clean waits that long.
func unknownProfile() record.Profile {
	const longest = record.Duration(15 * time.Second)
	return record.Profile{
		Settle: longest, Confirm: longest, Stop: longest,
		Ladder: "not declared; the longest of any published client is assumed",
	}
}

// Expand puts the server's command line in the place of Placeholder: as
// several arguments where an argument is nothing else, or quoted for a shell
// and joined inside a longer argument.
func Expand(argv, server []string) []string {
	var out []string
	for _, arg := range argv {
		if arg == Placeholder {
			out = append(out, server...)
		} else {
			out = append(out, strings.ReplaceAll(arg, Placeholder, text.Shell(server)))
		}
	}
	return out
}
