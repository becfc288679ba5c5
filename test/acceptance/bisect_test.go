package acceptance_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/bisect"
	"github.com/leakbench/leakbench/internal/subject/install"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
)

// TestBisectPlaysVersions: a version is installed and played, and what its run shows is what it is. The versions are hosts that are built in.
func TestBisectPlaysVersions(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Scripts)
	self, err := os.Executable()
	require.NoError(t, err)
	s, err := scenarios.Parse("x.yaml", []byte("name: reconnect\ntitle: A server whose stdout has closed is replaced\nservers: {one: {}}\n"+
		"limits: {settle: 1s, confirm: 300ms, quiet: 50ms}\n"+
		"steps: [{open: s, server: one}, {break: s, with: close-stdout}, {open: s}, {checkpoint: after}]\n"))
	require.NoError(t, err)
	bench := &play.Bench{Self: self, Out: t.TempDir()}
	versions := map[string]string{"1.0.0": "exact", "1.1.0": "exact", "1.2.0": "naive", "1.3.0": "naive"}
	var asked, told []string
	p := bisect.Player{
		Scenario: s, Host: "typescript-sdk",
		Install: func(p install.Params) error {
			asked = append(asked, p.Name+" "+p.Version)
			return nil
		},
		Play: func(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
			_, version, _ := strings.Cut(c.Host.ID, "@")
			c.Host = play.Host{Spec: builtinHost(t, versions[version])}
			done := takeTurn(t, besideAll, chain)
			defer done()
			return bench.One(ctx, c)
		},
		Tell: func(t bisect.Try) { told = append(told, t.Version) },
	}
	found, err := bisect.Search([]string{"1.0.0", "1.1.0", "1.2.0", "1.3.0"}, func(v string) (bisect.Try, error) { return p.Try(t.Context(), v) })
	require.NoError(t, err)
	assert.Equal(t, []string{"1.1.0", "1.2.0"}, []string{found.LastGood, found.FirstBad})
	assert.Equal(t, []string{"1.3.0", "1.0.0", "1.1.0", "1.2.0"}, told)
	assert.Equal(t, []string{"typescript-sdk" + " 1.3.0", "typescript-sdk" + " 1.0.0", "typescript-sdk" + " 1.1.0", "typescript-sdk" + " 1.2.0"}, asked)
	for _, try := range found.Tries {
		assert.DirExists(t, try.Dir)
		want := bisect.Try{Version: try.Version, Outcome: bisect.Good, Shows: []string{}, Dir: try.Dir}
		if versions[try.Version] == "naive" {
			want.Outcome, want.Shows = bisect.Bad, []string{"L1 superseded"}
		}
		assert.Equal(t, want, try)
	}
}
