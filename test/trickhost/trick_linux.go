package trickhost

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Prefix is what the names of all trick hosts begin with.
const Prefix = "trick-"

// Verdicts of a run.
const (
	Clean        = "clean"
	Leak         = "leak"
	Inconclusive = "inconclusive"
)

// Trick is a host with one flaw, or one that looks as if it had one, in a
// scenario, and the verdict that is right.
type Trick struct {
	Name     string // without Prefix
	Group    int    // of the kinds of mistakes that a judge can make
	About    string
	Scenario string // a built-in one, or a file below testdata/tricks
	Want     Want
	// Today is what the binary answers that the trick was found with, where that
	// is wrong at times: the outcome, laws, kinds and (doubts), between bars.
	Today string
	// Busy has even a single play take place beside eight busy processes.
	Busy bool
	Slow bool // takes longer than half a minute: played in a series only
	// Command is a host that is not driven, instead of one of this package:
	// SELF stands for the program of the tricks.
	Command []string
	// HostFile has the command in a host file, with these lines besides.
	HostFile string
	Builtin  string // a host of the program's instead
	Root     bool   // it needs the rights of root

	flaw  func() flaw
	below string // what stands above the host: "worker", "shell" or nothing
}

// Want is the right verdict.
type Want struct {
	Outcome string
	// Doubt says that inconclusive is right, too.
	Doubt bool
	Laws  []string // exactly these have findings,
	May   []string // and these may have some
	Kinds []string // exactly these, where any are given
	// Says are words that a finding or a doubt must have, Never such as none may.
	Says, Never []string
	Findings    int           // how many findings there must be; 0 is any number
	Servers     int           // how many the first finding must count; 0 is any number
	Code        int           // the exit status; 0 is any
	Within      time.Duration // how long the run may take; 0 is as long as it likes
}

func innocent() Want             { return Want{Outcome: Clean} }
func leak(laws ...string) Want   { return Want{Outcome: Leak, Laws: laws} }
func warned(laws ...string) Want { return Want{Outcome: Clean, Laws: laws} }

func (w Want) orDoubt() Want               { w.Doubt = true; return w }
func (w Want) kinds(all ...string) Want    { w.Kinds = all; return w }
func (w Want) says(words ...string) Want   { w.Says = words; return w }
func (w Want) never(words ...string) Want  { w.Never = words; return w }
func (w Want) findings(n int) Want         { w.Findings = n; return w }
func (w Want) may(laws ...string) Want     { w.May = laws; return w }
func (w Want) within(d time.Duration) Want { w.Within = d; return w }
func (w Want) code(n int) Want             { w.Code = n; return w }
func (w Want) servers(n int) Want          { w.Servers = n; return w }
func same(f flaw) func() flaw              { return func() flaw { return f } }
func trick(all ...[]Trick) []Trick         { return slices.Concat(all...) }

// All is the table of tricks, by group.
func All() []Trick {
	return trick(
		healthy, slow, nonServers, liveKills, sweeps, ghosts, unseen, restarts, probes, gaveUp, manners, commands, schedules, names, bench,
	)
}

// Names lists the tricks, as arguments of the program.
func Names() []string {
	var names []string
	for _, t := range All() {
		if name := Prefix + t.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Main is the process of a trick host, or of a child of one.
func Main(args []string) int {
	switch {
	case len(args) == 0:
		fmt.Fprintf(os.Stderr, "no trick host is named; there are: %s\n", strings.Join(Names(), ", "))
		return 2
	case args[0] == Prefix+"child":
		return child(args[1:])
	case args[0] == Prefix+"command" && len(args) > 1:
		return command(args[1:])
	}
	for _, t := range All() {
		if Prefix+t.Name == args[0] && t.flaw != nil {
			if t.below != "" && len(args) == 1 {
				return below(t.below, args[0])
			}
			return newHost(t.flaw()).run(args[0])
		}
	}
	fmt.Fprintf(os.Stderr, "no trick host %q; there are: %s\n", args[0], strings.Join(Names(), ", "))
	return 2
}

// healthy is what all tricks differ from, in each scenario that one of them
// uses.
var healthy = func() []Trick {
	var all []Trick
	for _, scenario := range []string{
		"sessions.yaml", "reconnect.yaml", "jobs.yaml", "ghosts.yaml", "crash.yaml", "cycles.yaml", "polite.yaml",
		"second-refused.yaml", "restarted.yaml", "idle.yaml", "spin-on-eof.yaml", "forgotten.yaml",
		"cancelled.yaml", "jobs-in-time.yaml", "deaf-servers.yaml", "restarted-twice.yaml",
	} {
		all = append(all, Trick{Name: "healthy", About: "does nothing wrong", Scenario: scenario, Want: innocent(), flaw: same(flaw{})})
	}
	for _, scenario := range []string{"storm", "cron", "reload", "grow", "forget", "race", "checks"} {
		all = append(all, Trick{
			Name: "healthy-retries", About: "does nothing wrong, and tries again", Scenario: scenario,
			Want: innocent(), flaw: same(flaw{retries: 4}),
		})
	}
	return all
}()
