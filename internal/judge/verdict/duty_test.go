package verdict

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// TestAHostSaysWhatItIs: findings then say whose duty it is, and nothing else changes.
func TestAHostSaysWhatItIs(t *testing.T) {
	t.Parallel()
	run := func(is record.Duty) Verdict {
		p := newPlay()
		for i := range p.run.Events {
			if hello := p.run.Events[i].Hello; hello != nil {
				hello.Kind = is
			}
		}
		p.open("s1", "flaky")
		p.close("s1", "flaky", func() {})
		p.restless("after", func() {})
		return Judge(p.done())
	}
	plain := run("")
	require.NotEmpty(t, plain.Findings)
	for is, says := range map[record.Duty]string{
		record.DutyLibrary: "The application closed the client in order", record.DutyApplication: "The host is an application", record.DutyGateway: "gateway's duty",
	} {
		told := run(is)
		assert.Contains(t, told.Findings[0].Why, says)
		assert.NotContains(t, plain.Findings[0].Why, says)
		for i := range told.Findings {
			told.Findings[i].Why, told.Findings[i].Fix = plain.Findings[i].Why, plain.Findings[i].Fix
		}
		assert.Equal(t, plain, told)
	}
}

// TestAHostThatSaysNothingOfItself: one behind the bench's own clients is a gateway, whether or not it said hello. Of others nothing is said.
func TestAHostThatSaysNothingOfItself(t *testing.T) {
	t.Parallel()
	why := func(kind record.HostKind, greets bool) string {
		p := newPlay()
		p.run.Header.Host.Kind = kind
		if !greets {
			p.run.Events = slices.DeleteFunc(p.run.Events, func(e record.Event) bool { return e.Hello != nil })
		}
		p.open("s1", "flaky")
		p.close("s1", "flaky", func() {})
		p.restless("after", func() {})
		judged := Judge(p.done())
		require.NotEmpty(t, judged.Findings)
		return judged.Findings[0].Why
	}
	for _, greets := range []bool{true, false} {
		assert.Contains(t, why(record.KindGateway, greets), "gateway's duty")
		assert.NotContains(t, why(record.KindDriver, greets), "duty")
	}
}

// TestAHostOfWhichNobodyTells: a second server of a label may be for a session of its own. The host file can say so.
func TestAHostOfWhichNobodyTells(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Host.Kind = record.KindCommand
	for range 2 {
		p.greet(p.launch("flaky", ""))
	}
	p.restless("after", func() {}, record.Want{Label: "flaky", Live: 1})
	judged := Judge(p.done())
	require.NotEmpty(t, judged.Findings)
	assert.Contains(t, judged.Findings[0].Why, "Nobody tells leakbench which sessions this host has")
	assert.Contains(t, judged.Findings[0].Fix, "launches: 2")
}
