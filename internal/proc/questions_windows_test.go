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
	for h := range mostReads {
		require.NoError(t, a.may(asked(h)))
		_, err := a.ask(asked(h), hangs)
		require.ErrorIs(t, err, errBusy)
	}
	require.ErrorIs(t, a.may(asked(0)), errBusy)
	require.ErrorIs(t, a.may(asked(mostReads)), errTooMany)
	close(answered)
	require.Eventually(t, func() bool { a.mu.Lock(); defer a.mu.Unlock(); return len(a.hanging) == 0 }, patience, pause)
	to, err := a.ask(asked(0), hangs)
	require.NoError(t, err)
	assert.Equal(t, "NUL", to.name)
	require.NoError(t, a.may(asked(0)))
}

// TestManyReaders: however many servers wait for their next request, an end that can be written to is asked about. Those
// have a limit, too.
func TestManyReaders(t *testing.T) {
	t.Parallel()
	a := &asking{hanging: map[handleOf]int{}}
	for h := range mostReads {
		a.hanging[handleOf{handle: windows.Handle(h)}] = 1
	}
	require.ErrorIs(t, a.may(handleOf{handle: mostReads}), errTooMany)
	for h := range mostWrites {
		about := handleOf{handle: windows.Handle(mostReads + h), writes: true}
		require.NoError(t, a.may(about))
		to, err := a.ask(about, func() target { return target{name: "pipe:[1]"} })
		require.NoError(t, err)
		require.Equal(t, "pipe:[1]", to.name)
		a.hanging[about] = 1
	}
	require.ErrorIs(t, a.may(handleOf{handle: mostReads + mostWrites, writes: true}), errTooMany)
}
