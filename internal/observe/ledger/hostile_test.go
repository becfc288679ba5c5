package ledger_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/record"
)

// TestHostilePeers: whatever connects, the ledger goes on and says so.
func TestHostilePeers(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", birth.MaxLine+10)
	certificate, err := json.Marshal(me("s"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		send string
		code record.DoubtCode
	}{
		"garbage":               {"hello\n", record.DoubtLedgerStranger},
		"a huge certificate":    {huge + "\n", record.DoubtLedgerStranger},
		"other arguments":       {`{"role":"misstarted","args":["--x"],"error":"no --x"}` + "\n", record.DoubtServerArguments},
		"half a misstart":       {`{"role":"misstarted","args":"--x"}` + "\n", record.DoubtLedgerStranger},
		"silence":               {"", record.DoubtLedgerStranger},
		"half a certificate":    {`{"run"`, record.DoubtLedgerStranger},
		"garbage after birth":   {string(certificate) + "\nhello\n", record.DoubtLedgerGarbage},
		"an unknown note":       {string(certificate) + "\n" + `{"note":"\u0000x"}` + "\n", record.DoubtLedgerGarbage},
		"an rpc without data":   {string(certificate) + "\n" + `{"note":"rpc"}` + "\n", record.DoubtLedgerGarbage},
		"a fault without data":  {string(certificate) + "\n" + `{"note":"fault","data":[]}` + "\n", record.DoubtLedgerGarbage},
		"a huge line in a life": {string(certificate) + "\n" + huge + "\n" + `{"note":"ready"}` + "\n", record.DoubtLedgerGarbage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, func(p *ledger.Params) { gone(p); p.BirthWait = 300 * time.Millisecond })
			conn, err := socket.Dial(b.Path())
			require.NoError(t, err)
			defer conn.Close()
			go func() { _, _ = io.WriteString(conn, c.send) }()
			assert.Equal(t, c.code, b.await(1, record.Doubted)[0].Doubt.Code)
			if strings.Contains(c.send, `"ready"`) {
				b.await(1, record.Ready) // reading goes on behind it
			}
			good, _, err := birth.Dial(b.Path(), me("bare"))
			require.NoError(t, err)
			good.Close()
			b.await(1, record.Died)
		})
	}
}

// TestAPeerThatFloods: a line of 300 MiB is passed over, before the birth and after it, and takes no more memory than the longest that is read.
func TestAPeerThatFloods(t *testing.T) {
	certificate, err := json.Marshal(me("s"))
	require.NoError(t, err)
	for name, begin := range map[string]string{"a stranger": "", "a server": string(certificate) + "\n"} {
		t.Run(name, func(t *testing.T) {
			b := open(t, gone)
			conn, err := socket.Dial(b.Path())
			require.NoError(t, err)
			defer conn.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = io.WriteString(conn, begin)
			require.NoError(t, err)
			block := bytes.Repeat([]byte("x"), 1<<20)
			for range 300 {
				if _, err = conn.Write(block); err != nil {
					break // a stranger is hung up on
				}
			}
			if begin != "" {
				require.NoError(t, err)
				_, err = io.WriteString(conn, "\n")
				require.NoError(t, err)
			}
			b.await(1, record.Doubted)
			runtime.ReadMemStats(&after)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40<<20))
			good, _, err := birth.Dial(b.Path(), me("bare"))
			require.NoError(t, err)
			good.Close()
			b.await(1, record.Died)
		})
	}
}

func TestFloodOfGarbageIsCapped(t *testing.T) {
	t.Parallel()
	b := open(t, gone)
	c, _, err := birth.Dial(b.Path(), me("s"))
	require.NoError(t, err)
	for range 100 {
		require.NoError(t, c.Note(birth.Note{Note: "nonsense"}))
	}
	require.NoError(t, c.Note(birth.Note{Note: birth.NoteBye, Text: strings.Repeat("ä", 5000)}))
	c.Close()
	b.await(1, record.Died)
	assert.Len(t, b.await(1, record.Doubted), 8)
	assert.LessOrEqual(t, len(b.await(1, record.Bye)[0].Text), 1100)
}

// TestFloodOfStderrIsCapped: no law looks at it, so a run file needs little.
func TestFloodOfStderrIsCapped(t *testing.T) {
	t.Parallel()
	b := open(t, gone)
	c, _, err := birth.Dial(b.Path(), me("s"))
	require.NoError(t, err)
	for range 1000 {
		require.NoError(t, c.Note(birth.Note{Note: birth.NoteStderr, Text: strings.Repeat("ä", 5000)}))
	}
	c.Close()
	b.await(1, record.Died)
	told := b.await(1, record.WroteStderr)
	assert.Len(t, told, 64)
	assert.LessOrEqual(t, len(told[0].Text), 1100)
	assert.Empty(t, b.await(0, record.Doubted))
}

// TestUnidentified: a server that is gone before it can be identified
// has died, which is no doubt; one that lives on and can't be is.
func TestUnidentified(t *testing.T) {
	t.Parallel()
	blind := func(p *ledger.Params) {
		p.Identify = func(int) (record.Identity, error) { return record.Identity{}, errors.New("hidden") }
	}
	for _, speaks := range []bool{false, true} {
		b := open(t, blind)
		c, _, err := birth.Dial(b.Path(), me("s"))
		require.NoError(t, err)
		if speaks {
			require.NoError(t, c.Note(birth.Note{Note: birth.NoteReady}))
		}
		c.Close()
		if !speaks {
			b.await(1, record.Died)
			assert.Empty(t, b.await(0, record.Doubted))
			continue
		}
		assert.Equal(t, record.DoubtLedgerIdentity, b.await(1, record.Doubted)[0].Doubt.Code)
	}
}
