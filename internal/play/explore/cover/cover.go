// Package cover says what a scenario is about to try and what a run has tried, in cells: a fault, the moment at which the server commits
// it, what the host was asked for last, and the state in which that found the session.
package cover

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/play/explore/grammar"
	"github.com/leakbench/leakbench/internal/record"
)

// Cell is one thing to try.
type Cell = grammar.Cell

// State is what a session was then.
type State = grammar.State

// The states.
const (
	New        = grammar.New
	Connecting = grammar.Connecting
	Open       = grammar.Open
	InCall     = grammar.InCall
	Ended      = grammar.Ended
)

// rows say which operations a moment can follow, and in which states.
var rows = []struct {
	moments []string
	op      record.Op
	states  []State
}{
	{early, record.OpOpen, []State{New, Connecting, Open, InCall, Ended}},
	{early, record.OpReload, []State{Open, InCall}},
	{early, record.OpJob, []State{New}},
	{calls, record.OpCall, []State{Open}},
	{calls, record.OpJob, []State{New}},
	{listed, record.OpList, []State{Open}},
	{late, record.OpOpen, []State{Open, InCall, Connecting}},
	{late, record.OpReload, []State{Open, InCall}},
	{late, record.OpClose, []State{Open, InCall, Connecting}},
	{late, record.OpForget, []State{Open, InCall, Connecting}},
	{late, record.OpJob, []State{New}},
	{late, record.OpCancel, []State{Connecting}},
	{late, record.OpStop, ends},
	{late, record.OpTerm, ends},
	{late, record.OpKill, ends},
	{late, record.OpRestart, ends},
	{orders, record.OpBreak, []State{Open, InCall}},
}

var (
	early  = []string{"start", "discover", "initialize", "list"} // a host may list before it calls a session open
	listed = []string{"list", "list-resources", "list-prompts"}
	calls  = []string{"call"}
	late   = []string{"eof", "term", "exit"}
	orders = []string{"order"}
	ends   = []State{Open, InCall}
)

// Table is all that can be tried with a host.
func Table(r grammar.Reach) (all []Cell) {
	for _, p := range grammar.Pairs() {
		for _, row := range rows {
			if !slices.Contains(row.moments, p.On) || !asked(r, row.op) {
				continue
			}
			for _, state := range row.states {
				if reaches(r, state) {
					all = append(all, Cell{Pair: p, Op: row.op, State: state})
				}
			}
		}
	}
	return all
}

// asked reports whether an operation can be asked of a host. A job is what a tick is made of.
func asked(r grammar.Reach, op record.Op) bool {
	if op == record.OpJob {
		op = record.OpTick
	}
	return r.Can(op)
}

// reaches reports whether a session can be brought into a state. One that the host opens by itself is open, and nobody can make it busy.
func reaches(r grammar.Reach, s State) bool {
	switch s {
	case InCall:
		return r.Can(record.OpCall)
	case Connecting:
		return r.Can(record.OpOpen)
	}
	return true
}

// Unreached says what cannot be tried with a host, with the reasons.
func Unreached(r grammar.Reach) (all []string) {
	reasons, ops := []string{}, map[string][]string{}
	note := func(what, why string) {
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
		if !slices.Contains(ops[why], what) {
			ops[why] = append(ops[why], what)
		}
	}
	for _, p := range grammar.Left() {
		note("on "+p.On, grammar.Never(p))
	}
	for _, row := range rows {
		op := row.op
		if op == record.OpJob {
			op = record.OpTick
		}
		if why := r.Cannot[op]; why != "" {
			note(string(op), why)
		}
	}
	for _, why := range reasons {
		all = append(all, fmt.Sprintf("%s: %s", join(ops[why]), why))
	}
	return all
}

func join(words []string) string {
	text := words[0]
	for _, w := range words[1:] {
		text += ", " + w
	}
	return text
}
