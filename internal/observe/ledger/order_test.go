package ledger_test

import (
	"bufio"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/record"
)

// TestTwoThatTalkAtOnce: what one server says before another one does, and
// before the bench writes something down, stands before it in the file, however
// busy the machine is.
func TestTwoThatTalkAtOnce(t *testing.T) {
	defer busy(8)()
	b := open(t, gone)
	a, other := dialed(t, b), dialed(t, b)
	for n := range 1000 {
		first, second := a, other
		if n%2 == 1 {
			first, second = second, first
		}
		require.NoError(t, first.Note(fault(n)))
		require.NoError(t, second.Note(birth.Note{Note: birth.NoteSignal, Text: strconv.Itoa(n)}))
		if n%3 == 0 { // what the bench writes down comes last
			b.Drain()
			b.add(record.Event{Kind: record.SessionChanged, Text: strconv.Itoa(n)})
		}
	}
	b.await(1000, record.SawSignal)
	b.await(1000, record.Faulted)
	at := map[string]int{}
	for i, e := range b.all() {
		switch e.Kind {
		case record.Faulted:
			at["fault "+e.Fault.Detail] = i
		case record.SawSignal:
			at["signal "+e.Signal] = i
		case record.SessionChanged:
			at["session "+e.Text] = i
		}
	}
	for n := range 1000 {
		f, s := at["fault "+strconv.Itoa(n)], at["signal "+strconv.Itoa(n)]
		require.Less(t, f, s, "signal %d is told before the fault that led to it", n)
		if n%3 == 0 {
			require.Less(t, s, at["session "+strconv.Itoa(n)], n)
		}
	}
}

// TestABirthComesAfterWhatLedToIt: a fault and a death that the host has seen
// before it launches the next server stand before its birth.
func TestABirthComesAfterWhatLedToIt(t *testing.T) {
	b := open(t, gone)
	c := dialed(t, b)
	for n := range 300 {
		require.NoError(t, c.Note(fault(n)))
		c.Close()
		c = dialed(t, b)
	}
	var order []record.Kind
	for _, e := range b.all() {
		if e.Kind != record.Ready {
			order = append(order, e.Kind)
		}
	}
	require.GreaterOrEqual(t, len(order), 901)
	for n := range 300 {
		require.Equal(t, []record.Kind{record.Born, record.Faulted, record.Died}, order[3*n:3*n+3], n)
	}
}

// A line that is too long, or torn into pieces, is no matter of who reads it.
func TestPiecesOfLines(t *testing.T) {
	t.Parallel()
	b := open(t, gone)
	conn := connected(t, b)
	line, err := json.Marshal(birth.Note{Note: birth.NoteBye, Text: "x"})
	require.NoError(t, err)
	for _, part := range [][]byte{line[:3], line[3:], []byte("\r\n"), make([]byte, birth.MaxLine), make([]byte, 5), []byte("\n"), line, []byte("\n")} {
		_, err := conn.Write(part)
		require.NoError(t, err)
		b.Drain()
	}
	assert.Len(t, b.await(2, record.Bye), 2)
	d := b.await(1, record.Doubted)
	require.Len(t, d, 1)
	assert.Equal(t, record.DoubtLedgerGarbage, d[0].Doubt.Code)
}

// busy keeps processors busy.
func busy(n int) (stop func()) {
	var over atomic.Bool
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for !over.Load() { // the loop is the work
			}
		})
	}
	return func() { over.Store(true); wg.Wait() }
}

// connected is a server's end of a connection, after its birth.
func connected(t *testing.T, b *book) *socket.Conn {
	t.Helper()
	certificate, err := json.Marshal(me("s"))
	require.NoError(t, err)
	conn, err := socket.Dial(b.Path())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write(append(certificate, '\n'))
	require.NoError(t, err)
	_, err = bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	return conn
}

func fault(n int) birth.Note {
	data, _ := json.Marshal(birth.Fault{On: "order", Do: "exit", Detail: strconv.Itoa(n)})
	return birth.Note{Note: birth.NoteFault, Data: data}
}

func dialed(t *testing.T, b *book) *birth.Conn {
	t.Helper()
	c, _, err := birth.Dial(b.Path(), me("s"))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}
