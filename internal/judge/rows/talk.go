package rows

import (
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// talk is what was said between the host and its servers.
type talk struct {
	*history.History
	heard map[*history.Server][]message // what each server received, in its order
	last  int64
}

// message is what a server received.
type message struct {
	T int64
	record.RPCInfo
}

func listen(run *record.Run, h *history.History) *talk {
	t := &talk{History: h, heard: map[*history.Server][]message{}}
	for i := range run.Events {
		e := &run.Events[i]
		t.last = e.T
		if s := t.Server(e.Server); e.Kind == record.RPC && e.RPC.Phase == record.PhaseReceived && s != nil {
			t.heard[s] = append(t.heard[s], message{e.T, *e.RPC})
		}
	}
	return t
}

// sends says that some server received a message of a method.
func (t *talk) sends(method record.Method) bool {
	return slices.ContainsFunc(t.Servers(), func(s *history.Server) bool { return t.has(s, method, 0) })
}

// has says that a server received a message of a method, at a time or later.
func (t *talk) has(s *history.Server, method record.Method, from int64) bool {
	return slices.ContainsFunc(t.heard[s], func(m message) bool { return m.Method == method && m.T >= from })
}

// isModern says that the client speaks the era without a handshake: some server heard it begin with something else than initialize.
func (t *talk) isModern() bool {
	return slices.ContainsFunc(t.Servers(), func(s *history.Server) bool {
		return len(t.heard[s]) > 0 && t.heard[s][0].Method != record.MethodInitialize
	})
}

// connection is the servers that a host has launched for a session, or, where sessions are not known, for a label.
type connection []*history.Server

// connections are in the order of their first servers. A server that received nothing is none that was asked.
func (t *talk) connections() (all []connection) {
	at := map[[2]string]int{}
	for _, s := range t.Servers() {
		if len(t.heard[s]) == 0 {
			continue
		}
		key := [2]string{s.Label, s.Session}
		i, known := at[key]
		if !known {
			i = len(all)
			at[key], all = i, append(all, nil)
		}
		all[i] = append(all[i], s)
	}
	return all
}

// of is the connection that a server is one of.
func (t *talk) of(s *history.Server) connection {
	for _, c := range t.connections() {
		if slices.Contains(c, s) {
			return c
		}
	}
	return nil
}

// hears says that a server of the connection received a message of a method after a time.
func (t *talk) hears(c connection, method record.Method, after int64) bool {
	return slices.ContainsFunc(c, func(s *history.Server) bool { return t.has(s, method, after+1) })
}

// faultAt is the first fault of a kind that a server committed, or nil.
func faultAt(s *history.Server, on record.Moment, do record.Action) *history.FaultMark {
	for i := range s.Faults {
		if f := &s.Faults[i]; f.On == on && f.Do == do {
			return f
		}
	}
	return nil
}
