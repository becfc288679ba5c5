package verdict

import (
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// hold says, from the evidence on a survivor alone, what keeps it: "stopped", "pipe-blocked", "eof-withheld", or ""
// where it could go. It comes before the way in which the host lost it: whatever that was, this has to be mended too.
func (f *facts) hold(s *history.Server, e *record.Evidence, until int64) string {
	switch {
	case e == nil:
		return ""
	case e.State == record.StateStopped || e.State == record.StateTraced:
		return "stopped"
	case blockedWriting(e):
		return "pipe-blocked"
	case f.withheld(s, e) && (s == nil || s.EOF < 0 || s.EOF > until):
		return "eof-withheld"
	}
	return ""
}

// blockedWriting says that the process waits for somebody to read what it writes to stdout or stderr. Where system
// calls can't be seen, the place in the kernel tells: pipe_write, on newer kernels anon_pipe_write.
func blockedWriting(e *record.Evidence) bool {
	if e.State != record.StateSleeping && e.State != record.StateBlocked {
		return false
	}
	call, _, _ := strings.Cut(e.Syscall, " ")
	if call != "" {
		return strings.HasPrefix(call, "write(1") || strings.HasPrefix(call, "write(2")
	}
	return strings.HasSuffix(e.Wchan, "pipe_write")
}

// withheld says that stdin can't end, because processes that have nothing to do with it, or the server itself, hold a
// copy of its write end, and the host itself holds none any more.
func (f *facts) withheld(s *history.Server, e *record.Evidence) bool {
	i := slices.IndexFunc(e.Descriptors, func(d record.Descriptor) bool { return d.FD == 0 })
	if i < 0 || !e.Descriptors[i].Known {
		return false
	}
	held := prose.Writers(e.Descriptors[i], e.Identity)
	return len(held) > 0 && !slices.ContainsFunc(held, func(h record.Holder) bool { return f.entitled(s, h) })
}

// entitled says that a holder of a stdin's other end is there for that: the host, the process of the host that
// launched the server, the bench, or a launcher that passes stdin on.
func (f *facts) entitled(s *history.Server, h record.Holder) bool {
	switch h.Role {
	case record.RoleHost, record.RoleKeeper, record.RoleBench:
		return true
	}
	return h.Role.Server() == "" && (f.hostsOwn(h.Identity) || f.CarriedServer(h.PID) || prose.LaunchedIt(s, h))
}

// toldToEnd says that a server had been told to end by t, in a way that it saw.
func toldToEnd(s *history.Server, t int64) bool {
	return s.EOF >= 0 && s.EOF <= t || signalled(s, t)
}

func signalled(s *history.Server, t int64) bool {
	return len(s.Signals) > 0 && s.Signals[0].T <= t
}

// watchdogged says that a watchdog of the server's own had looked after its parent, and did not end it.
func watchdogged(s *history.Server) bool {
	return slices.ContainsFunc(s.Faults, func(f history.FaultMark) bool { return f.Do == record.DoWatchdog })
}
