package grammar_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/explore/cover"
	"github.com/leakbench/leakbench/internal/play/explore/grammar"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

var (
	no      = func(ops ...record.Op) map[record.Op]string { return why(ops) }
	reaches = map[string]grammar.Reach{
		"driver":  {Recycles: true},
		"tame":    {Cannot: no(record.OpReload, record.OpForget, record.OpTick, record.OpCancel)},
		"gateway": {One: true, Loose: true, Cannot: no(record.OpReload, record.OpRecycle)},
		"command": {
			One: true, Alone: true,
			Cannot: no(record.OpOpen, record.OpCall, record.OpList, record.OpClose, record.OpForget, record.OpReload, record.OpTick, record.OpAwait, record.OpRecycle, record.OpCancel),
		},
		"oneshot": {
			Alone: true,
			Cannot: no(record.OpOpen, record.OpCall, record.OpList, record.OpClose, record.OpForget, record.OpReload, record.OpAwait, record.OpRecycle, record.OpBreak,
				record.OpRestart, record.OpTerm, record.OpKill),
		},
	}
)

var anyAwait = regexp.MustCompile(`\{await: .*, expect: any\}`)

func why(ops []record.Op) map[record.Op]string {
	all := map[record.Op]string{}
	for _, op := range ops {
		all[op] = "it can't"
	}
	return all
}

// TestValidByConstruction: whatever the grammar makes, the loader takes, and it asks only what the host can do.
func TestValidByConstruction(t *testing.T) {
	t.Parallel()
	for name, reach := range reaches {
		ops := map[record.Op]bool{}
		table := cover.Table(reach)
		for seed := range uint64(600) {
			p := grammar.Params{Reach: reach, Name: fmt.Sprintf("x-%d", seed), Calm: seed%8 == 0}
			if seed%3 > 0 && len(table) > 0 {
				p.Want = table[int(7*seed)%len(table)]
			}
			s := grammar.Make(rand.New(rand.NewPCG(seed, 1)), p)
			again, err := scenarios.Parse("x.yaml", []byte(s.Text()))
			require.NoError(t, err, "%s\n%s", name, s.Text())
			assert.Equal(t, s.Text(), again.Text(), name)
			assert.Equal(t, s.Text(), grammar.Make(rand.New(rand.NewPCG(seed, 1)), p).Text(), "the same source makes the same scenario")
			if ops := again.Ops(); reach.Loose || strings.Contains(s.Text(), "shared: true") {
				assert.NotContains(t, ops, record.OpRecycle, "a server that others use stays when a session is closed\n%s", s.Text())
			}
			assert.Len(t, anyAwait.FindAllString(s.Text(), -1), strings.Count(s.Text(), "{await:"), "a busy machine may be late\n%s", s.Text())
			for _, op := range again.Ops() {
				ops[op] = true
				assert.Empty(t, reach.Cannot[op], "%s is asked to %s\n%s", name, op, s.Text())
			}
		}
		t.Log(name, ops)
	}
}

// TestKnowsHosts: the grammar has what a host does by itself: it reconnects in a call, whose session nobody opens, it meets faults in its
// lists, and it gives up by itself.
func TestKnowsHosts(t *testing.T) {
	t.Parallel()
	patterns := map[string]*regexp.Regexp{
		"a call on a broken session, without an open": regexp.MustCompile(`\{break: [^\n]*\n *- \{call: [^\n]*\n *- \{open: [^\n]*if: lost`),
		"the same, and a look at what is left": regexp.MustCompile(
			`with: \{do: close-stdout\}\}\n *- \{call: [^\n]*\n *- \{open: [^\n]*if: lost\}\n *- \{call: [^\n]*\n *- \{checkpoint: `),
		"a list with a fault":              regexp.MustCompile(`\{on: list, `),
		"a list of resources with a fault": regexp.MustCompile(`\{on: list-resources, `),
		"a list of prompts with a fault":   regexp.MustCompile(`\{on: list-prompts, `),
		"a list that is asked for":         regexp.MustCompile(`list: \S+`),
		"the tools have changed":           regexp.MustCompile(`list-changed`),
		"an own limit in a call":           regexp.MustCompile(`call: [^\n]*patient: true`),
		"an own limit in a connect":        regexp.MustCompile(`open: [^\n]*patient: true`),
	}
	count := map[string]int{}
	for seed := range uint64(300) {
		p := grammar.Params{Reach: reaches["driver"], Name: "x", Calm: seed%8 == 0}
		text := grammar.Make(rand.New(rand.NewPCG(seed, 1)), p).Text()
		assert.Equal(t, strings.Contains(text, "patient: true"), strings.Contains(text, "patience: 6s"), text)
		for what, pattern := range patterns {
			if pattern.MatchString(text) {
				count[what]++
			}
		}
	}
	t.Log(count)
	for what := range patterns {
		assert.GreaterOrEqual(t, count[what], 3, what)
	}
}
