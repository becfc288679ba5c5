package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// refProfile is what all reference hosts have in common. They say the same in
// their hello; a test holds the two together.
func refProfile(ladder string) record.Profile {
	return record.Profile{
		Settle:  record.Duration(1500 * time.Millisecond),
		Confirm: record.Duration(time.Second),
		Stop:    record.Duration(3 * time.Second),
		Ladder:  ladder,
		Scale:   "1/100 between retries and sweeps, 1/20 for what a server gets to answer or to end",
	}
}

const sdkLadder = "stdin close, 100ms, TERM, 150ms, KILL"

var builtin = []Spec{
	{
		Name: "exact", About: "own handle, own process group, finds what left it by a mark, waits for the exit: clean everywhere",
		Profile: refProfile("stdin close, 300ms, TERM to the group, 300ms, KILL to the group, wait; what left the group: TERM, 300ms, KILL"),
	},
	{
		Name: "naive", About: "never tears down a session that was superseded or failed (hermes-agent#11202)",
		Profile: refProfile(sdkLadder + "; nothing for a session that was superseded, failed or was cut off, nor at the host's own end"),
	},
	{
		Name: "reap-all", About: "kills every server it knows whenever one session ends, siblings included (hermes-agent#12430)",
		Profile: refProfile("TERM to every known server, 75ms, KILL"),
	},
	{
		Name: "orphan-set", About: "marks what a session leaves behind and sweeps it later (hermes-agent#16275 as it was meant)",
		Profile: refProfile(sdkLadder + "; what is left: TERM within 600ms or after the tick, 100ms, KILL"),
	},
	{
		Name: "thread-blind", About: "the same with an empty pid ledger: it asks the wrong thread for its children (hermes-agent#16275 as shipped on Linux)",
		Profile: refProfile(sdkLadder + "; what is left is not seen"),
	},
	{
		Name: "mcp-go", About: "the published mcp-go client, used the way its documentation says",
		Profile: record.Profile{
			Settle:  record.Duration(8500 * time.Millisecond),
			Confirm: record.Duration(5 * time.Second),
			Stop:    record.Duration(30 * time.Second),
			Ladder:  "stdin and stderr close, 2s, TERM, 3s, KILL, 3s; direct pid",
		},
	},
	{
		Name: "go-sdk", About: "the official Go SDK's client, used the way its README says",
		Profile: record.Profile{
			Settle:  record.Duration(15500 * time.Millisecond),
			Confirm: record.Duration(5 * time.Second),
			Stop:    record.Duration(30 * time.Second),
			Ladder:  "waits for the calls in flight, stdin close, 5s, TERM, 5s, KILL, 5s; direct pid",
		},
	},
}

// mutants are exact with one small flaw each: they show that the bench names
// what is wrong, and nothing else.
var mutants = []struct{ name, about string }{
	{"mutant-l1", "exact, but a connection that is superseded is forgotten"},
	{"mutant-l1-kept", "exact, but the server of a closed session is kept, and its profile does not say so"},
	{"mutant-l2", "exact, but nothing ends its servers when it is killed"},
	{"mutant-l2-term", "exact, but on SIGTERM it ends at once and leaves its servers"},
	{"mutant-l3", "exact, but with a superseded server it kills the newest other one"},
	{"mutant-l3-command", "exact, but it also kills whatever has the command line of a server that it has ended"},
	{"mutant-l3-group", "exact, but its servers are in its own process group, which it signals in the end"},
	{"mutant-l3-recycled", "exact, but it signals the pids of servers again that it has waited for"},
	{"mutant-l4", "exact, but it waits for no exit"},
	{"mutant-l5", "exact, but its end of each server's stdout stays open"},
	{"mutant-l6", "exact, but it keeps 2 MiB for each connection that has ended"},
	{"mutant-l7", "exact, but it makes and drops three connections before the one it keeps"},
	{"mutant-l8", "exact, but it does not end once it has ended its servers"},
	{"mutant-l8-close", "exact, but a close returns 2.5s after it is done"},
	{"mutant-l9", "exact, but it kills its servers at once"},
	{"mutant-l9-term", "exact, but SIGTERM comes before the end of stdin"},
	{"mutant-l9-hasty", "exact, but SIGKILL comes 30ms after the end of stdin"},
	{"mutant-l10", "exact, but a session that could not be opened once is never opened again"},
}

// Mutants lists the hosts that break one law each; self is the program's path.
func Mutants(self string) []Spec {
	specs := make([]Spec, len(mutants))
	for i, m := range mutants {
		specs[i] = Spec{
			Name: m.name, About: m.about, Kind: record.KindDriver, Argv: []string{self, "host", m.name},
			Profile: builtin[0].Profile,
		}
	}
	return specs
}

// Builtin lists the hosts that are part of the program; self is its path.
func Builtin(self string) []Spec {
	specs := make([]Spec, len(builtin))
	for i, s := range builtin {
		s.Kind = record.KindDriver
		s.Argv = []string{self, "host", s.Name}
		specs[i] = s
	}
	return specs
}

// Lookup returns the built-in host of that name, or an error that names the
// one that was probably meant. A name with a path separator is the path of a
// program that is a driver.
func Lookup(self, name string) (Spec, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return program(name)
	}
	var names []string
	for _, s := range Builtin(self) {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	for _, s := range Mutants(self) {
		if s.Name == name {
			return s, nil
		}
	}
	if hint := text.DidYouMean(name, names); hint != "" {
		return Spec{}, fmt.Errorf("no host %q; %s", name, hint)
	}
	return Spec{}, fmt.Errorf("no host %q; there are %s, and drivers by their path (./my-driver)", name, strings.Join(names, ", "))
}

// program is a driver of somebody else's.
func program(path string) (Spec, error) {
	given := path
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = exec.LookPath(path) // also says whether it may be executed
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Spec{}, fmt.Errorf("no driver %q: %w", given, fs.ErrNotExist)
	}
	if err != nil {
		return Spec{}, fmt.Errorf("%q can't be started as a driver: %w", given, err)
	}
	return Spec{
		Name: filepath.Base(path), About: "a driver program (docs/driver-protocol.md)",
		Kind: record.KindDriver, Argv: []string{path}, Profile: unknownProfile(),
	}, nil
}
