package doctor

import (
	"fmt"
	"strings"
	"time"
)

const trialName = "run"

// Diagnose says what the facts mean, one line for each thing that matters.
func Diagnose(f Facts) []Check {
	checks := []Check{
		{Name: "system", State: OK, Found: fmt.Sprintf("%s/%s, kernel %s, %d CPUs, user %d", f.System.OS, f.System.Arch, f.System.Kernel, f.System.CPUs, f.System.UID)},
	}
	add := func(c Check) {
		if !f.Untried[c.Name] {
			checks = append(checks, c)
		}
	}
	for _, c := range f.witnesses() {
		add(c)
	}
	for _, c := range f.spaces() {
		add(c)
	}
	for _, c := range f.room() {
		add(c)
	}
	for _, p := range f.Peers {
		add(p.check())
	}
	return append(checks, f.Trial.check())
}

// works is ok where err is empty, else what its absence means.
func works(name, err, fine string, state State, means, do string) Check {
	if err == "" {
		return Check{Name: name, State: OK, Found: fine}
	}
	return Check{Name: name, State: state, Found: err, Means: means, Do: do}
}

// witnesses are the checks of what a run can see.
func (f Facts) witnesses() []Check {
	census := Check{Name: "census", State: OK, Found: f.Witness.Census}
	if f.Witness.Census != "procfs" {
		census.State, census.Means = Weaker, strings.Join(f.Witness.Weak, "; ")
		census.Do = "Linux is the full bench"
	}
	ledger := Check{Name: "ledger", State: OK, Found: "pids attested by " + f.Witness.Ledger}
	if f.Witness.Ledger == "none" || f.Witness.Ledger == "" {
		ledger.State, ledger.Found, ledger.Means = Weaker, "pids are not attested", "a server's own word for its pid must do"
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
	files := f.Files.check("files", "descriptors", fewFiles, "the bench holds one for each living server: a storm of many may fail", "ulimit -n 65536")
	processes := f.Processes.check("processes", "processes", fewProcesses, "the limit counts all processes of the user: a storm may run into it, and the host's failures are then not its own", "ulimit -u 8192")
	pids := Check{Name: "pid-max", State: OK, Found: fmt.Sprintf("%d", f.PIDMax)}
	if f.PIDMax > 0 && f.PIDMax < fewPIDs {
		pids.State, pids.Means, pids.Do = Weaker, "pids are reused quickly: a host that signals by pid alone hits strangers", "sysctl kernel.pid_max=4194304"
	}
	ticks := Check{Name: "clock-ticks", State: OK, Found: fmt.Sprintf("%d a second: start and CPU times are exact to %v", f.TicksPerSecond, time.Second/time.Duration(max(1, f.TicksPerSecond)))}
	if f.TicksPerSecond == 0 {
		ticks.Found = "not known"
	}
	return []Check{files, processes, pids, ticks, f.Init.check(), f.Sockets.check(), f.Disk.check()}
}

func (l Limit) check(name, what string, few uint64, means, do string) Check {
	say := func(n uint64) string {
		if n == 0 {
			return "any number of"
		}
		return fmt.Sprintf("%d", n)
	}
	c := Check{Name: name, State: OK, Found: say(l.Soft) + " " + what}
	if l.Soft > 0 && l.Soft < few {
		c.State, c.Means, c.Do = Weaker, means, do
		if l.Hard > 0 && l.Hard < few {
			c.Do = fmt.Sprintf("have the hard limit (%d) raised; then %s", l.Hard, do)
		}
	}
	return c
}

func (i Init) check() Check {
	c := Check{Name: "pid-1", State: OK, Found: i.Name}
	if i.Container {
		c.Found += ", in a container"
	}
	if i.Zombies > 0 {
		c.State = Weaker
		c.Found = fmt.Sprintf("%s, which has not reaped %d dead processes", c.Found, i.Zombies)
		c.Means = "runs are not disturbed, their orphans come home to the bench; outside of runs the orphans of your host stay as zombies"
		c.Do = "start the container with an init: docker run --init"
	}
	return c
}

func (s Sockets) check() Check {
	c := works("sockets", s.Error, fmt.Sprintf("in %s, paths of at most %d bytes of %d", s.Dir, s.Length, s.Max), Missing,
		"no run is possible: the witnesses can't be reached", "set TMPDIR to a short path that is writable")
	if s.Error == "" && s.Wanted != s.Dir {
		c.State, c.Means = Weaker, fmt.Sprintf("$TMPDIR (%s) is too long for a socket or can't be written to: %s is used", s.Wanted, s.Dir)
		c.Do = "nothing, or set TMPDIR to a shorter path"
	}
	return c
}

func (d Disk) check() Check {
	c := works("disk", d.Error, fmt.Sprintf("%d MiB free for runs in %s", d.Free>>20, d.Dir), Missing, "runs can't be saved", "choose another folder with --out")
	switch {
	case d.Error != "":
	case d.Free < noDisk:
		c.State, c.Means, c.Do = Missing, "a run may not be saved to its end, and is then inconclusive", "make room, or choose another folder with --out"
	case d.Free < littleDisk:
		c.State, c.Means, c.Do = Weaker, "a run takes up to some MiB: a long series may not fit", "make room, or choose another folder with --out"
	}
	return c
}

func (p Peer) check() Check {
	if p.Path == "" {
		return Check{
			Name: p.Name, State: Missing, Found: "not found",
			Means: "hosts and drivers that need it can't be put on the bench; nothing else does", Do: "install it if yours is one",
		}
	}
	return works(p.Name, p.Error, p.Version+" ("+p.Path+")", Weaker, "it is there and does not run: a host that needs it will not come up", "run "+p.Path+" --version by hand")
}

func (t Trial) check() Check {
	switch {
	case t.Error != "":
		return Check{Name: trialName, State: Missing, Found: t.Error, Means: "no run works here", Do: "the lines above may say why; if they do not, please report this output"}
	case t.Outcome != "clean":
		return Check{
			Name: trialName, State: Weaker, Found: fmt.Sprintf("%s: %s", t.Outcome, t.Why),
			Means: "a correct host on a correct server must be clean: verdicts on this machine need a second look", Do: "try again when the machine is idle; please report it if it stays",
		}
	}
	return Check{Name: trialName, State: OK, Found: fmt.Sprintf("a run works here: keeper, host, server and both witnesses, clean in %d ms", t.Took.Milliseconds())}
}
