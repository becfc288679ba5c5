package rows

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// play writes a run as the runner would, an event each millisecond.
type play struct {
	run   *record.Run
	steps int
	pids  int
}

func newPlay() *play {
	p := &play{run: &record.Run{Header: record.Header{Plan: record.Plan{Rows: record.Rows()}}}}
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 1, Start: 1}}})
	return p
}

func (p *play) add(e record.Event) {
	e.Seq = int64(len(p.run.Events) + 1)
	e.T = e.Seq * int64(time.Millisecond)
	p.run.Events = append(p.run.Events, e)
}

// born launches "app#1 one": a server, and its session where one is told.
func (p *play) born(name string) {
	server, session, _ := strings.Cut(name, " ")
	label, _, _ := strings.Cut(server, "#")
	p.pids++
	id := record.Identity{PID: 100 + p.pids, Start: uint64(p.pids)}
	p.add(record.Event{Kind: record.Born, Server: server, Birth: &record.Birth{Identity: id, Label: label, Session: session, Launch: p.pids}})
}

// hears has a server receive messages, "discover", "initialize", "listen", "call", "list" or "cancelled", each with its id, and
// answer those that do not end with "?" (it stays silent) or "!" (it refuses).
func (p *play) hears(server string, words ...string) {
	methods := map[string]record.Method{
		"discover": record.MethodDiscover, "initialize": record.MethodInitialize, "listen": record.MethodListen,
		"call": record.MethodCall, "list": record.MethodList, "cancelled": record.MethodCancelled,
	}
	for _, word := range words {
		name, id, _ := strings.Cut(strings.TrimRight(word, "?!"), ":")
		info := record.RPCInfo{Method: methods[name], ID: id, Phase: record.PhaseReceived}
		p.add(record.Event{Kind: record.RPC, Server: server, RPC: &info})
		if strings.HasSuffix(word, "?") || name == "cancelled" {
			continue
		}
		after := info
		after.Phase = record.PhaseAnswered
		if strings.HasSuffix(word, "!") {
			after.Phase = record.PhaseRefused
		}
		p.add(record.Event{Kind: record.RPC, Server: server, RPC: &after})
	}
}

func (p *play) fault(server string, on record.Moment, do record.Action) {
	p.add(record.Event{Kind: record.Faulted, Server: server, Fault: &record.Fault{On: on, Do: do, Breaks: true}})
}

// atOnce gives the last event the time of the one before.
func (p *play) atOnce() {
	last := len(p.run.Events) - 1
	p.run.Events[last].T = p.run.Events[last-1].T
}

func (p *play) dies(server string) { p.add(record.Event{Kind: record.Died, Server: server}) }

// step is a whole step: what happens in its course, and how it fails.
func (p *play) step(st record.Step, course func(), failed string) {
	p.steps++
	st.N = p.steps
	p.add(record.Event{Kind: record.StepBegun, Step: &st})
	if course != nil {
		course()
	}
	st.OK, st.Error = failed == "", failed
	p.add(record.Event{Kind: record.StepEnded, Step: &st})
}

func (p *play) opens(label, session string, course func()) {
	p.step(record.Step{Op: record.OpOpen, Label: label, Session: session}, course, "")
}

// old is a client of one era at work: it makes the other rows something to skip.
func (p *play) old() { p.born("legacy#1 old"); p.hears("legacy#1", "initialize:1") }

// modern is a client of both eras at work.
func (p *play) both() {
	p.born("legacy#1 old")
	p.hears("legacy#1", "discover:1!", "initialize:2")
}

func (p *play) crash(server string) {
	p.fault(server, record.OnOrder, record.DoExit)
	p.dies(server)
}

func only(t *testing.T, run *record.Run, row record.Row) Check {
	t.Helper()
	for _, c := range Of(run, history.Of(run)) {
		if c.Row == row {
			return c
		}
	}
	require.Fail(t, "no such row", row)
	return Check{}
}

func TestRows(t *testing.T) {
	t.Parallel()
	cancelled := record.Step{Op: record.OpCall, Label: "app", Session: "work", Cancelled: true}
	call := record.Step{Op: record.OpCall, Label: "app", Session: "work"}
	for name, c := range map[string]struct {
		row     record.Row
		play    func(p *play)
		status  Status
		message string
		servers string
	}{
		"probe: nothing was asked": {record.RowProbe, func(p *play) { p.born("app#1 work") }, Warning, NotTestable + "no server received a request", ""},
		"probe: one era":           {record.RowProbe, func(p *play) { p.old() }, Skipped, oneEra, ""},
		"probe: the new era alone": {
			record.RowProbe, func(p *play) { p.born("app#1 work"); p.hears("app#1", "call:1") }, Skipped,
			"the client sends no initialize: it speaks the modern era alone, and need not probe", "",
		},
		"probe: both": {
			record.RowProbe, func(p *play) { p.both(); p.born("app#1 work"); p.hears("app#1", "discover:1", "call:2") }, Success,
			"2 of 2 connections began with server/discover; those that needed it fell back to initialize", "",
		},
		"probe: a sibling is questioned": {record.RowProbe, func(p *play) {
			p.born("legacy#1 old")
			p.hears("legacy#1", "discover:1!")
			p.born("legacy#2 old")
			p.hears("legacy#2", "initialize:1")
		}, Success, "1 of 1 connections began with server/discover; those that needed it fell back to initialize", ""},
		"probe: a sibling of the second is questioned": {record.RowProbe, func(p *play) {
			p.both()
			p.born("app#1 work")
			p.hears("app#1", "discover:1!")
			p.born("app#2 work")
			p.hears("app#2", "initialize:1")
		}, Success, "2 of 2 connections began with server/discover; those that needed it fell back to initialize", ""},
		"probe: not the first one": {
			record.RowProbe, func(p *play) { p.both(); p.born("app#1 work"); p.hears("app#1", "initialize:1", "discover:2") }, Warning,
			"the first message was not server/discover: app#1 received initialize", "app#1",
		},
		"probe: a call comes first": {record.RowProbe, func(p *play) {
			p.both()
			p.born("app#1 work")
			p.hears("app#1", "call:1")
			p.born("app#2 more")
			p.hears("app#2", "list:1")
		}, Warning, "the first message was not server/discover: app#1 received tools/call, app#2 received tools/list", "app#1 app#2"},
		"probe: no answer, and nothing follows": {
			record.RowProbe, func(p *play) { p.both(); p.born("mute#1 silent"); p.hears("mute#1", "discover:1?") }, Warning,
			"server/discover was refused, or not answered, and no initialize followed: mute#1 received server/discover", "mute#1",
		},
		"probe: no answer, and initialize fails, too": {
			record.RowProbe, func(p *play) { p.both(); p.born("mute#1 silent"); p.hears("mute#1", "discover:1?", "initialize:2?") }, Success,
			"2 of 2 connections began with server/discover; those that needed it fell back to initialize", "",
		},
		"probe: a version that was refused needs no initialize": {record.RowProbe, func(p *play) {
			p.both()
			p.born("picky#1 strict")
			p.hears("picky#1", "discover:1!")
			p.fault("picky#1", record.OnDiscover, record.DoUnsupported)
		}, Success, "2 of 2 connections began with server/discover; those that needed it fell back to initialize", ""},

		"cancel: told": {record.RowCancel, func(p *play) {
			p.born("app#1 work")
			p.step(cancelled, func() { p.hears("app#1", "call:7?", "cancelled:7") }, "cancelled")
		}, Success, "1 of 1 calls that were cancelled: the server received notifications/cancelled with the ID of the request", "app#1"},
		"cancel: told of another": {record.RowCancel, func(p *play) {
			p.born("app#1 work")
			p.step(cancelled, func() { p.hears("app#1", "call:7?", "cancelled:8") }, "cancelled")
		}, Failure, "app#1 received the call 7, and no notifications/cancelled for it when it was cancelled", "app#1"},
		"cancel: told before": {record.RowCancel, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "cancelled:7")
			p.step(cancelled, func() { p.hears("app#1", "call:7?") }, "cancelled")
		}, Failure, "app#1 received the call 7, and no notifications/cancelled for it when it was cancelled", "app#1"},
		"cancel: another server's": {record.RowCancel, func(p *play) {
			p.born("other#1 work")
			p.born("app#1 work")
			p.step(cancelled, func() { p.hears("other#1", "call:7?"); p.hears("app#1", "call:9?", "cancelled:9") }, "cancelled")
		}, Success, "1 of 1 calls that were cancelled: the server received notifications/cancelled with the ID of the request", "app#1"},
		"cancel: the second one": {record.RowCancel, func(p *play) {
			p.born("app#1 work")
			p.step(cancelled, func() { p.hears("app#1", "call:7?", "cancelled:7") }, "cancelled")
			p.step(cancelled, func() { p.hears("app#1", "call:8?") }, "cancelled")
		}, Failure, "app#1 received the call 8, and no notifications/cancelled for it when it was cancelled", "app#1 app#1"},
		"cancel: too early": {
			record.RowCancel, func(p *play) { p.born("app#1 work"); p.hears("app#1", "call:6"); p.step(cancelled, nil, "cancelled") },
			Failure, NotTestable + "no call was cancelled while it was in its server", "",
		},
		"cancel: too late": {
			record.RowCancel, func(p *play) { p.born("app#1 work"); p.step(cancelled, nil, "cancelled"); p.hears("app#1", "call:6") },
			Failure, NotTestable + "no call was cancelled while it was in its server", "",
		},
		"cancel: nobody did": {
			record.RowCancel, func(p *play) { p.born("app#1 work"); p.step(call, func() { p.hears("app#1", "call:7") }, "") },
			Failure, NotTestable + "no call was cancelled while it was in its server", "",
		},
		"cancel: a call that does not end": {record.RowCancel, func(p *play) {
			p.born("app#1 work")
			st := cancelled
			st.N = 1
			p.add(record.Event{Kind: record.StepBegun, Step: &st})
			p.hears("app#1", "call:7?")
		}, Failure, "app#1 received the call 7, and no notifications/cancelled for it when it was cancelled", "app#1"},
		"cancel: an open": {record.RowCancel, func(p *play) {
			p.born("app#1 work")
			p.step(record.Step{Op: record.OpOpen, Label: "app", Session: "work", Cancelled: true}, func() { p.hears("app#1", "call:7") }, "cancelled")
		}, Failure, NotTestable + "no call was cancelled while it was in its server", ""},

		"restart: launched again": {record.RowRestart, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "initialize:1")
			p.crash("app#1")
			p.born("app#2 work")
			p.hears("app#2", "initialize:1")
			p.opens("app", "work", nil)
		}, Success, "app#1 exited unexpectedly, and app#2 was launched in its place 1 ms later", "app#1 app#2"},
		"restart: by the bench": {record.RowRestart, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "initialize:1")
			p.crash("app#1")
			p.step(call, nil, "broken pipe")
			p.opens("app", "work", func() { p.born("app#2 work"); p.hears("app#2", "initialize:1") })
		}, Warning, "app#1 exited unexpectedly, and the host launched no other in 3 ms, until the bench opened the session anew or the run ended; a call failed: \"broken pipe\"", "app#1"},
		"restart: never": {record.RowRestart, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "initialize:1")
			p.step(call, nil, "before")
			p.crash("app#1")
			p.step(record.Step{Op: record.OpCall, Label: "other", Session: "work"}, nil, "another")
			p.step(call, nil, "")
		}, Warning, "app#1 exited unexpectedly, and the host launched no other in 4 ms, until the bench opened the session anew or the run ended", "app#1"},
		"restart: of another session": {record.RowRestart, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "initialize:1")
			p.crash("app#1")
			p.opens("app", "other", func() { p.born("app#2 other"); p.hears("app#2", "initialize:1") })
			p.step(record.Step{Op: record.OpStop}, nil, "")
		}, Warning, "app#1 exited unexpectedly, and the host launched no other in 6 ms, until the bench opened the session anew or the run ended", "app#1"},
		"restart: a reload": {record.RowRestart, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "initialize:1")
			p.crash("app#1")
			p.step(record.Step{Op: record.OpReload, Label: "app"}, func() { p.born("app#2 work"); p.hears("app#2", "initialize:1") }, "")
		}, Warning, "app#1 exited unexpectedly, and the host launched no other in 1 ms, until the bench opened the session anew or the run ended", "app#1"},
		"restart: a restart of the host": {record.RowRestart, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "initialize:1")
			p.crash("app#1")
			p.step(record.Step{Op: record.OpRestart}, nil, "")
		}, Warning, "app#1 exited unexpectedly, and the host launched no other in 1 ms, until the bench opened the session anew or the run ended", "app#1"},
		"restart: sessions are not known": {record.RowRestart, func(p *play) {
			p.born("app#1")
			p.hears("app#1", "initialize:1")
			p.crash("app#1")
			p.opens("app", "any", nil)
			p.born("app#2")
			p.hears("app#2", "initialize:1")
		}, Warning, "app#1 exited unexpectedly, and the host launched no other in 1 ms, until the bench opened the session anew or the run ended", "app#1"},
		"restart: an open that was skipped": {record.RowRestart, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "initialize:1")
			p.crash("app#1")
			p.add(record.Event{Kind: record.StepSkipped, Step: &record.Step{N: 90, Op: record.OpOpen, Label: "app", Session: "work"}})
			p.born("app#2 work")
			p.hears("app#2", "initialize:1")
		}, Success, "app#1 exited unexpectedly, and app#2 was launched in its place 2 ms later", "app#1 app#2"},
		"restart: beside another session": {record.RowRestart, func(p *play) {
			p.old()
			p.opens("app", "work", func() { p.born("app#1 work"); p.hears("app#1", "initialize:1") })
			p.crash("app#1")
			p.opens("other", "work", nil)
			p.born("app#2 work")
			p.hears("app#2", "initialize:1?")
			p.atOnce()
		}, Success, "app#1 exited unexpectedly, and app#2 was launched in its place 3 ms later", "app#1 app#2"},
		"restart: what fails is no call of then": {record.RowRestart, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "initialize:1")
			p.crash("app#1")
			p.step(record.Step{Op: record.OpClose, Label: "app", Session: "work"}, nil, "nothing to close")
			p.opens("app", "work", nil)
			p.step(call, nil, "too late")
		}, Warning, "app#1 exited unexpectedly, and the host launched no other in 3 ms, until the bench opened the session anew or the run ended", "app#1"},
		"restart: it lives": {record.RowRestart, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "initialize:1")
			p.fault("app#1", record.OnOrder, record.DoExit)
		}, Warning, NotTestable + "no server was made to exit while it was used", ""},
		"restart: another end": {record.RowRestart, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "initialize:1")
			p.fault("app#1", record.OnEOF, record.DoExit)
			p.dies("app#1")
		}, Warning, NotTestable + "no server was made to exit while it was used", ""},

		"version: the same server": {record.RowVersion, func(p *play) {
			p.born("picky#1 strict")
			p.fault("picky#1", record.OnDiscover, record.DoUnsupported)
			p.hears("picky#1", "discover:1!", "call:2")
		}, Success, "picky#1 refused the version and listed one that it supports; the client went on in the modern era", "picky#1"},
		"version: another process": {record.RowVersion, func(p *play) {
			p.born("picky#1 strict")
			p.hears("picky#1", "discover:1!")
			p.fault("picky#1", record.OnDiscover, record.DoUnsupported)
			p.born("picky#2 strict")
			p.hears("picky#2", "discover:1")
		}, Success, "picky#1 refused the version and listed one that it supports; the client went on in the modern era", "picky#1"},
		"version: the older era": {record.RowVersion, func(p *play) {
			p.born("picky#1 strict")
			p.hears("picky#1", "discover:1!")
			p.fault("picky#1", record.OnDiscover, record.DoUnsupported)
			p.hears("picky#1", "discover:2", "initialize:3")
		}, Warning, "picky#1 refused the version and listed one that it supports, and the client fell back to initialize", "picky#1"},
		"version: no further": {record.RowVersion, func(p *play) {
			p.born("picky#1 strict")
			p.hears("picky#1", "discover:1!")
			p.fault("picky#1", record.OnDiscover, record.DoUnsupported)
			p.hears("picky#1", "cancelled")
			p.born("app#1 strict")
			p.hears("app#1", "discover:1")
		}, Warning, "picky#1 refused the version and listed one that it supports, and the client did not try again", "picky#1"},
		"version: what came before": {record.RowVersion, func(p *play) {
			p.born("picky#1 strict")
			p.hears("picky#1", "initialize:1", "discover:2?")
			p.fault("picky#1", record.OnDiscover, record.DoUnsupported)
			p.hears("picky#1", "initialize:3?")
			p.atOnce()
			p.hears("picky#1", "discover:4")
		}, Success, "picky#1 refused the version and listed one that it supports; the client went on in the modern era", "picky#1"},
		"version: only the refusal follows": {record.RowVersion, func(p *play) {
			p.born("picky#1 strict")
			p.hears("picky#1", "discover:1?")
			p.fault("picky#1", record.OnDiscover, record.DoUnsupported)
			p.add(record.Event{Kind: record.RPC, Server: "picky#1", RPC: &record.RPCInfo{Method: record.MethodDiscover, ID: "1", Phase: record.PhaseRefused}})
		}, Warning, "picky#1 refused the version and listed one that it supports, and the client did not try again", "picky#1"},
		"version: another fault": {record.RowVersion, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "discover:1?")
			p.fault("app#1", record.OnDiscover, record.DoExit)
		}, Warning, NotTestable + "no server refused the version of a request", ""},
		"version: one era":     {record.RowVersion, func(p *play) { p.old() }, Skipped, oneEra, ""},
		"version: not refused": {record.RowVersion, func(p *play) { p.both() }, Warning, NotTestable + "no server refused the version of a request", ""},
		"version: no server":   {record.RowVersion, func(*play) {}, Warning, NotTestable + "no server refused the version of a request", ""},

		"resubscribe: none": {record.RowResubscribe, func(p *play) { p.both() }, Skipped, "the client opened no subscription (subscriptions/listen)", ""},
		"resubscribe: again": {record.RowResubscribe, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "discover:1", "listen:2?")
			p.dies("app#1")
			p.born("app#2 work")
			p.hears("app#2", "discover:1", "listen:2?")
		}, Success, "app#1 had a subscription, and app#2, which took its place, received subscriptions/listen again", "app#1 app#2"},
		"resubscribe: forgotten": {record.RowResubscribe, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "discover:1", "listen:2?")
			p.dies("app#1")
			p.born("app#2 work")
			p.hears("app#2", "discover:1", "call:2")
			p.dies("app#2")
			p.hears("app#1", "call:9?")
		}, Failure, "app#1 had a subscription; app#2 took its place, and received no subscriptions/listen within 3 ms", "app#1 app#2"},
		"resubscribe: forgotten to the end": {record.RowResubscribe, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "discover:1", "listen:2?")
			p.dies("app#1")
			p.born("app#2 work")
			p.hears("app#2", "discover:1", "call:2")
		}, Failure, "app#1 had a subscription; app#2 took its place, and received no subscriptions/listen within 2 ms", "app#1 app#2"},
		"resubscribe: never replaced": {record.RowResubscribe, func(p *play) {
			p.born("app#0 work")
			p.hears("app#0", "discover:1")
			p.born("app#1 work")
			p.hears("app#1", "discover:1", "listen:2?")
			p.dies("app#1")
			p.born("app#2 work")
			p.hears("app#2", "discover:1!")
			p.born("app#3 other")
			p.hears("app#3", "discover:1")
		}, Failure, NotTestable + "no server that had a subscription was replaced", ""},
		"resubscribe: it lives": {record.RowResubscribe, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "discover:1", "listen:2?")
			p.born("app#2 work")
			p.hears("app#2", "discover:1")
		}, Failure, NotTestable + "no server that had a subscription was replaced", ""},
		"resubscribe: what had none": {record.RowResubscribe, func(p *play) {
			p.born("app#1 work")
			p.hears("app#1", "discover:1")
			p.dies("app#1")
			p.born("app#2 work")
			p.hears("app#2", "discover:1", "listen:2?")
		}, Failure, NotTestable + "no server that had a subscription was replaced", ""},
	} {
		p := newPlay()
		c.play(p)
		got := only(t, p.run, c.row)
		assert.Equal(t, []string{string(c.status), c.message, c.servers}, []string{string(got.Status), got.Message, strings.Join(got.Servers, " ")}, name)
		assert.Equal(t, p.run.Events[len(p.run.Events)-1].T, got.T, name)
	}
}

// TestWhichRows: those that the scenario plays, each with what a reader of it needs.
func TestWhichRows(t *testing.T) {
	t.Parallel()
	assert.Empty(t, Of(nil, nil))
	p := newPlay()
	seen := map[string]bool{}
	for i, c := range Of(p.run, history.Of(p.run)) {
		assert.Equal(t, record.Rows()[i], c.Row)
		for _, text := range []string{c.ID, c.Name, c.Description, c.Spec, c.Message, fmt.Sprint(c.Status)} {
			assert.NotEmpty(t, text, c.Row)
		}
		assert.False(t, seen[c.ID])
		seen[c.ID] = true
	}
	assert.Len(t, seen, len(record.Rows()))
	p.run.Header.Plan.Rows = []record.Row{record.RowCancel}
	assert.Len(t, Of(p.run, history.Of(p.run)), 1)
	p.run.Header.Plan.Rows = nil
	assert.Empty(t, Of(p.run, history.Of(p.run)))
}
