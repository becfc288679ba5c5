package subject_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
)

// TestMCPGoProbesFirst: what the client says, and in which order, to servers
// of each era. A mute one costs it the 5 s of its probe.
func TestMCPGoProbesFirst(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	l := builtin(t, "mcp-go", scripts{"legacy": {}, "modern": {Era: "modern"}, "mute": {Era: "legacy-mute"}})
	for _, label := range []string{"legacy", "modern", "mute"} {
		l.open(label, label)
		assert.True(t, l.echo(label))
		l.received(label+"#1", "echo")
		want := []string{"server/discover", "initialize", "notifications/initialized", "tools/call"}
		if label == "modern" {
			want = []string{"server/discover", "tools/call"}
		}
		assert.Equal(t, want, l.messages(label+"#1"))
	}
}

// TestMCPGoClosesWhatItCannotInitialize: the client itself leaves the server
// alive; the driver closes it, as the examples' deferred Close does.
func TestMCPGoClosesWhatItCannotInitialize(t *testing.T) {
	t.Parallel()
	l := builtin(t, "mcp-go", scripts{"s": faulty(faultOn("initialize", "reject"))})
	resp := l.do(l.openRequest("a", "s"))
	assert.False(t, resp.OK)
	assert.Contains(t, resp.Error, "failed to initialize")
	l.saw(record.Bye, "s#1")
	assert.Equal(t, 1, l.births("s"), "it does not try again by itself")
}
