package subject

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/text"
)

// Builtin lists the hosts that are part of the program; self is its path.
func Builtin(self string) []Spec { return lists.Map(catalogue.Hosts, specBy(self)) }

// Mutants lists the hosts that break one law each; self is the program's path.
func Mutants(self string) []Spec { return lists.Map(catalogue.Mutants, specBy(self)) }

// ForWindows lists the hosts that can be played on Windows alone; self is the program's path.
func ForWindows(self string) []Spec { return lists.Map(catalogue.WindowsHosts, specBy(self)) }

func specBy(self string) func(catalogue.Host) Spec {
	return func(h catalogue.Host) Spec {
		argv := []string{self, "host", h.Name}
		return Spec{Name: h.Name, About: h.About, Kind: record.KindDriver, Argv: argv, Profile: ProfileOf(h.Profile)}
	}
}

// ProfileOf is what a driver declares of itself as a run file has it.
func ProfileOf(p driver.Profile) record.Profile {
	return record.Profile{
		Settle: record.Duration(p.Settle), Confirm: record.Duration(p.Confirm), Stop: record.Duration(p.Stop), Ladder: p.Ladder,
		Resident: p.Resident, Scale: p.Scale, Spare: p.Spare, Idle: record.Duration(p.Idle), Renewal: record.Duration(p.Renewal),
		Servers: record.Sharing(p.Servers), Reconnects: record.Reconnects(p.Reconnects),
	}
}

// Lookup returns the built-in host of that name, or an error that names the one that was probably meant. A name with
// a path separator is the path of a program that is a driver.
func Lookup(self, name string) (Spec, error) {
	if files.HasFolder(name) {
		return program(name)
	}
	if h, ok := catalogue.Named(name); ok {
		return specBy(self)(h), nil
	}
	if IsFile(name) {
		return Spec{}, fmt.Errorf("no host %q; the driver of that name in this folder is ./%s", name, name)
	}
	names := lists.Map(catalogue.Hosts, func(h catalogue.Host) string { return h.Name })
	return Spec{}, Unknown(name, name, names, "and drivers by their path (./my-driver)")
}

// Unknown says that there is no host of that name: which one of names its part like may have meant, or else all of them, and what
// else there is.
func Unknown(name, like string, names []string, more string) error {
	if hint := text.DidYouMean(like, names); hint != "" {
		return fmt.Errorf("no host %q; %s", name, hint)
	}
	return fmt.Errorf("no host %q; there are %s, %s", name, strings.Join(names, ", "), more)
}

// IsFile says that a name without a path is that of a file in this folder: its path was meant.
func IsFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Placeholder stands for the fake server's command line in a command host's.
const Placeholder = "{{server}}"

// spaced is Placeholder as people write it who know other templates.
var spaced = regexp.MustCompile(`\{\{\s*server\s*\}\}`)

// FromCommand makes a host of a command line, which the bench only starts, watches and stops. An argument must hold Placeholder.
func FromCommand(argv []string) (Spec, error) {
	if len(argv) == 0 {
		return Spec{}, errors.New("no command")
	}
	if strings.TrimSpace(argv[0]) == "" {
		return Spec{}, errors.New("the first word of the command is empty: it must be a program")
	}
	argv = lists.Map(argv, func(arg string) string { return spaced.ReplaceAllLiteralString(arg, Placeholder) })
	if argv[0] == Placeholder {
		return Spec{}, errors.New(Placeholder + " cannot be the command itself: the host starts the server")
	}
	if !slices.ContainsFunc(argv[1:], func(arg string) bool { return strings.Contains(arg, Placeholder) }) {
		return Spec{}, errors.New("the command does not say where the fake server's command line goes: put " + Placeholder + " there")
	}
	return Spec{
		Name: filepath.Base(argv[0]), About: "a command line: started, watched, stopped with " + stoppedWith,
		Kind: record.KindCommand, Argv: argv, Profile: unknownProfile(),
	}, nil
}

// unknownProfile is for a host that declares nothing: the longest ladder of a published client's close is 15 s, and a
// host that takes longer is late, not leaking. Only a run that is not clean waits that long.
func unknownProfile() record.Profile {
	const longest = record.Duration(15 * time.Second)
	return record.Profile{
		Settle: longest, Confirm: longest, Stop: longest,
		Ladder: "not declared; the longest of any published client is assumed",
	}
}

// Expand puts the server's command line in the place of Placeholder: as several arguments where an argument is
// nothing else, or quoted for a shell and joined inside a longer argument.
func Expand(argv, server []string) []string {
	var out []string
	for _, arg := range argv {
		if arg == Placeholder {
			out = append(out, server...)
		} else {
			out = append(out, strings.ReplaceAll(arg, Placeholder, CommandLine(server)))
		}
	}
	return out
}
