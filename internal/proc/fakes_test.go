//go:build linux

package proc_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// block waits for the end of the lifetime, in no read.
func block() {
	fmt.Println("ready")
	select {}
}

func idle([]string) { block() }

// reader blocks in read(2) on stdin and ends with it. Like many programs it
// reads in another thread than the first.
func reader([]string) {
	fmt.Println("ready")
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1)
		for {
			if n, err := syscall.Read(0, buf); n == 0 || err != nil {
				return
			}
		}
	}()
	<-done
}

// deaf ignores SIGTERM, catches SIGUSR1, and does not look at stdin.
func deaf([]string) {
	signal.Ignore(syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR1)
	block()
}

// tree becomes a subreaper, makes one descendant for each kind, says their
// pids, and when stdin ends kills all of them.
func tree(kinds []string) {
	must(proc.Adopt())
	me, err := os.Executable()
	must(err)
	for _, kind := range kinds {
		name, count, _ := strings.Cut(kind, "=")
		n, _ := strconv.Atoi(count)
		for range max(n, 1) {
			fmt.Println(name, grow(me, name))
		}
	}
	fmt.Println("grown")
	_, _ = io.Copy(io.Discard, os.Stdin)
	sweep()
}

func grow(me, kind string) int {
	run := func(attr *syscall.SysProcAttr, args ...string) (int, string) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.SysProcAttr = attr
		out, err := cmd.StdoutPipe()
		must(err)
		must(cmd.Start())
		line, _ := bufio.NewReader(out).ReadString('\n')
		return cmd.Process.Pid, strings.TrimSpace(line)
	}
	var pid int
	switch kind {
	case "plain":
		pid, _ = run(nil, me, "idle", "--token=hunter2")
	case "setsid":
		pid, _ = run(&syscall.SysProcAttr{Setsid: true}, me, "idle")
	case "named":
		pid, _ = run(nil, me, "named")
	case "escaped": // its parent has exited
		middle, line := run(nil, me, "escape")
		pid, _ = strconv.Atoi(line)
		var status syscall.WaitStatus
		_, _ = syscall.Wait4(middle, &status, 0, nil)
	case "grandchild":
		_, line := run(nil, "sh", "-c", "sleep 300 & echo $!; wait")
		pid, _ = strconv.Atoi(line)
	case "zombie":
		p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
		must(err)
		pid = p.Pid
	case "stopped", "sleep":
		p, err := os.StartProcess("/bin/sleep", []string{"sleep", "300"}, &os.ProcAttr{})
		must(err)
		pid = p.Pid
		if kind == "stopped" {
			must(p.Signal(syscall.SIGSTOP))
		}
	}
	return pid
}

// sweep kills and reaps until nothing is left below.
func sweep() {
	table := proc.NewTable()
	for {
		rows, err := table.Below(os.Getpid())
		if err != nil || len(rows) == 0 {
			return
		}
		for _, row := range rows {
			_ = proc.Signal(row.Identity, syscall.SIGKILL)
		}
		_, err = syscall.Wait4(-1, nil, 0, nil)
		for pid := 1; pid > 0 && err == nil; {
			pid, err = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
	}
}

// forged is a name that looks like the end of a name, and a row after it.
const forged = ") Z 1 (x) S 1"

func named([]string) {
	must(os.WriteFile("/proc/self/comm", []byte(forged), 0o644))
	block()
}

// escape leaves a child in a session of its own behind.
func escape([]string) {
	me, err := os.Executable()
	must(err)
	cmd := exec.Command(me, "idle")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	must(cmd.Start())
	fmt.Println(cmd.Process.Pid)
}

// become runs another program in its place when it is told so.
func become(args []string) {
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	path, err := exec.LookPath(args[0])
	must(err)
	must(syscall.Exec(path, args, os.Environ()))
}

// headless ends its first thread, and lives on in the others.
func headless([]string) {
	go func() {
		for {
			row, err := proc.NewTable().One(os.Getpid())
			must(err)
			line, _ := os.ReadFile("/proc/self/stat")
			if strings.Contains(string(line), ") Z ") {
				fmt.Println("ready")
				fmt.Println(row.State)
				return
			}
			runtime.Gosched()
		}
	}()
	// Not RawSyscall: the runtime would take this thread for busy, and the first collection of garbage would wait for it for ever.
	_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
}

// init keeps the main goroutine of these on the first thread, where init runs.
func init() {
	if len(os.Args) > 1 && (os.Args[1] == "headless" || os.Args[1] == "reader") {
		runtime.LockOSThread()
	}
}

// recycle runs as the first process of a pid namespace: it makes a process get
// the pid of one that has ended, and tries to hit the new one by the old one's
// identity.
func recycle([]string) {
	fmt.Println("ready")
	must(unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		fmt.Println("skip: no /proc of its own:", err)
		return
	}
	fmt.Println(tryRecycle())
}

func tryRecycle() string {
	old, _, err := idler()
	must(err)
	id, err := proc.Identify(old.Process.Pid)
	must(err)
	must(old.Process.Kill())
	_ = old.Wait()
	for tick := id.Start; tick <= id.Start+1; { // the same tick would be the same identity
		runtime.Gosched()
		var now unix.Timespec
		must(unix.ClockGettime(unix.CLOCK_BOOTTIME, &now))
		tick = uint64(now.Nano() / 10_000_000)
	}
	for range 50 {
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(id.PID-1)), 0o644); err != nil {
			return "skip: " + err.Error()
		}
		young, alive, err := idler()
		must(err)
		if young.Process.Pid == id.PID {
			return verdict(id, young, alive)
		}
		_ = young.Process.Kill() // a thread of ours took the pid
		_ = young.Wait()
	}
	return "skip: the pid could not be had again"
}

// verdict tries everything that goes by identity on a pid that is another's.
func verdict(id record.Identity, young *exec.Cmd, alive func() bool) string {
	now, err := proc.Identify(id.PID)
	must(err)
	defer func() { _ = young.Wait() }()
	defer func() { _ = proc.Signal(now, syscall.SIGKILL) }()
	switch {
	case now == id:
		return "the identity is the same"
	case !errors.Is(proc.Signal(id, syscall.SIGKILL), proc.ErrGone):
		return "the signal was sent"
	case !proc.Gone(id):
		return "the old one is said to live"
	case proc.Gone(now):
		return "the new one is said to have ended"
	case !alive():
		return "the new one was hit"
	}
	if e := proc.Examine([]record.Identity{id})[0]; len(e.Unseen) != 1 || e.Exe != "" {
		return fmt.Sprintf("the new one's evidence was told as the old one's: %+v", e)
	}
	return "exact"
}

// idler starts a fake that answers as long as it lives.
func idler() (*exec.Cmd, func() bool, error) {
	cmd := exec.Command("/proc/self/exe", "recycled")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	lines := bufio.NewReader(out)
	alive := func() bool {
		_, _ = io.WriteString(in, "there?\n")
		line, err := lines.ReadString('\n')
		return err == nil && line == "yes\n"
	}
	return cmd, alive, cmd.Start()
}

func recycled([]string) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println("yes")
	}
}

// userKey is the variable that has the number of a user whom the fakes of one test process have for themselves: what another process of
// their user hides is a doubt to them.
const userKey = "LEAKBENCH_PROC_TEST_USER"

// nobody gives up root, if it is root: root can look into everything.
func nobody() {
	if os.Geteuid() == 0 {
		user, err := strconv.Atoi(os.Getenv(userKey))
		must(err)
		must(syscall.Setgroups(nil))
		must(syscall.Setgid(user))
		must(syscall.Setuid(user))
	}
}

// shy can't be looked into by another process of its user. It ends with stdin.
func shy([]string) {
	nobody()
	must(unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// middle is the parent of an examiner, and of a shy one where it is asked.
func middle(args []string) {
	me, err := os.Executable()
	must(err)
	fmt.Println("ready")
	if len(args) > 0 {
		cmd := exec.Command(me, "shy")
		out, err := cmd.StdoutPipe()
		must(err)
		in, err := cmd.StdinPipe()
		must(err)
		must(cmd.Start())
		_, _ = bufio.NewReader(out).ReadString('\n')
		defer func() { in.Close(); _ = cmd.Wait() }()
	}
	cmd := exec.Command(me, "examiner")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	_ = cmd.Run()
}

// examiner examines a child whose stdin it holds, and prints what it found.
func examiner([]string) {
	nobody()
	cmd := exec.Command("cat")
	_, err := cmd.StdinPipe()
	must(err)
	must(cmd.Start())
	id, err := proc.Identify(cmd.Process.Pid)
	must(err)
	waitExec(id.PID)
	must(json.NewEncoder(os.Stdout).Encode(proc.Examine([]record.Identity{id})))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// waitExec waits until a child has become the program that it was started as.
func waitExec(pid int) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); runtime.Gosched() {
		if row, err := proc.NewTable().One(pid); err == nil && row.Comm == "cat" {
			return
		}
	}
}
