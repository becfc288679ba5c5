// Package doctor tells what this machine and this user can see of a run and do to it. It tries each thing rather than
// to conclude it from a version: a container, a mount option or a policy takes away what the kernel has.
//
// Look gathers facts, Diagnose turns them into lines; only Look touches the machine.
package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/record"
)

// State is what a check comes to.
type State string

// The states. Weaker means that runs work and see or do less; Missing that something is not there at all.
const (
	OK      State = "ok"
	Weaker  State = "weaker"
	Missing State = "missing"
)

// Check is one line.
type Check struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Found string `json:"found"`
	Means string `json:"means,omitempty"` // the consequence, where it is not ok
	Do    string `json:"do,omitempty"`    // what to do about it
}

// Facts are what was found.
type Facts struct {
	System  record.System
	Witness record.Witness // as a real run had it; as far as known where that failed
	// By check: why something does not work ("": it does), and what was not tried on this system.
	Fails   map[string]string
	Untried map[string]bool

	HiddenAdvice     string // what helps where /proc does not show all
	Own, Other       Sight
	Yama             string // ptrace_scope; "" where there is no Yama
	Files, Processes Limit
	PIDMax           int
	TicksPerSecond   int
	Init             Init
	Sockets          Sockets
	Disk             Disk
	Browser          Browser
	Peers            []Peer
	Lacks            []Lack // with one nothing is started, and there is no trial
	Trial            Trial
}

// Sight is what could be read of a process.
type Sight struct {
	Who    string   // "pid 1 (systemd) of user 0"
	Unseen []string // empty: everything
}

// Limit is a resource limit; 0 is unlimited.
type Limit struct{ Soft, Hard uint64 }

// Init is the process that gets what nobody adopts.
type Init struct {
	Name      string
	Zombies   int  // below it, for longer than it can take to reap one
	Container bool // the machine says so itself
}

// Sockets is where a run's sockets would be.
type Sockets struct {
	Wanted, Dir string // $TMPDIR's folder, and the one that was taken
	Length, Max int    // of the longest path
	Error       string
}

// Disk is where runs are saved.
type Disk struct {
	Dir   string
	Free  uint64
	Error string
	Other string // how another folder is chosen
}

// Browser is what `leakbench open` opens a report with.
type Browser struct{ Command, Error string }

// Peer is a program that hosts are written for.
type Peer struct{ Name, Path, Version, Error string }

// Trial is a real run.
type Trial struct {
	Took    time.Duration
	Outcome string
	Why     string // where the outcome is not clean
	Error   string
}

// Works says that runs work here.
func Works(checks []Check) bool {
	return slices.ContainsFunc(checks, func(c Check) bool { return c.Name == trialName && c.State != Missing })
}

const trialName = "run"

// Diagnose says what the facts mean, one line for each thing that matters.
func Diagnose(f Facts) []Check {
	checks := []Check{
		ok("system", fmt.Sprintf("%s/%s, kernel %s, %d CPUs, user %d", f.System.OS, f.System.Arch, f.System.Kernel, f.System.CPUs, f.System.UID)),
	}
	for _, c := range slices.Concat(f.witnesses(), f.spaces(), f.room()) {
		if !f.Untried[c.Name] {
			checks = append(checks, c)
		}
	}
	checks = append(checks, f.Browser.check())
	for _, p := range f.Peers {
		checks = append(checks, p.check())
	}
	for _, l := range f.Lacks {
		missing := Check{l.Name, Missing, l.Found, "no run is possible", l.Do}
		if i := slices.IndexFunc(checks, func(c Check) bool { return c.Name == l.Name }); i >= 0 {
			checks[i] = missing
		} else {
			checks = append(checks, missing)
		}
	}
	return append(checks, f.Trial.check(f.Lacks))
}

func ok(name, found string) Check { return Check{Name: name, State: OK, Found: found} }

// but is the check with what follows where something is so.
func (c Check) but(so bool, state State, means, do string) Check {
	if so {
		c.State, c.Means, c.Do = state, means, do
	}
	return c
}

// works is ok where err is empty, else what its absence means.
func works(name, err, fine string, state State, means, do string) Check {
	return ok(name, cmp.Or(err, fine)).but(err != "", state, means, do)
}

// works is the same for what was noted by the name of the check.
func (f Facts) works(name, fine string, state State, means, do string) Check {
	return works(name, f.Fails[name], fine, state, means, do)
}

// witnesses are the checks of what a run can see.
func (f Facts) witnesses() []Check {
	census := ok("census", f.Witness.Census).but(f.Witness.Census != "procfs", Weaker,
		strings.Join(f.Witness.Weak, "; "), "Linux is the full bench")
	unattested, orphans, advice := "", "", "run as root, or grant CAP_SYS_PTRACE"
	if f.Yama == "2" || f.Yama == "3" {
		advice = "kernel.yama.ptrace_scope is " + f.Yama + ": set it to 1, or run as root"
	}
	if f.Witness.Ledger == "none" || f.Witness.Ledger == "" {
		unattested = "pids are not attested"
	}
	if !f.Witness.Subreaper {
		orphans = "orphans are not adopted"
	}
	return []Check{
		works("ledger", unattested, "pids attested by "+f.Witness.Ledger, Weaker, "a server's own word for its pid must do", ""), census,
		works("subreaper", orphans, "orphans of a host are reparented to the bench", Weaker,
			"a server that leaves the host's process tree is seen by the ledger alone, a helper of it by nobody",
			"Linux 3.4 has it; a seccomp filter may forbid prctl(PR_SET_CHILD_SUBREAPER)"),
		f.works("pidfd", "signals go through a handle, deaths are announced", Weaker,
			"a pid that is reused within microseconds of its check could be hit; deaths are polled for",
			"Linux 5.3 has it; a seccomp filter may forbid pidfd_open"),
		f.works("sock-diag", "the other end of a socketpair is found", Weaker,
			"who holds the other end of a socketpair (Node and Bun hosts use them for stdio) can't be seen",
			"load the kernel module unix_diag, or allow AF_NETLINK"),
		f.cgroup(),
		f.works("proc", "all processes can be seen", Weaker,
			"the census lacks processes: one that changes its user, or all", f.HiddenAdvice),
		f.Own.check("evidence", "of a server of a run everything can be read", Weaker,
			"the evidence on a survivor lacks it: some kinds of leaks are reported as plain orphans", advice),
		f.Other.check("others", "of processes of other users, too, everything can be read", Weaker,
			"the evidence on a process that changed its user lacks it", "run as root, or grant CAP_SYS_PTRACE, if your host starts such ones"),
	}
}

// cgroup tells why no cgroup can be made, which is nearly always delegation.
func (f Facts) cgroup() Check {
	c := f.works("cgroup", "a run gets a cgroup v2 of its own, which can be killed as a whole", Weaker,
		"the last sweep finds processes by looking: one that forks faster than it is looked for could outlive a run", "")
	switch {
	case c.State == OK:
	case strings.Contains(c.Found, "no cgroup v2"):
		c.Do = "mount cgroup2, or boot with systemd.unified_cgroup_hierarchy=1"
	case strings.Contains(c.Found, "read-only"):
		c.Do = "the container has /sys/fs/cgroup read-only: start it with its own writable cgroup namespace"
	case strings.Contains(c.Found, "cgroup.kill"):
		c.Do = "cgroup.kill needs Linux 5.14"
	default:
		c.Do = "have a cgroup delegated: systemd-run --user --scope -p Delegate=yes leakbench run ..."
	}
	return c
}

func (s Sight) check(name, fine string, state State, means, do string) Check {
	c := works(name, strings.Join(s.Unseen, "; "), fine, state, means, do)
	if s.Who != "" {
		c.Found = s.Who + ": " + c.Found
	}
	return c
}

// spaces are the checks of what scenarios with namespaces need.
func (f Facts) spaces() []Check {
	const skipped = "scenarios with a host as PID 1 are skipped, with the reason"
	return []Check{
		f.works("user-namespace", "can be made", Missing, skipped,
			"allow it: kernel.unprivileged_userns_clone=1, user.max_user_namespaces > 0, kernel.apparmor_restrict_unprivileged_userns=0"),
		f.works("pid-namespace", "can be made", Missing, skipped, "it needs a user namespace, or root"),
		f.works("ns-last-pid", "the next pid can be chosen in a pid namespace", Missing,
			"pid reuse can't be staged: its scenarios are skipped, with the reason",
			"it needs a pid namespace and a writable /proc/sys/kernel/ns_last_pid"),
	}
}

const (
	fewFiles     = 1024
	fewProcesses = 512
	fewPIDs      = 4096
	littleDisk   = 1 << 30
	noDisk       = 64 << 20
)

// room are the checks of what a run needs room for.
func (f Facts) room() []Check {
	ticks := "not known"
	if n := f.TicksPerSecond; n > 0 {
		ticks = fmt.Sprintf("%d a second: start and CPU times are exact to %s", n, duration.Text(time.Second/time.Duration(n)))
	}
	return []Check{
		f.Files.check("files", "descriptors", fewFiles,
			"the bench holds one for each living server: a storm of many may fail", "ulimit -n 65536"),
		f.Processes.check("processes", "processes", fewProcesses,
			"the limit counts all processes of the user: a storm may run into it, and the host's failures are then not its own", "ulimit -u 8192"),
		ok("pid-max", fmt.Sprint(f.PIDMax)).but(f.PIDMax > 0 && f.PIDMax < fewPIDs, Weaker,
			"pids are reused quickly: a host that signals by pid alone hits strangers", "sysctl kernel.pid_max=4194304"),
		ok("clock-ticks", ticks), f.Init.check(), f.Sockets.check(), f.Disk.check(),
		f.works("packages", "there is a folder for the packages of hosts", Weaker,
			"published hosts can't be installed or run; nothing else needs it", "set HOME, or LEAKBENCH_HOSTS_DIR"),
	}
}

func (l Limit) check(name, what string, few uint64, means, do string) Check {
	many := "any number of"
	if l.Soft > 0 {
		many = fmt.Sprint(l.Soft)
	}
	if l.Hard > 0 && l.Hard < few {
		do = fmt.Sprintf("have the hard limit (%d) raised; then %s", l.Hard, do)
	}
	return ok(name, many+" "+what).but(l.Soft > 0 && l.Soft < few, Weaker, means, do)
}

func (i Init) check() Check {
	found := i.Name
	if i.Container {
		found += ", in a container"
	}
	if i.Zombies > 0 {
		found = fmt.Sprintf("%s, which has not reaped %d dead processes", found, i.Zombies)
	}
	return ok("pid-1", found).but(i.Zombies > 0, Weaker,
		"runs are not disturbed, their orphans are reparented to the bench; outside of runs the orphans of your host stay as zombies",
		"start the container with an init: docker run --init")
}

func (s Sockets) check() Check {
	c := works("sockets", s.Error, fmt.Sprintf("in %s, paths of at most %d bytes of %d", s.Dir, s.Length, s.Max), Missing,
		"no run is possible: the witnesses can't be reached", "set TMPDIR to a short path that is writable")
	return c.but(s.Error == "" && s.Wanted != s.Dir, Weaker,
		fmt.Sprintf("$TMPDIR (%s) is too long for a socket or can't be written to: %s is used", s.Wanted, s.Dir),
		"nothing, or set TMPDIR to a shorter path")
}

func (d Disk) check() Check {
	room := "make room, or " + d.Other
	return ok("disk", cmp.Or(d.Error, fmt.Sprintf("%d MiB free for runs in %s", d.Free>>20, d.Dir))).
		but(d.Free < littleDisk, Weaker, "a run takes up to some MiB: a long series may not fit", room).
		but(d.Free < noDisk, Missing, "a run may not be saved to its end, and is then inconclusive", room).
		but(d.Error != "", Missing, "runs can't be saved", d.Other)
}

func (b Browser) check() Check {
	return works("browser", b.Error, "leakbench open takes "+b.Command, Missing,
		"leakbench open can't show a report; nothing else needs a browser",
		"set BROWSER to a program that opens a page, or open the report's path (leakbench open --print) in one yourself")
}

func (p Peer) check() Check {
	if p.Path == "" {
		return ok(p.Name, "not found").but(true, Missing,
			"hosts and drivers that need it can't be put on the bench; nothing else does", "install it if yours is one")
	}
	return works(p.Name, p.Error, p.Version+" ("+p.Path+")", Weaker,
		"it is there and does not run: a host that needs it will not come up", "run "+p.Path+" --version by hand")
}

func (t Trial) check(lacks []Lack) Check {
	if len(lacks) > 0 {
		return Check{trialName, Missing, "not tried: " + lacks[0].Found, "no run works here", lacks[0].Do}
	}
	found := fmt.Sprintf("a run works here: keeper, host, server and both witnesses, clean in %d ms", t.Took.Milliseconds())
	if t.Outcome != "clean" {
		found = t.Outcome + ": " + t.Why
	}
	return ok(trialName, cmp.Or(t.Error, found)).
		but(t.Outcome != "clean", Weaker,
			"a correct host on a correct server must be clean: verdicts on this machine need a second look",
			"try again when the machine is idle; please report it if it stays").
		but(t.Error != "", Missing, "no run works here", "the lines above may say why; if they do not, please report this output")
}
