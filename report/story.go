package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// never is a moment that did not come.
const never = int64(-1)

// story is a run as the reports tell it: the events folded into spans.
type story struct {
	*verdict.Judged
	order       []verdict.Finding // what the page begins with first
	header      *record.Header
	lives       *history.Lives
	end         int64       // the last event
	hosts       []*hostSpan // the lives of the host
	hello       *record.Hello
	hostExit    *record.Exit // of the latest life
	hostGone    int64        // likewise; never: it lived to the end of the run
	steps       []*stepSpan
	checkpoints []*checkSpan
	samples     []sample
	fates       []*fate // in order of birth
	byServer    map[string]*fate
	kin         []*kin
	firstBirth  map[string]int64 // of a label's session; see sessionRank
	bySession   map[string][]*history.Server
	changes     map[string][]history.SessionChange // by the session's name
}

type stepSpan struct {
	record.Step
	from, to int64
	skipped  bool
	open     bool // it never ended
}

type checkSpan struct {
	record.Checkpoint
	from, to int64
}

// sample is what a census says of the host and of zombies.
type sample struct {
	t       int64
	host    *record.Process
	zombies int
	rss     int64 // of all below the host, in bytes
	fds     int   // likewise, of those that could be seen
}

// fate is a server with what became of it.
type fate struct {
	*history.Server
	n       int   // 1 is the first born
	overdue int64 // since when it should have been gone; never: it should not
	until   int64 // its death, or the end of the run
	left    bool  // the bench had to kill it, or never saw it die
	wronged bool  // it was ended by mistake
	zombie  bool  // it died, but its parent did not wait for it in time
}

func tell(j *verdict.Judged) *story {
	run := j.Run
	if run == nil {
		run = &record.Run{}
	}
	header := run.Played()
	s := &story{
		Judged: j, header: &header, lives: history.Of(run.Events), hostGone: never, byServer: map[string]*fate{},
		bySession: map[string][]*history.Server{}, changes: map[string][]history.SessionChange{},
	}
	swept := map[record.Identity]bool{}
	open := map[int]*stepSpan{}
	for i := range run.Events {
		e := &run.Events[i]
		s.end = max(s.end, e.T)
		s.readHost(e)
		s.readStep(e, open)
		s.readCheckpoint(e)
		if e.Kind == record.Swept && e.Census != nil {
			for _, p := range e.Census.Processes {
				swept[p.Identity] = true
			}
		}
	}
	for _, st := range open {
		st.to = s.end
	}
	for _, c := range s.checkpoints {
		if c.to < c.from {
			c.to = s.end
		}
	}
	s.readFates(swept)
	s.readKin(run)
	s.order = gravestFirst(j.Verdict.Findings)
	return s
}

func (s *story) readHost(e *record.Event) {
	switch {
	case e.Kind == record.HostStarted && e.Process != nil:
		s.hosts = append(s.hosts, &hostSpan{pid: e.Process.PID, from: e.T, to: never})
		s.hostExit, s.hostGone = nil, never
	case e.Kind == record.HostReady && e.Hello != nil:
		s.hello = e.Hello
	case e.Kind == record.HostExited:
		s.hostExit, s.hostGone = e.Exit, e.T
		if n := len(s.hosts); n > 0 {
			s.hosts[n-1].to, s.hosts[n-1].exit = e.T, e.Exit
		}
	case e.Kind == record.CensusTaken && e.Census != nil:
		one := sample{t: e.T, host: e.Census.Host}
		for _, p := range e.Census.Processes {
			if p.State == record.StateZombie {
				one.zombies++
			}
			if e.Census.Host == nil || p.Identity != e.Census.Host.Identity {
				one.rss += p.RSS
				one.fds += max(p.FDs, 0)
			}
		}
		s.samples = append(s.samples, one)
	}
}

func (s *story) readStep(e *record.Event, open map[int]*stepSpan) {
	if e.Step == nil {
		return
	}
	switch e.Kind {
	case record.StepBegun:
		span := &stepSpan{Step: *e.Step, from: e.T, to: e.T, open: true}
		open[e.Step.N] = span
		s.steps = append(s.steps, span)
	case record.StepEnded, record.StepSkipped:
		span := open[e.Step.N]
		if span == nil {
			span = &stepSpan{from: e.T}
			s.steps = append(s.steps, span)
		}
		span.Step, span.to, span.skipped, span.open = *e.Step, e.T, e.Kind == record.StepSkipped, false
		delete(open, e.Step.N)
	}
}

func (s *story) readCheckpoint(e *record.Event) {
	if e.Checkpoint == nil {
		return
	}
	switch e.Kind {
	case record.CheckpointBegun:
		s.checkpoints = append(s.checkpoints, &checkSpan{Checkpoint: *e.Checkpoint, from: e.T, to: never})
	case record.CheckpointEnded:
		for _, c := range slices.Backward(s.checkpoints) {
			if c.Name == e.Checkpoint.Name && c.to == never {
				c.Checkpoint, c.to = *e.Checkpoint, e.T
				return
			}
		}
	}
}

func (s *story) readFates(swept map[record.Identity]bool) {
	for _, srv := range s.lives.Servers() {
		key := sessionKey(srv.Label, srv.Session)
		s.bySession[key] = append(s.bySession[key], srv)
	}
	for _, session := range s.lives.Sessions() {
		s.changes[session.Name] = append(s.changes[session.Name], session.Changes...)
	}
	for _, srv := range s.lives.Servers() {
		f := &fate{Server: srv, n: len(s.fates) + 1, overdue: never, until: s.end}
		switch {
		case srv.Died >= 0:
			f.until = srv.Died
		case srv.Lost >= 0:
			f.until = srv.Lost
		}
		f.left = srv.Alive() || swept[srv.Birth.Identity]
		s.fates = append(s.fates, f)
		s.byServer[srv.ID] = f
	}
	for i := range s.Verdict.Findings {
		f := &s.Verdict.Findings[i]
		for _, id := range f.Servers {
			srv := s.byServer[id]
			switch {
			case srv == nil:
			case f.Law == "L1" || f.Law == "L2":
				since := s.unwantedSince(srv, f.Checkpoint)
				if srv.overdue == never || since < srv.overdue {
					srv.overdue = since
				}
			case f.Law == "L3":
				srv.wronged = true
			case f.Law == "L4":
				srv.zombie = true
			}
		}
	}
}

// unwantedSince is when a server that a finding calls left over stopped being
// wanted: its session got a newer server, or ended, or the host did. Where none
// of that is known, it is the checkpoint that found it.
func (s *story) unwantedSince(f *fate, checkpoint string) int64 {
	since := s.end
	if gone := s.hostGoneFor(f); gone >= 0 {
		since = gone
	}
	for _, c := range s.checkpoints {
		if c.Name == checkpoint {
			since = min(since, c.from)
			break
		}
	}
	if f.Session != "" {
		since = min(since, s.superseded(f, since), s.sessionEnded(f, since))
	}
	return max(since, f.Born)
}

func sessionKey(label, session string) string { return label + "\x00" + session }

func (s *story) superseded(f *fate, since int64) int64 {
	for _, o := range s.bySession[sessionKey(f.Label, f.Session)] {
		if o.Launch > f.Launch {
			if o.Established >= 0 {
				return o.Established
			}
			return o.Born
		}
	}
	return since
}

func (s *story) sessionEnded(f *fate, since int64) int64 {
	for _, c := range s.changes[f.Session] {
		if c.T > f.Born && c.State == record.SessionEnded {
			return c.T
		}
	}
	return since
}

// outcome says in a few words what became of a server.
func (s *story) outcome(f *fate) string {
	switch {
	case f.left && s.hostGoneFor(f) >= 0:
		return "outlived the host"
	case f.left:
		return "still running"
	case f.wronged:
		return "ended by mistake"
	case f.zombie:
		return "left as a zombie"
	case f.overdue >= 0:
		return span(f.until-f.overdue) + " too long"
	case f.Lost >= 0:
		return "lost from sight"
	case f.Bye >= 0:
		return "clean exit"
	case f.Broken >= 0:
		return "its fault: " + firstBreak(f)
	case f.Term >= 0:
		return "ended by SIGTERM"
	case f.EOF >= 0:
		return "ended on EOF"
	}
	return "killed"
}

func firstBreak(f *fate) string {
	for _, m := range f.Faults {
		if m.Breaks {
			return string(m.Do)
		}
	}
	return "fault"
}

// planned is a fault of the plan with how often it was seen.
type planned struct {
	record.PlanFault
	fired int
}

func (s *story) faults() []planned {
	var out []planned
	for _, p := range s.header.Plan.Faults {
		one := planned{PlanFault: p}
		for _, srv := range s.lives.Servers() {
			if srv.Label != p.Label || p.Launch > 0 && srv.Launch != p.Launch || p.Launch == 0 && p.Every > 1 && srv.Launch%p.Every != 0 {
				continue
			}
			for _, m := range srv.Faults {
				if m.On == p.On && m.Do == p.Do {
					one.fired++
				}
			}
		}
		out = append(out, one)
	}
	return out
}

// grip is what keeps survivors alive: who holds their stdin, and where they
// wait. Survivors in the same grip are one line with a count.
type grip struct {
	count   int
	held    string // "host holds the write end"
	waits   string // "blocked in read(0)"
	sample  *record.Evidence
	holder  *record.Holder
	suspect bool // somebody does hold it
}

func grips(evidence []record.Evidence) []*grip {
	var out []*grip
	index := map[string]*grip{}
	for i := range evidence {
		e := &evidence[i]
		held, holder := stdinHeld(e)
		waits := waiting(e)
		key := held + "\x00" + waits
		g := index[key]
		if g == nil {
			g = &grip{held: held, waits: waits, sample: e, holder: holder, suspect: holder != nil}
			index[key] = g
			out = append(out, g)
		}
		g.count++
	}
	slices.SortStableFunc(out, func(a, b *grip) int { return cmp.Compare(b.count, a.count) })
	return out
}

func stdinHeld(e *record.Evidence) (string, *record.Holder) {
	if e.State == record.StateZombie {
		return "a zombie: its parent has not waited for it", nil
	}
	for i := range e.Descriptors {
		d := &e.Descriptors[i]
		if d.FD != 0 {
			continue
		}
		switch {
		case len(d.Holders) > 0:
			h, who := chiefHolder(d.Holders, e.Identity)
			return fmt.Sprintf("%s %s of its stdin", who, end(h.Mode, d.Target)), h
		case strings.HasPrefix(d.Target, "/"):
			return "its stdin is " + d.Target, nil
		case d.Known:
			return "nobody holds the other end of its stdin", nil
		}
		return "who holds its stdin could not be seen", nil
	}
	return "its stdin could not be seen", nil
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

func end(mode, target string) string {
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

func waiting(e *record.Evidence) string {
	switch {
	case e.State == record.StateZombie:
		return ""
	case e.Syscall != "":
		return "waits in " + e.Syscall
	case e.Wchan != "" && e.Wchan != "0":
		return "waits in " + e.Wchan
	case e.State == record.StateRunning:
		return "is running"
	}
	return ""
}
