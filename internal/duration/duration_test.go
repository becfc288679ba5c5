package duration_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/duration"
)

func TestItIsText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"1.5s": 1500 * time.Millisecond, "0s": 0, "2m0s": 2 * time.Minute, "-3ns": -3} {
		d := duration.Duration(want)
		written, err := json.Marshal(d)
		require.NoError(t, err)
		assert.Equal(t, `"`+text+`"`, string(written))
		var read duration.Duration
		require.NoError(t, json.Unmarshal(written, &read))
		assert.Equal(t, want, read.D())
	}
}

func TestWhatIsNoDuration(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"5"`, `""`, `"soon"`, `5`} {
		read := duration.Duration(7)
		require.Error(t, json.Unmarshal([]byte(text), &read), text)
		assert.Equal(t, duration.Duration(7), read, "it is left as it was")
	}
}

func TestTextIsForPeople(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0 s": 0, "812 ns": 812, "999 µs": 999_400, "1 ms": 999_600, "42.1 ms": 42_123_456, "300 ms": 300 * time.Millisecond, "1 s": 999_900_000,
		"1.5 s": 1500 * time.Millisecond, "1.54 s": 1_540_600_000, "60 s": time.Minute, "99.9 s": 99_940 * time.Millisecond,
		"100 s": 99_960 * time.Millisecond, "1 m 40 s": 100 * time.Second, "6 m 43 s": 403_200 * time.Millisecond,
		"2 m": 2 * time.Minute, "1 h": time.Hour - 200*time.Millisecond, "8 h 5 m": 8*time.Hour + 5*time.Minute + 20*time.Second,
		"-3 ns": -3, "-1.5 s": -1500 * time.Millisecond, "2562047 h 47 m": math.MaxInt64,
	} {
		assert.Equal(t, want, duration.Text(d))
		assert.Equal(t, want, duration.Duration(d).String())
	}
	assert.NotPanics(t, func() { duration.Text(time.Duration(math.MinInt64)) })
}
