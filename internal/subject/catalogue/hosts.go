// Package catalogue is the one table of the hosts that are part of the program: their names, what they say about themselves, and
// what each of them breaks. It is leakbench's own, and data only: package host makes specs of it, package refhost the processes,
// and the tests, the selftest and the README's table hold it against what the bench finds.
//
//   - Hosts are those that `leakbench list hosts` has. Matrix says which laws
//     each of them breaks in each scenario, as errors.
//   - Mutants are the host "exact" with one Flaw each. Host.Shows says in which
//     scenario which law and kind are found, Host.Clean where nothing is.
//   - Reconnecting are hosts that replace a lost server without being asked.
//
// A new reference host is a row of Hosts, a column of Matrix and a design in package refhost. A new mutant is a Flaw,
// a row of Mutants and what package refhost does with it.
package catalogue

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/driver"
)

// Host is a host that is part of the program.
type Host struct {
	Name    string
	About   string // one line
	Profile driver.Profile

	Like string // of one of Reconnecting: the host that it is otherwise

	// The rest is a mutant's.

	Flaw  Flaw
	Shows []Finding // what the flaw comes to, and nothing else
	Clean string    // a scenario in which it comes to nothing; "": none is tried
	Unix  bool      // the flaw needs signals, process groups, zombies or /proc
}

// Finding is the one thing that is found of a mutant in a scenario.
type Finding struct{ Scenario, Law, Kind string }

// Healthy is the host that breaks no law.
const Healthy = "exact"

// Named returns the host or the mutant of that name.
func Named(name string) (Host, bool) {
	for _, all := range [][]Host{Hosts, Mutants, WindowsHosts, Reconnecting} {
		if i := slices.IndexFunc(all, func(h Host) bool { return h.Name == name }); i >= 0 {
			return all[i], true
		}
	}
	return Host{}, false
}

// reference is the profile of the reference hosts, which differ in their ladder.
func reference(ladder string) driver.Profile {
	return driver.Profile{
		Settle:  driver.Duration(1500 * time.Millisecond),
		Confirm: driver.Duration(time.Second),
		Stop:    driver.Duration(3 * time.Second),
		Ladder:  ladder,
		Scale:   "1/100 between retries and sweeps, 1/20 for what a server gets to answer or to end",
	}
}

// The ladders' delays are constants of package refhost, and a test holds the texts to them.
const (
	exactLadder = "stdin close, 300 ms, TERM to the group, 300 ms, KILL to the group, wait; what left the group: TERM, 300 ms, KILL"
	sdkLadder   = "stdin close, 100 ms, TERM, 150 ms, KILL"
)

// Hosts are in the order in which they are listed.
var Hosts = []Host{
	{
		Name: Healthy, About: "owns each server by handle and process group, finds what left the group, waits for each exit: clean everywhere",
		Profile: reference(exactLadder),
	},
	{
		Name: "naive", About: "never tears down a session that was superseded or failed (hermes-agent#11202)",
		Profile: reference(sdkLadder + "; nothing for a session that was superseded, failed or was cut off, nor at the host's own end"),
	},
	{
		Name: "reap-all", About: "kills every server it knows whenever one session ends, siblings included (hermes-agent#12430)",
		Profile: reference("TERM to every known server, 75 ms, KILL"),
	},
	{
		Name: "orphan-set", About: "marks what a session leaves behind and sweeps it later (hermes-agent#16275 as intended)",
		Profile: reference(sdkLadder + "; what is left: TERM within 600 ms or after the tick, 100 ms, KILL"),
	},
	{
		Name: "thread-blind",
		About: "like orphan-set, but asks the wrong thread for its children, so that its list of PIDs stays empty " +
			"(hermes-agent#16275 as shipped on Linux)",
		Profile: reference(sdkLadder + "; what is left is not seen"),
	},
	{
		Name: "mcp-go", About: "the published mcp-go client, used the way its documentation says",
		Profile: driver.Profile{
			// 2 + 3 + 3 s, the constants of its Close (client/transport/stdio.go), and a little for the machine.
			Settle: driver.Duration(8500 * time.Millisecond),
			// The longest delay outside Close that can end a server: the time limit of the probe for the modern era,
			// 5 s, after which a connect that has failed is closed.
			Confirm: driver.Duration(5 * time.Second),
			// One session after the other. A server that is deaf to everything takes 5 s: six of them.
			Stop:   driver.Duration(30 * time.Second),
			Ladder: "stdin and stderr close, 2 s, TERM, 3 s, KILL, 3 s; direct pid",
		},
	},
	{
		Name: "go-sdk", About: "the official Go SDK's client, used the way its README says",
		Profile: driver.Profile{
			// 5 + 5 + 5 s, the TerminateDuration of mcp/cmd.go between each two rungs, and a little for the machine.
			Settle: driver.Duration(15500 * time.Millisecond),
			// There is no time limit outside Close: a call has none but its context's.
			Confirm: driver.Duration(5 * time.Second),
			// One session after the other. A server that is deaf to everything takes 10 s: three of them.
			Stop:   driver.Duration(30 * time.Second),
			Ladder: "waits for the calls in flight, stdin close, 5 s, TERM, 5 s, KILL, 5 s; direct pid",
		},
	},
}
