package kit

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestALineSaysWhatIsToBeSaid: what is empty is left out, and a line of a driver is nothing but that.
func TestALineSaysWhatIsToBeSaid(t *testing.T) {
	t.Parallel()
	for want, message := range map[string]any{
		`{"id":1,"do":"flat","name":"a"}`:       Request{ID: 1, Do: DoFlat, Name: "a"},
		`{"id":1,"from_driver":{"hello":{}}}`:   Request{ID: 1, From: json.RawMessage(`{"hello":{}}`)},
		`{"id":1}`:                              Answer{ID: 1},
		`{"id":1,"left":[{"pid":2,"start":3}]}`: Answer{ID: 1, Left: []Process{{PID: 2, Start: 3}}},
	} {
		line, err := json.Marshal(message)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(line))
	}
}

// TestAProcessIsKnownByItsStart: a pid alone is reused.
func TestAProcessIsKnownByItsStart(t *testing.T) {
	t.Parallel()
	p := Process{PID: 2, Start: 3, State: "S"}
	assert.True(t, p.Is(Process{PID: 2, Start: 3, State: "Z"}))
	assert.False(t, p.Is(Process{PID: 2, Start: 4}))
	assert.False(t, p.Is(Process{PID: 4, Start: 3}))
}
