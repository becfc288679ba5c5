package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// lookAtSystem starts no process.
func (f *Facts) lookAtSystem() {
	if f.Fails["proc"] = f.tried("proc", proc.TryProc()); f.Fails["proc"] != "" {
		f.HiddenAdvice = procAdvice
	} else if _, err := proc.Identify(1); err != nil && f.tried("proc", err) != "" {
		f.HiddenAdvice = "mount /proc without hidepid, or run in the group that its gid= option names"
		f.Fails["proc"] = "processes of other users are hidden: /proc is mounted with hidepid"
	}
	f.Yama = firstLine("/proc/sys/kernel/yama/ptrace_scope")
	f.Files, f.Processes = limitOf(unix.RLIMIT_NOFILE), limitOf(unix.RLIMIT_NPROC)
	f.PIDMax, _ = strconv.Atoi(firstLine("/proc/sys/kernel/pid_max"))
	f.TicksPerSecond = ticks()
	f.Init = lookAtInit()
}

func (f *Facts) lookWithProcesses(ctx context.Context, self string) {
	f.lookAtEvidence(ctx, self)
	f.Fails["user-namespace"] = says(inSpace(ctx, syscall.CLONE_NEWUSER, "exit 0", ""))
	f.Fails["pid-namespace"] = says(inSpace(ctx, syscall.CLONE_NEWUSER|syscall.CLONE_NEWPID, "echo $$", "1"))
	// The next process of a new namespace gets the pid after the one that is written.
	f.Fails["ns-last-pid"] = says(inSpace(ctx, syscall.CLONE_NEWUSER|syscall.CLONE_NEWPID,
		"echo 4000 > /proc/sys/kernel/ns_last_pid && sh -c 'echo $$'; exit", "4001"))
}

func firstLine(path string) string {
	text, _ := os.ReadFile(path)
	return plain(string(text))
}

// lookAtEvidence examines a server of ours, and a process of another user if there is one.
func (f *Facts) lookAtEvidence(ctx context.Context, self string) {
	err := serve(ctx, self, func(pid int) { f.Own.Unseen = unseenOf(pid) })
	if err != nil {
		f.Own.Unseen = append(f.Own.Unseen, "a fake server did not work: "+plain(err.Error()))
	}
	pid, who := stranger()
	if f.Untried["others"] = pid == 0; pid != 0 {
		f.Other = Sight{Who: who, Unseen: unseenOf(pid)}
	}
}

func unseenOf(pid int) []string {
	id, err := proc.Identify(pid)
	if err != nil {
		return []string{plain(err.Error())}
	}
	var all []string
	for _, what := range proc.Examine([]record.Identity{id})[0].Unseen {
		all = append(all, plain(what))
	}
	return all
}

// stranger finds a process of another user that is not a kernel thread: those
// have no program and nothing to see. 0: there is none.
func stranger() (pid int, who string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		info, gone := e.Info()
		if err != nil || gone != nil {
			continue
		}
		meta, ok := info.Sys().(*syscall.Stat_t)
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if ok && int(meta.Uid) != os.Getuid() && len(line) > 0 {
			return pid, fmt.Sprintf("pid %d (%s) of user %d", pid, firstLine("/proc/"+e.Name()+"/comm"), meta.Uid)
		}
	}
	return 0, ""
}

// inSpace runs a line of shell in new namespaces and checks what it prints.
func inSpace(ctx context.Context, flags uintptr, script, want string) error {
	ctx, cancel := context.WithTimeout(ctx, peerWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  flags,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	said, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return errors.New(plain(string(exit.Stderr)))
	}
	if err != nil {
		return err
	}
	if got := plain(string(said)); got != want {
		return fmt.Errorf("it printed %q, not %q", got, want)
	}
	return nil
}

func limitOf(resource int) Limit {
	var l unix.Rlimit
	if unix.Getrlimit(resource, &l) != nil {
		return Limit{}
	}
	finite := func(n uint64) uint64 {
		if n == unix.RLIM_INFINITY {
			return 0
		}
		return n
	}
	return Limit{Soft: finite(l.Cur), Hard: finite(l.Max)}
}

// ticks is the unit of start times in /proc: AT_CLKTCK of the auxiliary vector (getauxval(3)).
func ticks() int {
	const clockTicks = 17
	vector, _ := unix.Auxv()
	for _, pair := range vector {
		if pair[0] == clockTicks {
			return int(pair[1])
		}
	}
	return 0
}

// lookAtInit looks twice for zombies below PID 1: one that is there only once is one that it was about to reap.
func lookAtInit() Init {
	i := Init{Name: firstLine("/proc/1/comm")}
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			i.Container = true
		}
	}
	i.Container = i.Container || strings.Contains(firstLine("/proc/1/environ"), "container=")
	before := zombiesOfInit()
	if len(before) == 0 {
		return i
	}
	<-time.After(200 * time.Millisecond) // sleep-ok: what is still there after that is not being reaped
	for id := range zombiesOfInit() {
		if before[id] {
			i.Zombies++
		}
	}
	return i
}

func zombiesOfInit() map[record.Identity]bool {
	rows, _ := proc.NewTable().Below(1)
	found := map[record.Identity]bool{}
	for _, row := range rows {
		if row.PPID == 1 && row.State == record.StateZombie {
			found[row.Identity] = true
		}
	}
	return found
}

func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(dir, &s)
	return s.Bavail * uint64(s.Bsize), err
}
