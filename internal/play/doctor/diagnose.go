package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const trialName = "run"

// Diagnose says what the facts mean, one line for each thing that matters.
func Diagnose(f Facts) []Check {
	checks := []Check{ok("system", fmt.Sprintf("%s/%s, kernel %s, %d CPUs, user %d", f.System.OS, f.System.Arch, f.System.Kernel, f.System.CPUs, f.System.UID))}
	for _, c := range slices.Concat(f.witnesses(), f.spaces(), f.room()) {
		if !f.Untried[c.Name] {
			checks = append(checks, c)
		}
	}
	for _, p := range f.Peers {
		checks = append(checks, p.check())
	}
	return append(checks, f.Trial.check())
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
	if err == "" {
		return ok(name, fine)
	}
	return ok(name, err).but(true, state, means, do)
}

// witnesses are the checks of what a run can see.
func (f Facts) witnesses() []Check {
	census := ok("census", f.Witness.Census).but(f.Witness.Census != "procfs", Weaker, strings.Join(f.Witness.Weak, "; "), "Linux is the full bench")
	ledger := ok("ledger", "pids attested by "+f.Witness.Ledger)
	if f.Witness.Ledger == "none" || f.Witness.Ledger == "" {
		ledger = ok("ledger", "pids are not attested").but(true, Weaker, "a server's own word for its pid must do", "")
	}
	subreaper := ""
	if !f.Witness.Subreaper {
		subreaper = "orphans are not adopted"
	}
	return []Check{
		ledger, census,
		works("subreaper", subreaper, "what a host orphans comes home to the bench", Weaker,
			"a server that leaves the host's process tree is seen by the ledger alone, a helper of it by nobody", "Linux 3.4 has it; a seccomp filter may forbid prctl(PR_SET_CHILD_SUBREAPER)"),
		works("pidfd", f.Pidfd, "signals go through a handle, deaths are announced", Weaker,
			"a pid that is reused within microseconds of its check could be hit; deaths are polled for", "Linux 5.3 has it; a seccomp filter may forbid pidfd_open"),
		works("sock-diag", f.SockDiag, "the other end of a socketpair is found", Weaker,
			"who holds the other end of a socketpair (Node and Bun hosts use them for stdio) can't be seen", "load the kernel module unix_diag, or allow AF_NETLINK"),
		f.cgroup(),
		works("proc", f.Hidden, "all processes can be seen", Weaker,
			"the census lacks processes: one that changes its user, or all", f.HiddenAdvice),
		f.Own.check("evidence", "of a server of a run everything can be read", Weaker,
			"the evidence on a survivor lacks it: some kinds of leaks are told as plain orphans", f.ptraceAdvice()),
		f.Other.check("others", "of processes of other users, too, everything can be read", Weaker,
			"the evidence on a process that changed its user lacks it", "run as root, or grant CAP_SYS_PTRACE, if your host starts such ones"),
	}
}

// cgroup tells why no cgroup can be made, which is nearly always delegation.
func (f Facts) cgroup() Check {
	c := works("cgroup", f.Cgroup, "a run gets a cgroup v2 of its own, which can be killed as a whole", Weaker,
		"the last sweep finds processes by looking: one that forks faster than it is looked for could outlive a run", "")
	switch {
	case c.State == OK:
	case strings.Contains(f.Cgroup, "no cgroup v2"):
		c.Do = "mount cgroup2, or boot with systemd.unified_cgroup_hierarchy=1"
	case strings.Contains(f.Cgroup, "read-only"):
		c.Do = "the container has /sys/fs/cgroup read-only: start it with its own writable cgroup namespace"
	case strings.Contains(f.Cgroup, "cgroup.kill"):
		c.Do = "cgroup.kill needs Linux 5.14"
	default:
		c.Do = "have a cgroup delegated: systemd-run --user --scope -p Delegate=yes leakbench run ..."
	}
	return c
}

func (f Facts) ptraceAdvice() string {
	if f.Yama == "2" || f.Yama == "3" {
		return "kernel.yama.ptrace_scope is " + f.Yama + ": set it to 1, or run as root"
	}
	return "run as root, or grant CAP_SYS_PTRACE"
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
		works("user-namespace", f.UserSpace, "can be made", Missing, skipped,
			"allow it: kernel.unprivileged_userns_clone=1, user.max_user_namespaces > 0, kernel.apparmor_restrict_unprivileged_userns=0"),
		works("pid-namespace", f.PIDSpace, "can be made", Missing, skipped, "it needs a user namespace, or root"),
		works("ns-last-pid", f.LastPID, "the next pid can be chosen in a pid namespace", Missing,
			"pid reuse can't be staged: its scenarios are skipped, with the reason", "it needs a pid namespace and a writable /proc/sys/kernel/ns_last_pid"),
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
		ticks = fmt.Sprintf("%d a second: start and CPU times are exact to %v", n, time.Second/time.Duration(n))
	}
	return []Check{
		f.Files.check("files", "descriptors", fewFiles, "the bench holds one for each living server: a storm of many may fail", "ulimit -n 65536"),
		f.Processes.check("processes", "processes", fewProcesses,
			"the limit counts all processes of the user: a storm may run into it, and the host's failures are then not its own", "ulimit -u 8192"),
		ok("pid-max", fmt.Sprint(f.PIDMax)).but(f.PIDMax > 0 && f.PIDMax < fewPIDs, Weaker,
			"pids are reused quickly: a host that signals by pid alone hits strangers", "sysctl kernel.pid_max=4194304"),
		ok("clock-ticks", ticks), f.Init.check(), f.Sockets.check(), f.Disk.check(),
	}
}

func (l Limit) check(name, what string, few uint64, means, do string) Check {
	say := func(n uint64) string {
		if n == 0 {
			return "any number of"
		}
		return fmt.Sprintf("%d", n)
	}
	if l.Hard > 0 && l.Hard < few {
		do = fmt.Sprintf("have the hard limit (%d) raised; then %s", l.Hard, do)
	}
	return ok(name, say(l.Soft)+" "+what).but(l.Soft > 0 && l.Soft < few, Weaker, means, do)
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
		"runs are not disturbed, their orphans come home to the bench; outside of runs the orphans of your host stay as zombies",
		"start the container with an init: docker run --init")
}

func (s Sockets) check() Check {
	c := works("sockets", s.Error, fmt.Sprintf("in %s, paths of at most %d bytes of %d", s.Dir, s.Length, s.Max), Missing,
		"no run is possible: the witnesses can't be reached", "set TMPDIR to a short path that is writable")
	return c.but(s.Error == "" && s.Wanted != s.Dir, Weaker,
		fmt.Sprintf("$TMPDIR (%s) is too long for a socket or can't be written to: %s is used", s.Wanted, s.Dir), "nothing, or set TMPDIR to a shorter path")
}

func (d Disk) check() Check {
	c := works("disk", d.Error, fmt.Sprintf("%d MiB free for runs in %s", d.Free>>20, d.Dir), Missing, "runs can't be saved", "choose another folder with --out")
	there := d.Error == ""
	return c.but(there && d.Free < littleDisk, Weaker, "a run takes up to some MiB: a long series may not fit", "make room, or choose another folder with --out").
		but(there && d.Free < noDisk, Missing, "a run may not be saved to its end, and is then inconclusive", "make room, or choose another folder with --out")
}

func (p Peer) check() Check {
	if p.Path == "" {
		return ok(p.Name, "not found").but(true, Missing, "hosts and drivers that need it can't be put on the bench; nothing else does", "install it if yours is one")
	}
	return works(p.Name, p.Error, p.Version+" ("+p.Path+")", Weaker, "it is there and does not run: a host that needs it will not come up", "run "+p.Path+" --version by hand")
}

func (t Trial) check() Check {
	switch {
	case t.Error != "":
		return works(trialName, t.Error, "", Missing, "no run works here", "the lines above may say why; if they do not, please report this output")
	case t.Outcome != "clean":
		return works(trialName, t.Outcome+": "+t.Why, "", Weaker,
			"a correct host on a correct server must be clean: verdicts on this machine need a second look", "try again when the machine is idle; please report it if it stays")
	}
	return ok(trialName, fmt.Sprintf("a run works here: keeper, host, server and both witnesses, clean in %d ms", t.Took.Milliseconds()))
}
