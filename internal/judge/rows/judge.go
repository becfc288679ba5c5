package rows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

const oneEra = "the client begins each connection with initialize: it speaks no version of the modern era"

// judgeProbe: the first thing that a client of both eras sends is server/discover.
func judgeProbe(t *talk, c *Check) {
	c.T = t.last
	switch {
	case len(t.connections()) == 0:
		c.settle(Warning, NotTestable+"no server received a request")
		return
	case !t.isModern():
		c.settle(Skipped, oneEra)
		return
	case !t.sends(record.MethodInitialize):
		c.settle(Skipped, "the client sends no initialize: it speaks the modern era alone, and need not probe")
		return
	}
	var unprobed, stuck []*history.Server
	for _, conn := range t.connections() {
		first := conn[0]
		refused := faultAt(first, record.OnDiscover, record.DoUnsupported) != nil
		switch {
		case t.heard[first][0].Method != record.MethodDiscover:
			unprobed = append(unprobed, first)
		case !refused && !answered(conn) && !t.hears(conn, record.MethodInitialize, 0):
			stuck = append(stuck, first)
		}
	}
	switch {
	case len(unprobed) > 0:
		c.settle(Warning, "the first message was not server/discover: "+t.firsts(unprobed), unprobed...)
	case len(stuck) > 0:
		c.settle(Warning, "server/discover was refused, or not answered, and no initialize followed: "+t.firsts(stuck), stuck...)
	default:
		c.settle(Success, fmt.Sprintf("%d of %d connections began with server/discover; those that needed it fell back to initialize",
			len(t.connections()), len(t.connections())))
	}
}

// answered says that a handshake of either era was completed in a server of the connection.
func answered(c connection) bool {
	return slices.ContainsFunc(c, func(s *history.Server) bool { return s.Established >= 0 })
}

// firsts are servers with what they received first: "app#1 received initialize".
func (t *talk) firsts(all []*history.Server) string {
	var out []string
	for _, s := range all {
		out = append(out, prose.Plain(s.ID)+" received "+prose.Plain(t.heard[s][0].Method))
	}
	return strings.Join(out, ", ")
}

// judgeCancel: the server of a call that was cancelled is told.
func judgeCancel(t *talk, c *Check) {
	c.T = t.last
	cancelled := 0
	for _, st := range t.Steps() {
		if st.Op != record.OpCall || !st.Cancelled {
			continue
		}
		s, call := t.callOf(st)
		if s == nil {
			continue
		}
		cancelled++
		if !t.told(s, call) {
			c.settle(Failure, fmt.Sprintf("%s received the call %s, and no notifications/cancelled for it when it was cancelled",
				prose.Plain(s.ID), prose.Plain(call.ID)), s)
			return
		}
		c.Servers = append(c.Servers, s.ID)
	}
	if cancelled == 0 {
		c.settle(Failure, NotTestable+"no call was cancelled while it was in its server")
		return
	}
	c.settle(Success, fmt.Sprintf("%d of %d calls that were cancelled: the server received notifications/cancelled with the ID of the request",
		cancelled, cancelled))
}

// callOf is the call of a step, with the server that received it, or nil.
func (t *talk) callOf(st *history.Step) (*history.Server, history.Call) {
	for _, s := range t.Servers() {
		for _, call := range s.CallsFor(st.Session) {
			if s.Label == st.Label && call.Received >= st.Begun && (st.Ended < 0 || call.Received <= st.Ended) {
				return s, call
			}
		}
	}
	return nil, history.Call{}
}

func (t *talk) told(s *history.Server, call history.Call) bool {
	return slices.ContainsFunc(t.heard[s], func(m message) bool {
		return m.Method == record.MethodCancelled && m.ID == call.ID && m.T >= call.Received
	})
}

// judgeRestart: a server that has died is launched again before the session is opened anew.
func judgeRestart(t *talk, c *Check) {
	c.T = t.last
	crashed := 0
	for _, s := range t.Servers() {
		if s.Died < 0 || faultAt(s, record.OnOrder, record.DoExit) == nil {
			continue
		}
		crashed++
		until := t.openedAnew(s)
		next := slices.IndexFunc(t.of(s), func(o *history.Server) bool { return o.Born > s.Died && o.Born < until })
		if next < 0 {
			c.settle(Warning, fmt.Sprintf(
				"%s exited unexpectedly, and the host launched no other in %s, until the bench opened the session anew or the run ended%s",
				prose.Plain(s.ID), prose.Span(until-s.Died), t.failures(s, until)), s)
			return
		}
		c.settle(Success, fmt.Sprintf("%s exited unexpectedly, and %s was launched in its place %s later",
			prose.Plain(s.ID), prose.Plain(t.of(s)[next].ID), prose.Span(t.of(s)[next].Born-s.Died)), s, t.of(s)[next])
	}
	if crashed == 0 {
		c.settle(Warning, NotTestable+"no server was made to exit while it was used")
	}
}

// openedAnew is when the bench asked for the session of a server that had died, or for one of its label, to be opened; or the end.
func (t *talk) openedAnew(s *history.Server) int64 {
	for _, st := range t.Steps() {
		ends := st.Op.EndsHost() || st.Op == record.OpRestart
		opens := (st.Op == record.OpOpen || st.Op == record.OpReload) &&
			st.Label == s.Label && (st.Session == s.Session || s.Session == "" || st.Session == "")
		if (ends || opens) && !st.Skipped && st.Begun > s.Died {
			return st.Begun
		}
	}
	return t.last + 1
}

// failures says how the calls of a session went that had lost its server.
func (t *talk) failures(s *history.Server, until int64) string {
	for _, st := range t.Steps() {
		if st.Op == record.OpCall && st.Label == s.Label && st.Begun > s.Died && st.Begun < until && st.Failed() {
			return "; a call failed: " + prose.Quote(st.Error)
		}
	}
	return ""
}

// judgeVersion: a version that the server lists is tried, and no handshake of the other era.
func judgeVersion(t *talk, c *Check) {
	c.T = t.last
	for _, s := range t.Servers() {
		refused := faultAt(s, record.OnDiscover, record.DoUnsupported)
		if refused == nil {
			continue
		}
		conn := t.of(s)
		again := slices.ContainsFunc(conn, func(o *history.Server) bool {
			return slices.ContainsFunc(t.heard[o], func(m message) bool { return m.T > refused.T && m.ID != "" })
		})
		switch {
		case t.hears(conn, record.MethodInitialize, refused.T):
			c.settle(Warning, prose.Plain(s.ID)+" refused the version and listed one that it supports, and the client fell back to initialize", s)
		case !again:
			c.settle(Warning, prose.Plain(s.ID)+" refused the version and listed one that it supports, and the client did not try again", s)
		default:
			c.settle(Success, prose.Plain(s.ID)+" refused the version and listed one that it supports; the client went on in the modern era", s)
		}
		return
	}
	if t.isModern() || len(t.connections()) == 0 {
		c.settle(Warning, NotTestable+"no server refused the version of a request")
		return
	}
	c.settle(Skipped, oneEra)
}

// judgeResubscribe: whoever takes the place of a server that had a subscription gets it, too.
func judgeResubscribe(t *talk, c *Check) {
	c.T = t.last
	if !t.sends(record.MethodListen) {
		c.settle(Skipped, "the client opened no subscription (subscriptions/listen)")
		return
	}
	c.settle(Failure, NotTestable+"no server that had a subscription was replaced")
	for _, s := range t.Servers() {
		if s.Died < 0 || !t.has(s, record.MethodListen, 0) {
			continue
		}
		for _, o := range t.of(s) {
			if o.Born < s.Died || o.Established < 0 {
				continue
			}
			if !t.has(o, record.MethodListen, 0) {
				c.settle(Failure, fmt.Sprintf("%s had a subscription; %s took its place, and received no subscriptions/listen within %s",
					prose.Plain(s.ID), prose.Plain(o.ID), prose.Span(t.end(o)-o.Established)), s, o)
				return
			}
			c.settle(Success, fmt.Sprintf("%s had a subscription, and %s, which took its place, received subscriptions/listen again",
				prose.Plain(s.ID), prose.Plain(o.ID)), s, o)
		}
	}
}

// end is when a server died, or the run ended.
func (t *talk) end(s *history.Server) int64 {
	if s.Died >= 0 {
		return s.Died
	}
	return t.last
}
