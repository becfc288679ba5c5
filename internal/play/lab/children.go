package lab

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/kit"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/text"
)

// children are the processes below another one, with what is known of each. Those of leakbench itself are left out: this one, those of
// tests beside it, keepers, and what is below them. What the process has orphaned is not below it any more.
func children(pid int) ([]record.Evidence, error) {
	rows, err := proc.NewTable().Below(pid)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	own := map[int]bool{os.Getpid(): true}
	for _, p := range rows {
		if len(p.Args) > 2 && p.Args[0] == self && (p.Args[1] == "keeper" || p.Args[1] == "lab") {
			own[p.PID] = true
		}
	}
	proc.AddDescendants(own, slices.Values(rows))
	var ids []record.Identity
	for _, p := range rows {
		if !own[p.PID] {
			ids = append(ids, p.Identity)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found := proc.Examine(ids)
	return slices.DeleteFunc(found, func(e record.Evidence) bool { return e.PPID == 0 }), nil // it has ended meanwhile
}

const (
	firstLook = time.Millisecond
	lastLook  = 100 * time.Millisecond
)

// await looks again and again until nothing is left, or the settle time is over, and returns what is left then. Where there is
// nothing, it does not wait.
func await(settle time.Duration, look func() ([]record.Evidence, error)) ([]record.Evidence, error) {
	deadline := time.Now().Add(settle)
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		left, err := look()
		if err != nil || len(left) == 0 || time.Now().After(deadline) {
			return left, err
		}
		time.Sleep(pause) // sleep-ok: the end of a process that is somebody else's child sends no word
	}
}

// describe says what is left, a process in a paragraph.
func describe(left []record.Evidence, host int, launched []kit.Launch) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s left:", text.Count(len(left), "process")+" "+text.Choose(len(left), "is", "are"))
	for _, e := range left {
		fmt.Fprintf(&b, "\n  pid %d (parent %d, state %s): %s", e.PID, e.PPID, e.State, shown(e.Process))
		stdin := stdinOf(e, host)
		switch {
		case e.State == record.StateZombie:
			b.WriteString("\n    it has ended, and its parent has not waited for it")
		case stdin != "":
			fmt.Fprintf(&b, "\n    its stdin is %s", stdin)
		}
		if origin := originOf(e, left, launched, host); origin != "" {
			fmt.Fprintf(&b, "\n    %s", text.Printable(origin))
		}
		if e.Wchan != "" && e.Wchan != "0" {
			fmt.Fprintf(&b, "\n    it is blocked in %s", text.Printable(e.Wchan))
		}
	}
	return b.String()
}

// mostOrigins is how many lines of a test are named as those from which an orphan may come.
const mostOrigins = 3

// originOf says which line of the test has launched a process: it itself, or one that it comes from. A child that led a session or a
// process group has left its pid there, also where it has ended.
func originOf(e record.Evidence, left []record.Evidence, launched []kit.Launch, host int) string {
	at := map[int]string{}
	for _, l := range launched {
		at[l.PID] = l.At // the last one that had the pid
	}
	if line := at[e.PID]; line != "" {
		return "it was launched at " + line
	}
	parents := map[int]int{}
	for _, other := range left {
		parents[other.PID] = other.PPID
	}
	pid := e.PPID
	for range left { // a table that was read while it changed may have a circle
		if at[pid] != "" {
			break
		}
		pid = parents[pid]
	}
	for _, pid := range []int{pid, e.PGID, e.SID} {
		if line := at[pid]; line != "" {
			return fmt.Sprintf("it comes from pid %d, which was launched at %s", pid, line)
		}
	}
	var lines []string
	for _, l := range launched {
		if !slices.Contains(lines, l.At) {
			lines = append(lines, l.At)
		}
	}
	if e.PPID == host || len(lines) == 0 || len(lines) > mostOrigins {
		return ""
	}
	return "it comes from a process that has ended; the test has launched some at " + strings.Join(lines, ", ")
}

// stdinOf says in a few words who holds the other end of a process's stdin, or "".
func stdinOf(e record.Evidence, host int) string {
	for _, d := range e.Descriptors {
		switch {
		case d.FD != 0 || !strings.HasPrefix(d.Target, "pipe:") && !strings.HasPrefix(d.Target, "socket:"):
		case len(d.Holders) > 0:
			var who []string
			for _, h := range d.Holders {
				name := string(h.Role)
				if h.PID == host {
					name = "this process"
				}
				who = append(who, fmt.Sprintf("%s (pid %d)", name, h.PID))
			}
			return "held open by " + strings.Join(slices.Compact(who), ", ")
		case d.Known:
			return "closed: the process has seen its end, or does not read it"
		}
	}
	return ""
}

// shown is a command line without secrets, for a terminal; the name of a process that has none any more.
func shown(p record.Process) string {
	args := p.Args
	if len(args) == 0 {
		args = []string{p.Comm}
	}
	return text.Clip(text.Printable(text.Command(redact.Args(args))), 300, "...")
}
