package history

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// Reconcile holds the servers that are alive now against what is wanted.
//
// Each want is about a group: a session's servers, or for a want without a session all servers of the label that no
// session's want covers. Of a group only its newest Live servers may be alive, where those that were established once
// come before those that never were. Counting alone is blind: an older one that lives does not make up for a newer
// one that died, unless the two were launched for one session by opens side by side: there any one may stay.
//
// Servers that an earlier life of the host has launched are in no group: their sessions ended with it.
//
// extra are the servers that live and may not, the oldest first; a server that no want covers may not. missing are
// the wants, in their order, whose newest servers do not all live; Live is how many do not. A want that is AtMost
// misses nothing, and neither does it miss a server that is lost: it may live.
func (h *History) Reconcile(wants []record.Want) (extra []*Server, missing []record.Want) {
	allowed, lack := h.allow(wants)
	for _, s := range h.servers {
		if s.Alive() && !allowed[s] {
			extra = append(extra, s)
		}
	}
	for i, want := range wants {
		if lack[i] > 0 && !want.AtMost {
			want.Live = lack[i]
			missing = append(missing, want)
		}
	}
	return extra, missing
}

// allow is which servers may live, and how many each want lacks.
func (h *History) allow(wants []record.Want) (allowed map[*Server]bool, lack []int) {
	allowed, lack = map[*Server]bool{}, make([]int, len(wants))
	rest := h.ofThisLife()
	for _, i := range sessionsFirst(wants) {
		var group []*Server
		group, rest = divide(rest, wants[i])
		if wants[i].Session == "" { // its spare ones may be of any session
			if wants[i].AtMost {
				endedFirst(group)
			}
			lack[i] = h.newest(group, wants[i].Live, 0, allowed)
			group, _ = divide(h.ofThisLife(), record.Want{Label: wants[i].Label})
			slices.Reverse(group)
			spares(group, wants[i].Spare, allowed, isReady)
		} else {
			lack[i] = h.newest(group, wants[i].Live, wants[i].Spare, allowed)
		}
		together(group, wants[i].Together, allowed)
	}
	return allowed, lack
}

// endedFirst puts those that have ended in order first, as the oldest: of a host whose sessions are unknown, a newer one
// that it has ended may have been that of a job.
func endedFirst(group []*Server) {
	slices.SortStableFunc(group, func(a, b *Server) int { return stays(a) - stays(b) })
}

func stays(s *Server) int {
	if s.Died != Never && s.EOF != Never && s.Established != Never && s.Broken == Never && len(s.Signals) == 0 {
		return 0
	}
	return 1
}

// ofThisLife are the servers of the host's latest life.
func (h *History) ofThisLife() []*Server {
	if len(h.hosts) < 2 {
		return h.servers
	}
	return slices.DeleteFunc(slices.Clone(h.servers), func(s *Server) bool { return s.Life < len(h.hosts) })
}

// sessionsFirst are the indexes of the wants, those of sessions first.
func sessionsFirst(wants []record.Want) []int {
	order := make([]int, len(wants))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return wide(wants[a]) - wide(wants[b])
	})
	return order
}

func wide(w record.Want) int {
	if w.Session == "" {
		return 1
	}
	return 0
}

// divide takes a want's group out of servers.
func divide(servers []*Server, w record.Want) (group, rest []*Server) {
	of := func(s *Server) bool { return s.Label == w.Label && (w.Session == "" || s.Session == w.Session) }
	if !slices.ContainsFunc(servers, of) { // a file may want 100,000 that there never were
		return nil, servers
	}
	for _, s := range servers {
		if of(s) {
			group = append(group, s)
		} else {
			rest = append(rest, s)
		}
	}
	return group, rest
}

// newest allows the newest n of a group, which is in the order of births, and returns how many of them are dead or
// were never born. Of the others it allows the newest spare ones that live and work.
func (h *History) newest(group []*Server, n, spare int, allowed map[*Server]bool) (lack int) {
	slices.Reverse(group)
	slices.SortStableFunc(group, func(a, b *Server) int { return h.beside(a) - h.beside(b) })
	n = max(n, 0)
	preferTheLiving(group, n)
	lack = n
	for _, s := range group[:min(n, len(group))] {
		allowed[s] = true
		if s.Died == Never {
			lack--
		}
	}
	spares(group, spare, allowed, works)
	return lack
}

// spares allows the first n of a group, those that are allowed left out, that live and are as they should be.
func spares(group []*Server, n int, allowed map[*Server]bool, fit func(*Server) bool) {
	for _, s := range group {
		if n > 0 && !allowed[s] && s.Alive() && fit(s) {
			allowed[s] = true
			n--
		}
	}
}

func works(s *Server) bool { return s.Established != Never && s.Broken == Never }

// isReady says that a server works, or has not been asked for anything yet: some hosts leave the handshake to the client that comes.
func isReady(s *Server) bool { return works(s) || s.Inits == 0 && s.Broken == Never }

// SameMoment is how near to each other two launches by a host whose sessions
// are unknown must be to count as made for one connection.
const SameMoment = 2 * time.Second

// together allows those that were launched side by side with one that is allowed, up to n in all.
func together(group []*Server, n int, allowed map[*Server]bool) {
	i := slices.IndexFunc(group, func(s *Server) bool { return allowed[s] && s.Alive() })
	if i < 0 {
		return
	}
	for _, s := range group {
		near := max(s.Born-group[i].Born, group[i].Born-s.Born) < int64(SameMoment)
		if n > 1 && !allowed[s] && near && works(s) {
			allowed[s] = true
			n--
		}
	}
}

// beside tells a server that was never the session's own: it never shook hands, or it was a probe.
func (h *History) beside(s *Server) int {
	if s.Established == Never || h.Probe(s) {
		return 1
	}
	return 0
}

// Probe says that a server was launched beside the one that its session had, was asked for no work, and was ended while that one lived
// on: a look at the list of tools, a check of health. That it is gone takes nothing from the session. Of one that was not ended in
// order it is known once the session has worked on with the other.
func (h *History) Probe(s *Server) bool {
	if h.questioned(s) || h.listed(s) {
		return true
	}
	if s.Died == Never || len(s.Calls) > 0 {
		return false
	}
	ended, inOrder := s.Died, s.EOF != Never
	if len(s.Signals) > 0 {
		ended, inOrder = min(ended, s.Signals[0].T), inOrder && s.Signals[0].T >= s.EOF
	}
	return slices.ContainsFunc(h.servers, func(o *Server) bool {
		return h.served(o, s) && (inOrder && (o.Died == Never || o.Died > s.EOF) || o.Worked(ended, math.MaxInt64))
	})
}

// questioned says that a server was asked for the versions it speaks and for nothing else, was ended, and that the process which the
// session then worked with was launched at once: some clients question a sibling of each server first.
func (h *History) questioned(s *Server) bool {
	if s.LastRPC.Method != record.MethodDiscover || s.Died == Never || s.EOF == Never && len(s.Signals) == 0 {
		return false
	}
	return slices.ContainsFunc(h.servers, func(o *Server) bool {
		mine := o.SharesSession(s) && o.Life == s.Life && o.Established != Never
		return mine && o.Born > s.Born && o.Born-s.Died < int64(SameMoment) && !h.Reopened(s, o)
	})
}

// listed says that a server was asked for a list (of tools, say) and for no work by the open, or the reload, that launched it, and was
// ended in order before that was answered: some clients launch what they work with at the first call. A session that was called and
// for which no other one was launched has lost this one.
func (h *History) listed(s *Server) bool {
	asked := strings.HasSuffix(string(s.LastRPC.Method), "/list") && s.LastRPC.Phase == record.PhaseAnswered && len(s.Calls) == 0
	session := h.Session(s.Label, s.Session)
	if !asked || !s.endedInOrder() || session == nil {
		return false
	}
	from := h.openedWithin(s)
	if from == Never {
		return false
	}
	until := session.openUntil(from)
	called := slices.ContainsFunc(h.steps, func(st *Step) bool {
		return st.Op == record.OpCall && st.Session == s.Session && st.Begun > from && st.Begun < until
	})
	return !called || h.replaced(s, until)
}

// openedWithin is the end of the open, or the reload, in whose course a server was launched and ended, or Never.
func (h *History) openedWithin(s *Server) int64 {
	for _, st := range h.steps {
		opens := st.Op == record.OpOpen && st.Session == s.Session || st.Op == record.OpReload
		if opens && st.Label == s.Label && st.OK && st.Begun <= s.Born && st.Ended >= s.EOF {
			return st.Ended
		}
	}
	return Never
}

// replaced says that another server was launched for a server's session later, before a time.
func (h *History) replaced(s *Server, until int64) bool {
	return slices.ContainsFunc(h.servers, func(o *Server) bool {
		return o.SharesSession(s) && o.Life == s.Life && o.Born > s.Born && o.Born < until
	})
}

// served says that o was the working server of its session when s was launched for the same connection.
func (h *History) served(o, s *Server) bool {
	if o == s || !o.SharesSession(s) || o.Life != s.Life || o.Born > s.Born || o.Established == Never {
		return false
	}
	return (o.Broken == Never || o.Broken > s.EOF) && (o.EOF == Never || o.EOF > s.EOF) && !h.Reopened(o, s)
}

// Reopened says that the session of two servers was opened anew after the first one's birth and before the second one's.
func (h *History) Reopened(first, second *Server) bool {
	session := h.Session(second.Label, second.Session)
	return session != nil && slices.ContainsFunc(session.Changes, func(c SessionChange) bool {
		return c.State == record.SessionOpening && c.T > first.Born && c.T <= second.Born
	})
}
