package verdict

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// cases shows each kind once, and each time something so near to it that a
// coarser rule would mistake it for one.
type caseOf struct {
	kind string
	show func(p *play) *record.Run // breaks the law
	near func(p *play) *record.Run // does not
}

var flatCases = []caseOf{
	{
		kind: "abandoned",
		show: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			p.close("s1", "flaky", func() {})
			p.examined(a, holder("host", hostPID, 7))
			p.restless("after", nil, want("flaky", "s1", 0))
			return p.done()
		},
		near: func(p *play) *record.Run { // a moment after the close it is still there, and no more
			a := p.open("s1", "flaky")
			p.close("s1", "flaky", func() {})
			p.wait(100 * ms)
			p.bye(a)
			p.quiet("after", want("flaky", "s1", 0))
			return p.done()
		},
	},
	{
		kind: "superseded",
		show: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			p.fault(a, "order", "close-stdout", true)
			p.open("s1", "flaky")
			p.examined(a, holder("host", hostPID, 7))
			p.restless("after", nil, want("flaky", "s1", 1))
			return p.done()
		},
		near: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			p.fault(a, "order", "close-stdout", true)
			p.bye(a)
			p.open("s1", "flaky")
			p.quiet("after", want("flaky", "s1", 1))
			return p.done()
		},
	},
	{
		kind: "init-stranded",
		show: func(p *play) *record.Run {
			p.openFails("s1", "flaky", func() {
				a := p.launch("flaky", "s1")
				p.rpc(a, "initialize", "received")
				p.fault(a, "initialize", "hang", true)
			})
			p.restless("after", nil, want("flaky", "s1", 0))
			return p.done()
		},
		near: func(p *play) *record.Run { // it is being connected when the checkpoint comes
			p.session("s1", "flaky", record.SessionOpening, "", false)
			p.launch("flaky", "s1")
			p.quiet("after", want("flaky", "s1", 1))
			return p.done()
		},
	},
	{
		kind: "duplicate",
		show: func(p *play) *record.Run {
			p.openFails("s1", "flaky", func() { p.greet(p.launch("flaky", "s1")); p.greet(p.launch("flaky", "s1")) })
			p.session("s1", "flaky", record.SessionOpen, "", false)
			p.restless("after", nil, want("flaky", "s1", 1))
			return p.done()
		},
		near: func(p *play) *record.Run { // the first was a probe, and is gone
			p.openFails("s1", "flaky", func() {
				probe := p.launch("flaky", "s1")
				p.greet(probe)
				p.bye(probe)
				p.greet(p.launch("flaky", "s1"))
			})
			p.session("s1", "flaky", record.SessionOpen, "", false)
			p.quiet("after", want("flaky", "s1", 1))
			return p.done()
		},
	},
	{
		kind: "late",
		show: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			p.close("s1", "flaky", func() {})
			p.restless("after", func() { p.bye(a) }, want("flaky", "s1", 0))
			return p.done()
		},
		near: func(p *play) *record.Run { // it stays: that is no lateness
			p.open("s1", "flaky")
			p.close("s1", "flaky", func() {})
			p.restless("after", nil, want("flaky", "s1", 0))
			return p.done()
		},
	},
	{
		kind: "ghost",
		show: func(p *play) *record.Run { return ghost(p, 300*ms) },
		near: func(p *play) *record.Run { return ghost(p, 60*ms) },
	},
}

// outlives leaves a server behind at the end of the host.
func outlives(op record.Op, before func(p *play, server string), after func(p *play, server string)) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		a := p.open("s1", "flaky")
		p.stop(op, func() {
			if before != nil {
				before(p, a)
			}
		})
		row := p.procs[p.ids[a]]
		row.PPID = keeperPID
		p.procs[p.ids[a]] = row
		if after != nil {
			after(p, a)
		}
		p.restless("host gone", nil)
		return p.over(record.End{Reason: "done"})
	}
}

// helperAt puts a process into the census that the ledger knows nothing of.
func (p *play) helperAt(pid int, row record.Process) {
	row.Identity = record.Identity{PID: pid, Start: uint64(pid) * 100}
	if row.State == "" {
		row.State = "S"
	}
	p.procs[row.Identity] = row
}

var leftCases = []caseOf{
	{
		kind: "deaf",
		show: outlives("kill", func(p *play, a string) { p.eof(a); p.fault(a, "eof", "ignore", false) }, nil),
		near: func(p *play) *record.Run { // it ignores the end of stdin and is killed for it
			a := p.open("s1", "flaky")
			p.stop("stop", func() { p.eof(a); p.fault(a, "eof", "ignore", false); p.wait(s); p.dead(a) })
			p.quiet("host gone")
			return p.over(record.End{Reason: "done"})
		},
	},
	{
		kind: "orphan",
		show: outlives("kill", nil, func(p *play, a string) { p.examined(a) }),
		near: outlives("kill", func(p *play, a string) { p.eof(a) }, nil),
	},
	{
		kind: "spinner",
		show: outlives("kill", nil, func(p *play, a string) { p.cpu[p.ids[a]] = s }),
		near: outlives("kill", nil, func(p *play, a string) { p.cpu[p.ids[a]] = 100 * ms }),
	},
	{
		kind: "shielded",
		show: func(p *play) *record.Run { return behindLauncher(p, func(string) {}) },
		near: func(p *play) *record.Run { return behindLauncher(p, func(a string) { p.term(a) }) },
	},
	{
		kind: "escaped",
		show: outlives("stop", nil, func(p *play, a string) {
			row := p.procs[p.ids[a]]
			row.SID, row.PGID = row.PID, row.PID
			p.procs[p.ids[a]] = row
		}),
		near: outlives("stop", nil, nil),
	},
	{
		kind: "helper",
		show: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			p.stop("stop", func() { p.bye(a) })
			p.helperAt(500, record.Process{PPID: keeperPID, SID: hostPID, Comm: "chrome"})
			p.restless("host gone", nil)
			return p.over(record.End{Reason: "done"})
		},
		near: func(p *play) *record.Run { // a zombie that the keeper is about to reap
			a := p.open("s1", "flaky")
			p.stop("stop", func() { p.bye(a) })
			p.helperAt(500, record.Process{PPID: keeperPID, SID: hostPID, Comm: "chrome", State: "Z"})
			p.quiet("host gone")
			return p.over(record.End{Reason: "done"})
		},
	},
}

func behindLauncher(p *play, before func(server string)) *record.Run {
	p.helperAt(400, record.Process{PPID: hostPID, SID: hostPID, Comm: "sh", Args: []string{"sh", "-c", "leakbench fakeserver --run " + runID}})
	p.session("s1", "flaky", record.SessionOpening, "", false)
	a := p.launch("flaky", "s1", 400)
	p.greet(a)
	p.session("s1", "flaky", record.SessionOpen, "", false)
	p.quiet("in between", want("flaky", "s1", 1))
	p.stop("stop", func() { before(a) })
	delete(p.procs, record.Identity{PID: 400, Start: 40000})
	row := p.procs[p.ids[a]]
	row.PPID = keeperPID
	p.procs[p.ids[a]] = row
	p.restless("host gone", nil)
	return p.over(record.End{Reason: "done"})
}

var reapedCases = []caseOf{
	{
		kind: "zombie",
		show: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			p.fault(a, "order", "exit", true)
			p.zombie(a)
			p.open("s1", "flaky")
			p.restless("after", nil, want("flaky", "s1", 1))
			return p.done()
		},
		near: func(p *play) *record.Run { // the keeper's own, about to be reaped
			a := p.open("s1", "flaky")
			p.fault(a, "order", "exit", true)
			p.dead(a)
			p.open("s1", "flaky")
			p.helperAt(600, record.Process{PPID: keeperPID, State: "Z", Comm: "sh"})
			p.quiet("after", want("flaky", "s1", 1))
			delete(p.procs, record.Identity{PID: 600, Start: 60000})
			return p.done()
		},
	},
	{
		kind: "late-reaped",
		show: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			p.close("s1", "flaky", func() { p.eof(a); p.zombie(a) })
			p.restless("after", func() { delete(p.procs, p.ids[a]) }, want("flaky", "s1", 0))
			return p.done()
		},
		near: func(p *play) *record.Run { // it died in the very moment of the census
			a := p.open("s1", "flaky")
			cp := record.Checkpoint{Name: "after", Wants: append(p.beside, want("flaky", "s1", 0))}
			p.close("s1", "flaky", func() {})
			p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
			p.wait(s - ms)
			p.eof(a)
			p.zombie(a)
			p.look(record.CensusSettled, "after")
			delete(p.procs, p.ids[a])
			p.wait(s)
			p.look(record.CensusConfirm, "after")
			p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
			return p.done()
		},
	},
}

func TestEachKindIsToldFromItsNeighbour(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, c := range allCases() {
		assert.False(t, shown[c.kind], "%s is shown twice", c.kind)
		shown[c.kind] = true
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			v := Judge(c.show(newPlay()))
			f := only(t, v, c.kind)
			outcome := Leak
			if law.Of(f.Law).Severity == record.SeverityWarning {
				outcome = Clean
			}
			assert.Equal(t, outcome, v.Outcome)
			assert.Equal(t, LawBroken, resultOf(v, f.Law).Status)
			assert.Equal(t, law.KindOf(c.kind).Law, f.Law)
			complete(t, f)
			near := Judge(c.near(newPlay()))
			assert.NotContains(t, kindsIn(near), c.kind, "the near miss:\n%s", account(near))
		})
	}
	for _, k := range law.Kinds() {
		if l := law.Of(k.Law); slices.Contains(law.IDs(), l.ID) { // those of servers are package server's
			assert.True(t, shown[k.ID], "no run shows %s", k.ID)
		}
	}
}

func TestEachLawHasItsRule(t *testing.T) {
	t.Parallel()
	for _, id := range law.IDs() {
		assert.True(t, slices.ContainsFunc(rules, func(r rule) bool { return r.ID == id }), "judge.go has no rule for %s", id)
	}
	require.Len(t, rules, len(law.All()))
	for i, l := range law.All() {
		assert.Equal(t, l.ID, rules[i].ID, "the rules are not in the order of the laws")
		assert.NotNil(t, rules[i].judge, "nobody judges %s", l.ID)
	}
}

func allCases() []caseOf {
	var all []caseOf
	for _, cases := range [][]caseOf{flatCases, strayCases, leftCases, reapedCases, fastCases, collateralCases, spawningCases, shutdownCases, recoveryCases, growthCases, gracefulCases, sharedCases, evidenceCases, twinCases, recycledCases} {
		all = append(all, cases...)
	}
	return all
}

// What others do beside it changes nothing about a finding.
func TestBystandersChangeNothing(t *testing.T) {
	t.Parallel()
	type print struct {
		fingerprint, title string
		count              int
	}
	prints := func(v Verdict) []print {
		all := []print{}
		for _, f := range v.Findings {
			all = append(all, print{f.Fingerprint, f.Title, f.Count})
		}
		return all
	}
	for _, c := range allCases() {
		alone, beside := Judge(c.show(newPlay())), Judge(c.show(withCrowd()))
		assert.Equal(t, prints(alone), prints(beside), "%s\n%s", c.kind, account(beside))
		assert.Equal(t, codesIn(alone), codesIn(beside), c.kind)
		alone, beside = Judge(c.near(newPlay())), Judge(c.near(withCrowd()))
		assert.Equal(t, prints(alone), prints(beside), "near %s\n%s", c.kind, account(beside))
		assert.Equal(t, codesIn(alone), codesIn(beside), "near %s", c.kind)
	}
}

const accountsFile = "testdata/accounts.txt"

// The file is what a reader gets to see of each kind: read it in a review.
func TestAccounts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, c := range allCases() {
		fmt.Fprintf(&b, "== %s\n%s\n-- near miss: %s\n", c.kind, account(Judge(c.show(newPlay()))), account(Judge(c.near(newPlay()))))
	}
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(accountsFile, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(accountsFile)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
}

// complete asks of a finding what a reader needs.
func complete(t *testing.T, f Finding) {
	t.Helper()
	for name, text := range map[string]string{"title": f.Title, "expected": f.Expected, "found": f.Found, "why": f.Why, "fix": f.Fix} {
		assert.NotEmpty(t, text, name)
		assert.NotContains(t, text, "%!", name)
		assert.NotContains(t, text, "  ", name)
		assert.NotContains(t, text, "..", name)
	}
	assert.NotEmpty(t, f.Values)
	assert.NotEmpty(t, f.Reports)
	assert.NotEmpty(t, f.At)
	assert.Positive(t, f.Count)
	assert.Regexp(t, `^[0-9a-f]{12}$`, f.Fingerprint)
	assert.Regexp(t, `^[A-Za-z0-9#]`, f.Why)
}

func only(t *testing.T, v Verdict, kind string) Finding {
	t.Helper()
	require.Equal(t, []string{kind}, kindsIn(v), account(v))
	return v.Findings[0]
}

func kindsIn(v Verdict) []string {
	kinds := []string{}
	for _, f := range v.Findings {
		kinds = append(kinds, f.Kind)
	}
	return kinds
}

func codesIn(v Verdict) []record.DoubtCode {
	codes := []record.DoubtCode{}
	for _, d := range v.Doubts {
		codes = append(codes, d.Code)
	}
	return codes
}

func resultOf(v Verdict, law string) LawResult {
	for _, r := range v.Laws {
		if r.Law == law {
			return r
		}
	}
	return LawResult{}
}

// TestSpinnersAmongMany: where others want the processors too, none gets half
// of one.
func TestSpinnersAmongMany(t *testing.T) {
	t.Parallel()
	for share, kind := range map[time.Duration]string{100 * ms: "spinner", 10 * ms: "orphan"} {
		run := outlives("kill", nil, func(p *play, a string) {
			p.cpu[p.ids[a]] = share
			ready(p, a)
		})(newPlay())
		f := only(t, Judge(run), kind)
		assert.Equal(t, kind, f.Kind)
		if kind == "spinner" {
			assert.Contains(t, f.Title, "keeps a CPU busy")
			assert.Contains(t, f.Why, "It used 10% of a CPU while it was watched: it was ready to run at both looks, and other processes")
		}
	}
}

// TestTheWordsOfASpinner: what it is found in at one look does not contradict the title.
func TestTheWordsOfASpinner(t *testing.T) {
	t.Parallel()
	run := outlives("kill", nil, func(p *play, a string) {
		p.cpu[p.ids[a]] = s
		p.examined(a)
	})(newPlay())
	f := only(t, Judge(run), "spinner")
	assert.Contains(t, f.Why, "kept a CPU busy")
	assert.NotContains(t, f.Why, "read(0)")
	assert.Contains(t, f.Why, "It used 100% of a CPU while it was watched.")
}

// ready has a server be ready to run whenever it is looked at.
func ready(p *play, server string) {
	row := p.procs[p.ids[server]]
	row.State = "R"
	p.procs[p.ids[server]] = row
}
