package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/words"
)

// Target is what stdin leads to.
func (g *StdinHold) Target() string {
	if d := stdinOf(g.Process); d != nil {
		return d.Target
	}
	return ""
}

func stdinOf(e *record.Evidence) *record.Descriptor {
	i := slices.IndexFunc(e.Descriptors, func(d record.Descriptor) bool { return d.FD == 0 })
	if i < 0 {
		return nil
	}
	return &e.Descriptors[i]
}

// StdinHold is what keeps survivors alive: who holds their stdin, and where they
// wait. Survivors in the same hold are one line with a count.
type StdinHold struct {
	Count   int
	Held    string // "host holds the write end"
	Waits   string // "waits in read(0)"
	Process *record.Evidence
	Holder  *record.Holder
}

// StdinHolds are the holds that the evidence on a finding shows, the commonest first.
func StdinHolds(f *verdict.Finding) []*StdinHold {
	evidence, busy := f.Evidence, law.KindOf(f.Kind).Busy
	var out []*StdinHold
	index := map[string]*StdinHold{}
	for i := range evidence {
		e := &evidence[i]
		held, holder := stdinHeld(e)
		waits := Waiting(e)
		if busy && waits != "" { // where one of its threads waits is not what it does
			waits = running
		}
		key := held + "\x00" + waits
		g := index[key]
		if g == nil {
			g = &StdinHold{Held: held, Waits: waits, Process: e, Holder: holder}
			index[key] = g
			out = append(out, g)
		}
		g.Count++
	}
	slices.SortStableFunc(out, func(a, b *StdinHold) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

func stdinHeld(e *record.Evidence) (string, *record.Holder) {
	if e.State == record.StateZombie {
		return "a zombie: its parent has not waited for it", nil
	}
	d := stdinOf(e)
	switch {
	case d == nil:
		return "its stdin could not be seen", nil
	case len(d.Holders) > 0:
		h, who := chiefHolder(d.Holders, e.Identity)
		return fmt.Sprintf("%s %s of its stdin", who, PipeEnd(h.Mode, d.Target)), h
	case strings.HasPrefix(d.Target, "/") || d.Null():
		return "its stdin is " + d.Target, nil
	case d.Known:
		return "nobody holds the other end of its stdin", nil
	}
	return "who holds its stdin could not be seen", nil
}

// chiefHolder is the holder to name where there are several: the host if it is
// one of them, and the process itself only if nobody else is.
func chiefHolder(all []record.Holder, self record.Identity) (*record.Holder, string) {
	rank := func(h record.Holder) int {
		switch {
		case h.Role == record.RoleHost:
			return 0
		case h.Identity != self:
			return 1
		}
		return 2
	}
	chief := &all[0]
	processes := map[record.Identity]bool{}
	for i := range all {
		processes[all[i].Identity] = true
		if rank(all[i]) < rank(*chief) {
			chief = &all[i]
		}
	}
	who := string(chief.Role)
	if chief.Identity == self {
		who = "the server itself"
	}
	if more := len(processes) - 1; more > 0 {
		return chief, fmt.Sprintf("%s and %d more hold", who, more)
	}
	return chief, who + " holds"
}

// PipeEnd names the end of a pipe that a holder has.
func PipeEnd(mode, target string) string {
	switch {
	case strings.HasPrefix(target, "socket"):
		return "the peer socket"
	case mode == "write":
		return "the write end"
	case mode == "read":
		return "the read end"
	}
	return "the other end"
}

const running = "is running"

// Waiting says where a process waits. One that runs may have another thread that waits.
func Waiting(e *record.Evidence) string {
	switch {
	case e.State == record.StateZombie:
		return ""
	case e.State == record.StateRunning:
		return running
	case e.Syscall != "":
		return "waits in " + e.Syscall
	case e.Wchan != "" && e.Wchan != "0":
		return "waits in " + e.Wchan
	}
	return ""
}

// StdinHoldLine is a hold in one line.
func StdinHoldLine(g *StdinHold) string {
	line := fmt.Sprintf("%d × %s", g.Count, g.Held)
	if g.Holder != nil {
		line += fmt.Sprintf(" (pid %d %s)", g.Holder.PID, g.Holder.At())
	}
	if g.Waits != "" {
		line += "; it " + g.Waits
	}
	return line
}

// HeldBy says who is at the other end of a descriptor.
func HeldBy(d *record.Descriptor) string {
	switch {
	case len(d.Holders) > 0:
		var who []string
		for _, h := range d.Holders {
			who = append(who, fmt.Sprintf("%s pid %d %s (%s)", h.Role, h.PID, h.At(), h.Mode))
		}
		return "held by " + strings.Join(words.Some(who, 4), ", ")
	case strings.HasPrefix(d.Target, "/") || d.Null() || d.Target == "":
		return d.Target
	case d.Known:
		return "held by nobody"
	}
	return "not seen"
}
