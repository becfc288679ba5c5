package duration_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/duration"
)

func TestFlag(t *testing.T) {
	t.Parallel()
	var f duration.Flag
	assert.Equal(t, "0", f.String(), "a help prints no such default")
	require.NoError(t, f.Set("1.5s"))
	assert.Equal(t, 1500*time.Millisecond, time.Duration(f))
	assert.Equal(t, "1.5s", f.String())
	require.EqualError(t, f.Set("-1s"), "a duration can't be below 0")
	require.EqualError(t, f.Set("fast"), "a duration is written like 5s or 200ms")
	assert.Equal(t, 1500*time.Millisecond, time.Duration(f), "a bad one changes nothing")
}
