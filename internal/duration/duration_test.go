package duration_test

import (
	"encoding/json"
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
		assert.Equal(t, text, d.String())
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
