package history

import "github.com/leakbench/leakbench/internal/record"

// race is what is known of the opens of one session that are under way. Where there are several, the host may keep
// the server of any of them: which one was launched last does not tell which was connected last.
type race struct {
	id    int // 0: there was but one open at any time
	open  int
	since int64
}

// race follows the opens of sessions.
func (h *History) race(e *record.Event) {
	if e.Step.Op != record.OpOpen {
		return
	}
	key := sessionKey{e.Step.Label, e.Step.Session}
	r := h.opening[key]
	if e.Kind != record.StepBegun {
		if r != nil {
			if r.open--; r.open == 0 {
				delete(h.opening, key)
			}
		}
		return
	}
	if r == nil {
		h.opening[key] = &race{open: 1, since: e.T}
		return
	}
	if r.open++; r.id == 0 {
		h.races++
		r.id = h.races
		h.enter(key, r)
	}
}

// enter takes in the servers that the first open had launched before the second one began.
func (h *History) enter(key sessionKey, r *race) {
	for _, s := range h.servers {
		if s.Label == key.label && s.Session == key.name && s.Born >= r.since {
			s.Race = r.id
		}
	}
}

// join takes in a server that is launched while its session is being opened.
// One behind a gateway says whose it is only as it shakes hands.
func (h *History) join(s *Server) {
	if r := h.opening[sessionKey{s.Label, s.Session}]; r != nil {
		s.Race = r.id
	}
}

// Rivals says that two servers were launched by opens of one session side by side.
func Rivals(a, b *Server) bool { return a != b && a.Race != 0 && a.Race == b.Race }

// preferTheLiving lets a living rival take the place of a dead server among the first n of a group.
func preferTheLiving(group []*Server, n int) {
	for i := range min(n, len(group)) {
		if group[i].Died == Never {
			continue
		}
		for j := n; j < len(group); j++ {
			if other := group[j]; Rivals(group[i], other) && other.Died == Never && other.Established != Never {
				group[i], group[j] = other, group[i]
				break
			}
		}
	}
}
