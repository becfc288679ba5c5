package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// facts are the numbers beside the verdict.
func runFacts(s *model.Run) []fact {
	if s.Verdict.Watched != nil {
		return watchedFacts(s)
	}
	v, again := &s.Verdict, len(s.History.Hosts())-1
	subject, launched := capital(s.Header.Host.Kind.Subject()), "Servers launched"
	if isServer(s) {
		launched = "Processes"
	}
	return present([]fact{
		{subject, strings.TrimSpace(s.Header.Host.Name + " " + hostVersion(s))},
		{launched, strconv.Itoa(v.Spawned)},
		{"Peak alive", strconv.Itoa(v.PeakLive)},
		{"Should be gone", strconv.Itoa(s.Impact.Left)},
		{"Killed by mistake", known(s.Impact.Harmed > 0, strconv.Itoa(s.Impact.Harmed))},
		{"Zombies", known(s.Impact.Unreaped > 0, strconv.Itoa(s.Impact.Unreaped))},
		{"Left at the end", known(v.Left > 0, strconv.Itoa(v.Left))},
		{"Steps", stepCount(s)},
		{"Own time limit", strings.Join(s.OwnLimits(), "; ")},
		{"Sessions came back", strings.Join(s.Reconnects(), "; ")},
		{"Took", duration.Text(s.End)},
		{"Host restarted", known(again > 0, text.Count(again, "time"))},
		{subject + " ended", hostEnd(s)},
		{"Seed", known(s.Header.Seed != 0, strconv.FormatUint(s.Header.Seed, 10))},
		{"Run ended", ending(s)},
	})
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// isServer says that no host is under test, but a server.
func isServer(s *model.Run) bool { return s.Header.Host.Kind == record.KindServer }

// hostEnd is how the host, or the server under test, ended.
func hostEnd(s *model.Run) string {
	h := s.History.Host()
	if _, swept := s.History.Swept()[h.Identity]; swept && isServer(s) {
		return "not by itself: leakbench killed it"
	}
	return model.HostEnd(h)
}

// known is a text where there is something to say, else "".
func known(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

func hostVersion(s *model.Run) string {
	if hello := s.History.Hello(); hello != nil {
		return hello.Version
	}
	return ""
}

// stepCount is "86", or "9, 8 skipped".
func stepCount(s *model.Run) string {
	if n := s.Skipped(); n > 0 {
		return fmt.Sprintf("%d, %d skipped", len(s.History.Steps()), n)
	}
	return strconv.Itoa(len(s.History.Steps()))
}

// ending says how the run itself ended, where that was not as it should.
func ending(s *model.Run) string {
	if s.Run == nil {
		return "not read"
	}
	if s.Run.Truncated != "" {
		return "file is incomplete: " + s.Run.Truncated
	}
	if n := len(s.Run.Events); n > 0 {
		if e := s.Run.Events[n-1].End; e != nil && e.Reason != record.EndDone {
			return strings.TrimSpace(strings.Join([]string{string(e.Reason), e.Signal, e.Error}, " "))
		}
	}
	return ""
}

func limits(s *model.Run) []fact {
	l, p := &s.Header.Limits, &s.Header.Host.Profile
	spawns := func(n int, per string) string { return known(n != 0, fmt.Sprintf("%d per %s", n, per)) }
	duration := func(d record.Duration) string { return known(d > 0, duration.Text(d)) }
	return present([]fact{
		{"Settle time", duration(l.Settle)},
		{"Survivors watched for", duration(l.Confirm)},
		{"Quiet required for", duration(l.Quiet)},
		{"Limit of a close", duration(l.Close)},
		{"Limit of the stop", duration(l.Stop)},
		{"Waited for the host's own limit", duration(l.Patience)},
		{"Launches", strings.Trim(spawns(l.SpawnsPerSession, "session")+", "+spawns(l.SpawnsPerMinute, "minute"), ", ")},
		{"Teardown of the host", p.Ladder},
		{"Time scale of the host", p.Scale},
	})
}

func machine(s *model.Run) []fact {
	h := s.Header
	w, sys := &h.Witness, &h.System
	host, subject := strings.TrimSpace(h.Host.Name+" "+hostVersion(s)), h.Host.Kind.Subject()
	return present([]fact{
		{"Run", h.ID},
		{"Started", known(!h.Started.IsZero(), h.Started.UTC().Format("2006-01-02 15:04:05 UTC"))},
		{"Seed", strconv.FormatUint(h.Seed, 10)},
		{capital(subject), strings.TrimSpace(host + ", " + string(h.Host.Kind))},
		{capital(subject) + "'s command", words.Shell(h.Host.Command)},
		{"About the host", h.Host.About},
		{"Scenario file", h.Scenario.File},
		{"Bench", strings.TrimSpace(fmt.Sprintf("leakbench %s %s %s", h.Tool.Version, h.Tool.Commit, h.Tool.Go))},
		{"Machine", fmt.Sprintf("%s %s, kernel %s, %s, uid %d", sys.OS, sys.Arch, sys.Kernel, text.Count(sys.CPUs, "CPU"), sys.UID)},
		{"Ledger", "PIDs attested by " + w.Ledger},
		{"Census", "reads " + w.Census + ", " + adopts(w)},
		{"Kept in", s.Dir},
	})
}

func adopts(w *record.Witness) string {
	text := "orphans are not reparented to the keeper"
	if w.Subreaper {
		text = "orphans are reparented to the keeper"
	}
	if w.Cgroup != "" {
		text += ", cgroup " + w.Cgroup
	}
	return text
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
