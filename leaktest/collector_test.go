package leaktest

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTheCollectorIsHeldAndReleased once for all benches, whichever of them ends last. It is not parallel: no other bench is here.
func TestTheCollectorIsHeldAndReleased(t *testing.T) {
	percent, limit := debug.SetGCPercent(70), debug.SetMemoryLimit(math.MaxInt64)
	defer func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) }()
	now := func() int {
		p := debug.SetGCPercent(-1)
		debug.SetGCPercent(p)
		return p
	}
	first, second := holdCollector(), holdCollector()
	assert.Equal(t, -1, now())
	assert.Less(t, debug.SetMemoryLimit(-1), int64(4<<30), "there is an end to it")
	first()
	first()
	assert.Equal(t, -1, now(), "the other one goes on")
	second()
	assert.Equal(t, 70, now())
	assert.Equal(t, int64(math.MaxInt64), debug.SetMemoryLimit(-1))
	debug.SetMemoryLimit(64 << 20)
	third := holdCollector()
	assert.Equal(t, int64(64<<20), debug.SetMemoryLimit(-1), "what the test has set is not raised")
	third()
	assert.Equal(t, int64(64<<20), debug.SetMemoryLimit(-1))
}
