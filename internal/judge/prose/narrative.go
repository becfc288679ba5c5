package prose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// narrative is what is known of a survivor, one clause after the other. A clause
// has a sign: what is the same in every process of which the same is true.
type narrative struct{ clauses, signs []string }

func (s *narrative) add(sign, format string, args ...any) {
	s.clauses = append(s.clauses, fmt.Sprintf(format, args...))
	s.signs = append(s.signs, sign)
}

func (s *narrative) says(who string) (text, like string) {
	if len(s.clauses) == 0 {
		return "", ""
	}
	return Sentence(append([]string{who + " " + s.clauses[0]}, s.clauses[1:]...)...), strings.Join(s.signs, "|")
}

// Process names a process for a sentence.
func Process(s *history.Server, id record.Identity, comm string) string {
	if s != nil {
		return fmt.Sprintf("%s (pid %d)", Plain(s.ID), s.Birth.PID)
	}
	return fmt.Sprintf("%s (pid %d)", Plain(comm), id.PID)
}

// Known is what else is known of a process that is told of.
type Known struct {
	Signals bool // the system has them; else, as on Windows, none is spoken of
	Busy    bool // it used a processor while it was watched
}

// Survivor tells why a process that should be gone is there: what it waits
// for, who keeps it waiting, and which words it heard. e may be nil, s too.
func Survivor(s *history.Server, e *record.Evidence, until int64, k Known) (text, like string) {
	var st narrative
	id, comm := record.Identity{}, ""
	if e != nil {
		id, comm = e.Identity, e.Comm
		st.does(s, e, k.Busy)
		st.stdin(s, e, until)
	} else {
		st.add("unexamined", "could not be examined")
	}
	if e != nil && e.Job != "" {
		st.add("in "+e.Job, "it is in %s", Plain(e.Job))
	}
	if s != nil {
		if e == nil {
			st.sawEOF(s, until)
		}
		if k.Signals {
			st.signals(s, e, until)
		}
	}
	return st.says(Process(s, id, comm))
}

// Waits tells what a process does that is no server.
func Waits(e *record.Evidence) (text, like string) {
	var st narrative
	st.does(nil, e, false)
	return st.says(Process(nil, e.Identity, e.Comm))
}

// does says what the process does now. s may be nil. A busy one may be found between two turns, or in a thread that waits.
func (st *narrative) does(s *history.Server, e *record.Evidence, busy bool) {
	call, _, _ := strings.Cut(e.Syscall, " ")
	switch {
	case e.State == record.StateTraced:
		st.add("traced", "is traced by another process and waits for it (state %s)", e.State)
	case e.State == record.StateStopped:
		st.add("stopped", "is stopped (state %s): it handles nothing until it is continued", e.State)
	case e.State == record.StateRunning:
		st.add("running", "is running on a CPU (state R)")
	case busy:
		st.add("running", "kept a CPU busy, although it was not on one when it was examined (state %s)", Plain(e.State))
	case strings.HasPrefix(call, "read(0") && s == nil:
		st.add("read", "is blocked in read(0), waiting for input")
	case strings.HasPrefix(call, "read(0"):
		st.add("read", "is blocked in read(0), waiting for its next request")
	case strings.HasPrefix(call, "write(1") || strings.HasPrefix(call, "write(2"):
		st.add("write", "is blocked in %s: nobody reads what it writes", Plain(call))
	case call != "":
		st.add("in "+call, "waits in %s", Plain(call))
	case e.Wchan != "" && e.Wchan != "0":
		st.add("at "+e.Wchan, "sleeps in the kernel at %s", Plain(e.Wchan))
	default:
		st.add("sleeps", "sleeps (state %s)", Plain(e.State))
	}
}

// stdin says who could still give it the end of stdin.
func (st *narrative) stdin(s *history.Server, e *record.Evidence, until int64) {
	i := slices.IndexFunc(e.Descriptors, func(d record.Descriptor) bool { return d.FD == 0 })
	switch {
	case i < 0:
		if s != nil {
			st.sawEOF(s, until)
		}
		return
	case e.Descriptors[i].Null():
		st.add("null", "its stdin is %s", e.Descriptors[i].Target)
		return
	}
	d := e.Descriptors[i]
	if writers := Writers(d, e.Identity); len(writers) > 0 {
		st.heldBy(s, e.Identity, writers)
		return
	}
	switch {
	case s != nil && history.By(s.EOF, until):
		st.sawEOF(s, until)
	case !strings.HasPrefix(d.Target, "pipe:[") && !strings.HasPrefix(d.Target, "socket:["):
		st.add("path", "its stdin is %s; leakbench could not see who else has that open", Plain(d.Target))
	case d.Known:
		st.add("nobody", "nobody holds the other end of its stdin any more: stdin EOF is pending, and it does not read it")
	default:
		st.add("unknown", "leakbench could not see who holds the other end of its stdin")
	}
}

// Writers are those who can write to the other end. A process is one of its own stdin only by another descriptor than that.
func Writers(d record.Descriptor, self record.Identity) []record.Holder {
	var all []record.Holder
	for _, h := range d.Holders {
		if h.Mode != "read" && (h.Identity != self || h.FD != d.FD) {
			all = append(all, h)
		}
	}
	return all
}

func (st *narrative) heldBy(s *history.Server, self record.Identity, writers []record.Holder) {
	others := func(h record.Holder) bool { return h.Role != record.RoleBench && h.Role != record.RoleKeeper }
	if s == nil && !slices.ContainsFunc(writers, others) {
		st.add("host's stdin", "its stdin is the host's own stdin, which the host's parent holds open")
		return
	}
	var names []string
	hosts := 0
	for _, h := range writers {
		role := h.Role
		switch {
		case h.Identity == self:
			names = append(names, fmt.Sprintf("itself (%s)", h.At()))
			continue
		case role == record.RoleHost:
			hosts++
		case LaunchedIt(s, h) && role.Server() == "":
			hosts++
			role += ", which launched it,"
		}
		if slices.Contains([]record.HolderRole{record.RoleHost, record.RoleKeeper, record.RoleBench}, role) {
			role = "the " + role
		}
		names = append(names, fmt.Sprintf("%s (pid %d, %s)", Plain(role), h.PID, h.At()))
	}
	switch held := List(names); {
	case hosts == len(writers):
		st.add("held by host", "the write end of its stdin is still held by %s: the host never closed it", held)
	case hosts > 0:
		st.add("held by both",
			"the write end of its stdin is still held by %s: a copy was inherited, so it is not enough that the host closes its own", held)
	default:
		st.add("held by others",
			"the write end of its stdin is held by %s, which inherited a copy: EOF can't arrive before that copy is closed too", held)
	}
}

func (st *narrative) sawEOF(s *history.Server, until int64) {
	switch {
	case s.EOF < 0 || s.EOF > until:
		st.add("no eof", "it never read stdin EOF")
	case Ignores(s, record.OnEOF):
		st.add("ignores eof", "it read stdin EOF at %s and ignores it, as scripted", Clock(s.EOF))
	default:
		st.add("eof", "it read stdin EOF at %s and is still running", Clock(s.EOF))
	}
}

// Ignores says that the server's script lets it ignore a moment.
func Ignores(s *history.Server, on record.Moment) bool {
	return slices.ContainsFunc(s.Faults, func(f history.FaultMark) bool { return f.On == on && f.Passive })
}

// signals says which signals reached it.
func (st *narrative) signals(s *history.Server, e *record.Evidence, until int64) {
	var seen []string
	for _, m := range s.Signals {
		if m.T <= until {
			seen = append(seen, fmt.Sprintf("%s at %s", Plain(m.Text), Clock(m.T)))
		}
	}
	switch {
	case len(seen) > 0 && Ignores(s, record.OnTerm):
		st.add("ignores term", "it caught %s and ignores it, as scripted; SIGKILL never came", List(seen))
	case len(seen) > 0:
		st.add("signalled", "it caught %s and is still running; SIGKILL never came", List(seen))
	case e != nil && len(e.SigPending) > 0:
		st.add("pending", "%s %s pending, not handled", List(plainAll(e.SigPending)), text.Choose(len(e.SigPending), "is", "are"))
	case e != nil && slices.Contains(e.SigIgnored, "SIGTERM"):
		st.add("deaf to term", "it ignores SIGTERM, so it is unknown whether one was sent")
	case e != nil && e.State == record.StateStopped:
		st.add("no more signals", "no other signal reached it")
	default:
		st.add("no signal", "no signal reached it")
	}
}

func plainAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = Plain(w)
	}
	return out
}

// FaultName is a fault for a sentence: "close-stdout" or "reject on initialize".
func FaultName(f *record.Fault) string {
	switch {
	case f == nil:
		return ""
	case f.On == record.OnOrder || f.On == "":
		return Plain(f.Do)
	}
	return Plain(string(f.Do) + " on " + string(f.On))
}

// LaunchedIt says that the holder is the server's parent from the beginning: a worker of the host, say.
func LaunchedIt(s *history.Server, h record.Holder) bool { return s != nil && h.PID == s.Birth.PPID }
