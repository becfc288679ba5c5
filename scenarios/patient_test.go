package scenarios_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// TestPatient: what a patient step waits for fails, unless its author says otherwise.
func TestPatient(t *testing.T) {
	t.Parallel()
	const open = "- {open: a, server: one}\n"
	s := parse(t, play("one:", open+"- {call: a, patient: true}\n- {open: a, patient: true, expect: any}"))
	assert.Equal(t, 75*time.Second, s.Limits.Patience.D())
	assert.Equal(t, []record.Expect{"", record.ExpectFail, record.ExpectAny},
		[]record.Expect{s.Steps[0].Expect, s.Steps[1].Expect, s.Steps[2].Expect})
	assert.Equal(t, "it waits for the host's own time limit", s.Soakable())
	short := parse(t, "limits: {patience: 2s}\n"+play("one:", open+"- {call: a, patient: true}"))
	assert.Equal(t, 2*time.Second, short.Limits.Patience.D())
	without := parse(t, "limits: {patience: 2s}\n"+play("one:", open))
	assert.Zero(t, without.Limits.Patience, "nothing waits")
	for step, says := range map[string]string{
		"- {call: a, patient: true, timeout: 1s}":  "leave out timeout and cancel",
		"- {open: a, patient: true, timeout: 1s}":  "leave out timeout and cancel",
		"- {open: a, patient: true, cancel: true}": "leave out timeout and cancel",
		"- {call: a, patient: true, expect: ok}":   "it waits for the host to give up",
		"- {call: a, patient: maybe}":              "patient",
		"- {close: a, patient: true}":              "patient",
	} {
		_, err := scenarios.Parse("mine.yaml", []byte("name: mine\ntitle: t\n"+play("one:", open+step)))
		require.ErrorContains(t, err, says, step)
	}
}

// TestCancelAfter: time passes before a cancel, and before nothing else.
func TestCancelAfter(t *testing.T) {
	t.Parallel()
	const open = "- {open: a, server: one}\n"
	s := parse(t, play("one:", open+"- {call: a, cancel: true, cancel_after: 500ms}\n- {open: a, cancel: true, cancel_after: 1s}"))
	assert.Equal(t, 500*time.Millisecond, s.Steps[1].CancelAfter.D())
	assert.Equal(t, time.Second, s.Steps[2].CancelAfter.D())
	for _, step := range []string{"- {call: a, cancel_after: 500ms}", "- {open: a, cancel_after: 500ms, timeout: 1s}"} {
		_, err := scenarios.Parse("mine.yaml", []byte("name: mine\ntitle: t\n"+play("one:", open+step)))
		require.ErrorContains(t, err, "write cancel: true before it", step)
	}
}

// TestPatienceIsBegunFirst: what is begun last is what all others are waited for.
func TestPatienceIsBegunFirst(t *testing.T) {
	t.Parallel()
	builtin := func(name string) *scenarios.Scenario {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		return s
	}
	for _, name := range scenarios.Names() {
		if name != "patience" {
			assert.Less(t, builtin(name).Waits(), builtin("patience").Waits(), name)
		}
	}
}
