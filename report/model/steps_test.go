package model

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// TestOwnLimits: the report says after how long the host gave up by itself, or that it has not.
func TestOwnLimits(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second)
	step := func(kind record.Kind, at int64, s record.Step) record.Event {
		return record.Event{Kind: kind, T: at, Step: &s}
	}
	patient := record.Step{N: 1, Op: record.OpOpen, Session: "late", Patience: record.Duration(75 * time.Second)}
	call := record.Step{N: 2, Op: record.OpCall, Session: "work", Detail: "echo", Patience: patient.Patience}
	none, back := call, patient
	none.Error, back.OK, back.Expect, back.N = "the host has no limit of its own within 75 s", true, record.ExpectAny, 3
	events := []record.Event{
		step(record.StepBegun, 0, patient), step(record.StepBegun, 0, call), step(record.StepEnded, 30*second, patient),
		step(record.StepSkipped, 75*second, none), step(record.StepBegun, 76*second, back), step(record.StepEnded, 79*second, back),
		step(record.StepEnded, 80*second, record.Step{N: 4, Op: record.OpCall}),
	}
	run := &record.Run{Events: events}
	for i := range run.Events {
		run.Events[i].Seq = int64(i + 1)
	}
	s := New(&verdict.Judged{Run: run, History: history.Of(run)})
	assert.Equal(t, []string{
		"open late: the host gave up after 30 s",
		"call work echo: not applicable, the host has no limit of its own within 75 s",
		"open late: answered after 3 s, although its server never did",
	}, s.OwnLimits())
	assert.Equal(t, "skipped", StepResult(&history.Step{Skipped: true}))
}

// TestReconnects: the report says of each session how it came back, and counts no try that failed.
func TestReconnects(t *testing.T) {
	t.Parallel()
	var events []record.Event
	for i, s := range []record.Step{
		{Session: "storm", Reconnect: record.ByItself, Error: "the host reconnected by itself"},
		{Session: "desk", Reconnect: record.ByOpen, OK: true},
		{Session: "storm", Reconnect: record.ByItself, Error: "the host reconnected by itself"},
		{Session: "storm", Reconnect: record.ByItself, Error: "the host claims to reconnect by itself"},
		{Session: "storm", Reconnect: record.ByOpen, OK: true},
		{Session: "storm", OK: true},
	} {
		s.N, s.Op = i+1, record.OpOpen
		begun, ended := s, s
		kind := record.StepEnded
		if s.Error == "the host reconnected by itself" {
			kind = record.StepSkipped
		}
		events = append(events, record.Event{Kind: record.StepBegun, Step: &begun}, record.Event{Kind: kind, Step: &ended})
	}
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	run := &record.Run{Events: events}
	s := New(&verdict.Judged{Run: run, History: history.Of(run)})
	assert.Equal(t, []string{"storm: 2 times by itself, 1 time when it was opened", "desk: 1 time when it was opened"}, s.Reconnects())
}
