package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
)

// facts are the numbers beside the verdict.
func (s *story) facts() []fact {
	v := &s.Verdict
	return present([]fact{
		{"Host", strings.TrimSpace(s.header.Host.Name + " " + s.hostVersion())},
		{"Servers launched", strconv.Itoa(v.Spawned)},
		{"Alive at most", strconv.Itoa(v.PeakLive)},
		{"Left at the end", strconv.Itoa(v.Left)},
		{"Steps", s.stepCount()},
		{"Took", span(s.end)},
		{"Host restarted", s.restarts()},
		{"Host ended", exitText(s.hostExit)},
		{"Seed", s.seed()},
		{"Run ended", s.ending()},
	})
}

// restarts is how often the host was started anew, "" for never.
func (s *story) restarts() string {
	if n := len(s.hosts) - 1; n > 0 {
		return plural(n, "time")
	}
	return ""
}

func (s *story) hostVersion() string {
	if s.hello == nil {
		return ""
	}
	return s.hello.Version
}

func (s *story) seed() string {
	if s.header.Seed == 0 {
		return ""
	}
	return strconv.FormatUint(s.header.Seed, 10)
}

// stepCount is "86", or "9, 8 skipped".
func (s *story) stepCount() string {
	if n := s.skipped(); n > 0 {
		return fmt.Sprintf("%d, %d skipped", len(s.steps), n)
	}
	return strconv.Itoa(len(s.steps))
}

func (s *story) skipped() (n int) {
	for _, st := range s.steps {
		if st.skipped {
			n++
		}
	}
	return n
}

// ending says how the run itself ended, where that was not as it should.
func (s *story) ending() string {
	if s.Run == nil {
		return "not read"
	}
	if s.Run.Truncated != "" {
		return "file is not complete: " + s.Run.Truncated
	}
	if n := len(s.Run.Events); n > 0 {
		if e := s.Run.Events[n-1].End; e != nil && e.Reason != record.EndDone {
			return strings.TrimSpace(strings.Join([]string{string(e.Reason), e.Signal, e.Error}, " "))
		}
	}
	return ""
}

func exitText(e *record.Exit) string {
	switch {
	case e == nil:
		return ""
	case e.Signal != "" && e.Asked:
		return "by " + e.Signal + ", as asked"
	case e.Signal != "":
		return "by " + e.Signal
	case e.Asked:
		return fmt.Sprintf("exit %d, as asked", e.Code)
	}
	return fmt.Sprintf("exit %d, unasked", e.Code)
}

func (s *story) limits() []fact {
	l, p := &s.header.Limits, &s.header.Host.Profile
	spawns := func(n int, per string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("%d per %s", n, per)
	}
	return present([]fact{
		{"Settle time", duration(l.Settle)},
		{"Watched on for", duration(l.Confirm)},
		{"Quiet must hold", duration(l.Quiet)},
		{"One close", duration(l.Close)},
		{"Host's end", duration(l.Stop)},
		{"Launches", strings.Trim(spawns(l.SpawnsPerSession, "session")+", "+spawns(l.SpawnsPerMinute, "minute"), ", ")},
		{"Host's own teardown", p.Ladder},
		{"Host's time scale", p.Scale},
	})
}

func (s *story) machine() []fact {
	h := s.header
	w, sys := &h.Witness, &h.System
	host := strings.TrimSpace(h.Host.Name + " " + s.hostVersion())
	return present([]fact{
		{"Run", h.ID},
		{"Started", started(h.Started)},
		{"Seed", strconv.FormatUint(h.Seed, 10)},
		{"Host", strings.TrimSpace(host + ", " + string(h.Host.Kind))},
		{"Host's command", shell(h.Host.Command)},
		{"About the host", h.Host.About},
		{"Scenario file", h.Scenario.File},
		{"Bench", strings.TrimSpace(fmt.Sprintf("leakbench %s %s %s", h.Tool.Version, h.Tool.Commit, h.Tool.Go))},
		{"Machine", fmt.Sprintf("%s %s, kernel %s, %s, uid %d", sys.OS, sys.Arch, sys.Kernel, plural(sys.CPUs, "CPU"), sys.UID)},
		{"Ledger", "pids attested by " + w.Ledger},
		{"Census", "reads " + w.Census + ", " + adopts(w)},
		{"Kept in", s.Dir},
	})
}

func adopts(w *record.Witness) string {
	text := "orphans do not come home to the keeper"
	if w.Subreaper {
		text = "orphans come home to the keeper"
	}
	if w.Cgroup != "" {
		text += ", cgroup " + w.Cgroup
	}
	return text
}

func duration(d record.Duration) string {
	if d <= 0 {
		return ""
	}
	return span(int64(d))
}

// present drops the facts that are not known.
func present(all []fact) []fact {
	var out []fact
	for _, f := range all {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	return out
}
