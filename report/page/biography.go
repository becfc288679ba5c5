package page

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// biography is the life of a server in words.
type biography []entry

type entry struct {
	t int64
	eventView
}

// add notes what happened at a moment, if it came.
func (h *biography) add(t int64, class, format string, args ...any) {
	if t >= 0 {
		*h = append(*h, entry{t, eventView{words.At(t), fmt.Sprintf(format, args...), class}})
	}
}

// historyOf tells the life of a server in the order of its events.
func historyOf(s *model.Run, f *model.Server) []eventView {
	var h biography
	h.protocol(f)
	h.add(f.EOF, "", "end of stdin")
	for _, m := range f.Signals {
		h.add(m.T, "", "caught %s", m.Text)
	}
	h.add(f.Overdue, "bad", "should be gone from here on")
	h.add(f.Bye, "", "cleaned up, exits")
	h.add(f.Lost, "bad", "its connection ended, but not its process")
	h.add(f.Died, "", "dead")
	switch {
	case f.Alive():
		h.add(s.End, "bad", "still there when the run ended")
	case f.Left:
		h.add(f.Until, "bad", "killed by the bench")
	}
	slices.SortStableFunc(h, func(x, y entry) int { return cmp.Compare(x.t, y.t) })
	out := make([]eventView, len(h))
	for i := range h {
		out[i] = h[i].eventView
	}
	return out
}

func (h *biography) protocol(f *model.Server) {
	b := &f.Birth
	h.add(f.Born, "", "born: pid %d, parent %d, group %d, session %d, launch %d", b.PID, b.PPID, b.PGID, b.SID, f.Launch)
	h.add(f.Ready, "", "reads stdin")
	h.add(f.Established, "", "initialize answered")
	for _, m := range f.Faults {
		h.add(m.T, "fault", "fault: %s", words.Join("on", string(m.On)+",", string(m.Do), m.Detail))
	}
	if len(f.Calls) > 0 {
		h.add(f.Calls[0].Received, "", "first of %s", words.Plural(len(f.Calls), "call"))
	}
	if f.LastRPC != (record.RPCInfo{}) {
		h.add(f.LastRPCAt, "", "last message: %s", messageText(f.LastRPC))
	}
}

func messageText(m record.RPCInfo) string {
	return words.Join(string(m.Method), m.Tool, string(m.Phase))
}
