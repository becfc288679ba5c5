package refhost

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// TestEachHostHasItsDesign: what the catalogue lists is a process, and the
// published clients alone are somebody else's.
func TestEachHostHasItsDesign(t *testing.T) {
	t.Parallel()
	var others []string
	for _, h := range append(append([]catalogue.Host{}, catalogue.Hosts...), catalogue.Mutants...) {
		d, ok := designOf(h)
		if !ok {
			others = append(others, h.Name)
			continue
		}
		assert.Equal(t, h.Name, d.name)
	}
	assert.Equal(t, []string{"mcp-go", "go-sdk"}, others)
}

// TestLaddersSayTheDelays: the catalogue's words are these constants.
func TestLaddersSayTheDelays(t *testing.T) {
	t.Parallel()
	sdk := fmt.Sprintf("stdin close, %s, TERM, %s, KILL", duration.Text(sdkEOF), duration.Text(sdkTerm))
	for name, want := range map[string]string{
		"exact":        fmt.Sprintf("stdin close, %s, TERM to the group, %s, KILL to the group, wait; what left the group: TERM, %s, KILL", duration.Text(exactEOF), duration.Text(exactTerm), duration.Text(exactTerm)),
		"naive":        sdk + "; nothing for a session that was superseded, failed or was cut off, nor at the host's own end",
		"reap-all":     fmt.Sprintf("TERM to every known server, %s, KILL", duration.Text(reapGrace)),
		"orphan-set":   sdk + fmt.Sprintf("; what is left: TERM within %s or after the tick, %s, KILL", duration.Text(sweepEvery), duration.Text(sweepGrace)),
		"thread-blind": sdk + "; what is left is not seen",
	} {
		h, _ := catalogue.Named(name)
		assert.Equal(t, want, h.Profile.Ladder)
		assert.Equal(t, fmt.Sprintf("1/%d between retries and sweeps, 1/%d for what a server gets to answer or to end", pace, timeouts), h.Profile.Scale)
		assert.Less(t, exactEOF+2*exactTerm, time.Duration(h.Profile.Settle))
	}
}
