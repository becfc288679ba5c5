package main

import (
	"encoding/json"
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
)

// The descriptors that anywhere gives to a warden.
const (
	leashFD  = 3 // EOF: anywhere has exited, or wants the row to end
	reportFD = 4
)

// warden is the process between anywhere and the command of a row. It sets what processes inherit, such as the umask. It adopts orphans,
// reaps them, which adds their processor time to its own, and kills what is left at the end.
func warden(args []string) int {
	runtime.LockOSThread() // the set of processors and PDEATHSIG belong to a thread
	unix.CloseOnExec(leashFD)
	unix.CloseOnExec(reportFD)
	var o orders
	var said report
	err := json.Unmarshal([]byte(strings.Join(args, " ")), &o)
	if err == nil {
		err = o.obey()
	}
	if err != nil {
		said.Cant = err.Error()
	} else {
		said = o.play()
	}
	if err := json.NewEncoder(os.NewFile(reportFD, "report")).Encode(said); err != nil {
		return 1
	}
	return 0
}

// obey changes what the processes below this one inherit.
func (o orders) obey() error {
	if len(o.Processors) > 0 {
		var set unix.CPUSet
		for _, n := range o.Processors {
			set.Set(n)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("taking processors: %w", err)
		}
	}
	if o.Umask != 0 {
		unix.Umask(o.Umask)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopting orphans: %w", err)
	}
	return o.mount()
}

// start starts the command. Only reap may wait for it.
func (o orders) start() (pid int, err error) {
	program, err := exec.LookPath(o.Command[0])
	if err != nil {
		return 0, err
	}
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if o.UID != 0 {
		attributes.Credential = &syscall.Credential{Uid: uint32(o.UID), Gid: uint32(o.GID)}
	}
	p, err := os.StartProcess(program, o.Command, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: attributes})
	if err != nil {
		return 0, err
	}
	pid = p.Pid // Release forgets it
	return pid, p.Release()
}

// play runs the command, and returns when no process below this one is left. What outlives the command is killed after the grace.
func (o orders) play() (r report) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	begun := time.Now()
	r.Status = -1 // until it is known
	pid, err := o.start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "anywhere:", err)
		return report{Status: 127} // as a shell says it
	}
	slipped := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(leashFD, "leash"))
		close(slipped)
	}()
	var graceIsOver, again <-chan time.Time
	for ending := false; ; {
		select {
		case <-ended:
		case <-slipped:
			ending, slipped = true, nil
		case <-graceIsOver:
			ending, r.Left = true, killChildren()
		case <-again:
		}
		if ending { // their orphans are children of this process the next time
			killChildren()
			again = time.After(10 * time.Millisecond)
		}
		status, over, anyLeft := reap(pid)
		if over {
			r.Status, r.Wall, graceIsOver = status, time.Since(begun), time.After(o.Grace)
		}
		if !anyLeft {
			return r
		}
	}
}

// reap reaps all children that have exited. It returns the status of the command if it is among them.
func reap(command int) (status int, over, anyLeft bool) {
	for {
		var how unix.WaitStatus
		pid, err := unix.Wait4(-1, &how, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
		case err != nil: // ECHILD
			return status, over, false
		case pid == 0:
			return status, over, true
		case pid == command && how.Signaled():
			status, over = 128+int(how.Signal()), true // as a shell says it
		case pid == command:
			status, over = how.ExitStatus(), true
		}
	}
}

// killChildren kills all children and returns their names. It hits nobody else: a PID is not reused before the child is reaped.
func killChildren() (names []string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat") // "PID (NAME) STATE PARENT ..."
		end := strings.LastIndexByte(string(stat), ')')
		if end < 0 {
			continue
		}
		fields := strings.Fields(string(stat[end+1:]))
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		_, name, _ := strings.Cut(string(stat[:end]), "(")
		_ = unix.Kill(pid, unix.SIGKILL)
		names = append(names, name)
	}
	return names
}
