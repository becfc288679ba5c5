package ledger_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/record"
)

func (b *book) dial(c birth.Certificate) (*birth.Conn, birth.Welcome, error) {
	b.t.Helper()
	c.Run, c.PID = "r", os.Getpid()
	conn, w, err := birth.Dial(b.Path(), c)
	if conn != nil {
		b.t.Cleanup(conn.Close)
	}
	return conn, w, err
}

// TestLauncher: a launcher is not born; the server that it starts is, with the
// launcher's number and with what the launcher announced.
func TestLauncher(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	launcher, w, err := b.dial(birth.Certificate{Label: "s", Role: birth.RoleLauncher})
	require.NoError(t, err)
	assert.Equal(t, birth.Welcome{Launch: 1, Script: json.RawMessage(`{"era":"dual"}`)}, w)
	require.NoError(t, launcher.Note(birth.Note{Note: birth.NoteFault, Data: json.RawMessage(`{"on":"start","do":"launcher"}`)}))
	<-launcher.Orders() // it was taken
	assert.Empty(t, b.all())

	_, w, err = b.dial(birth.Certificate{Label: "s"}) // another one meanwhile
	require.NoError(t, err)
	assert.Equal(t, 2, w.Launch)
	_, w, err = b.dial(birth.Certificate{Label: "s", Launch: 1})
	require.NoError(t, err)
	assert.Equal(t, 1, w.Launch)
	events := b.all()
	require.Len(t, events, 3)
	assert.Equal(t, []string{"s#2", "s#1", "s#1"}, []string{events[0].Server, events[1].Server, events[2].Server})
	assert.Equal(t, []record.Kind{record.Born, record.Born, record.Faulted}, []record.Kind{events[0].Kind, events[1].Kind, events[2].Kind})

	for _, again := range []int{1, 2, 7} { // taken, nobody's launcher's, never given
		_, _, err = b.dial(birth.Certificate{Label: "s", Launch: again})
		require.ErrorIs(t, err, birth.ErrRefused)
	}
	launcher.Close()
	for _, e := range b.all() {
		assert.NotEqual(t, record.Died, e.Kind)
	}
}

// TestHelper: a helper's connection tells nobody anything but, to the helper,
// the end of the bench.
func TestHelper(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	helper, _, err := b.dial(birth.Certificate{Label: "s", Role: birth.RoleHelper})
	require.NoError(t, err)
	require.NoError(t, helper.Note(birth.Note{Note: birth.NoteReady}))
	_, _, err = b.dial(birth.Certificate{Label: "s", Role: "spy"})
	require.ErrorIs(t, err, birth.ErrRefused)
	require.NoError(t, b.Close())
	_, open := <-helper.Orders()
	assert.False(t, open)
	for _, e := range b.all() {
		assert.Equal(t, record.DoubtLedgerStranger, e.Doubt.Code)
	}
	assert.Len(t, b.all(), 1)
}
