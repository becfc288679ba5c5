package facts

import (
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// Hold says, from the evidence on a survivor alone, what keeps it: "stopped", "pipe-blocked", "eof-withheld", or ""
// where it could go. It comes before the way in which the host lost it: whatever that was, this has to be mended too.
func (f *Facts) Hold(s *history.Server, e *record.Evidence, until int64) string {
	switch {
	case e == nil:
		return ""
	case e.State == record.StateStopped || e.State == record.StateTraced:
		return "stopped"
	case blockedWriting(e):
		return "pipe-blocked"
	case f.withheld(s, e, until) && (s == nil || s.EOF < 0 || s.EOF > until):
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
func (f *Facts) withheld(s *history.Server, e *record.Evidence, t int64) bool {
	i := slices.IndexFunc(e.Descriptors, func(d record.Descriptor) bool { return d.FD == 0 })
	if i < 0 || !e.Descriptors[i].Known {
		return false
	}
	held := prose.Writers(e.Descriptors[i], e.Identity)
	return len(held) > 0 && !slices.ContainsFunc(held, func(h record.Holder) bool { return f.entitled(s, h, t) })
}

// entitled says that a holder of a stdin's other end is there for that at t: the host, as long as it lives what it has started itself,
// the process of the host that launched the server, the bench, or a launcher that passes stdin on.
func (f *Facts) entitled(s *history.Server, h record.Holder, t int64) bool {
	switch h.Role {
	case record.RoleHost, record.RoleKeeper, record.RoleBench:
		return true
	}
	works := f.HostAlive(t) && (s == nil || f.HostOf(s) == f.HostAt(t))
	return h.Role.Server() == "" && (works && f.hostsOwn(h.Identity) || f.CarriedServer(h.PID) || prose.LaunchedIt(s, h))
}

// WithheldByItsOwn says that nobody but what the host has started itself holds the write end of a server's stdin.
func (f *Facts) WithheldByItsOwn(s *history.Server, e *record.Evidence) bool {
	return f.withheld(s, e, f.Last()) && !f.withheld(s, e, f.HostOf(s).Started)
}
