package proc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// TestHangingQuestions: one that hangs is not asked again, there are only so many of them, and those that get an answer make room.
func TestHangingQuestions(t *testing.T) {
	t.Parallel()
	a := &asking{hanging: map[handleOf]int{}}
	answered := make(chan bool)
	asked := func(h int) handleOf { return handleOf{handle: windows.Handle(h)} }
	hangs := func() target { <-answered; return target{name: "NUL"} }
	for h := range mostHanging {
		require.NoError(t, a.may(asked(h)))
		_, err := a.ask(asked(h), hangs)
		require.ErrorIs(t, err, errBusy)
	}
	require.ErrorIs(t, a.may(asked(0)), errBusy)
	require.ErrorIs(t, a.may(asked(mostHanging)), errTooMany)
	close(answered)
	require.Eventually(t, func() bool { a.mu.Lock(); defer a.mu.Unlock(); return len(a.hanging) == 0 }, patience, pause)
	to, err := a.ask(asked(0), hangs)
	require.NoError(t, err)
	assert.Equal(t, "NUL", to.name)
	require.NoError(t, a.may(asked(0)))
}
