package ledger

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/record"
)

// TestNothingIsLostOnTheWire: package birth has its own copies of two shapes
// of a run file, because servers must not import package record.
func TestNothingIsLostOnTheWire(t *testing.T) {
	t.Parallel()
	rpc := birth.RPC{Method: "m", ID: "1", Tool: "t", Phase: "received", Session: "s", Own: true}
	recordedRPC := record.RPCInfo{Method: "m", ID: "1", Tool: "t", Phase: "received", Session: "s", Own: true}
	fault := birth.Fault{On: "call", Do: "exit", Detail: "d", Passive: true, Breaks: true, Targets: []int{7}}
	recordedFault := record.Fault{On: "call", Do: "exit", Detail: "d", Passive: true, Breaks: true, Targets: []int{7}}
	assert.Equal(t, reflect.TypeFor[record.RPCInfo]().NumField(), reflect.TypeFor[birth.RPC]().NumField())
	assert.Equal(t, reflect.TypeFor[record.Fault]().NumField(), reflect.TypeFor[birth.Fault]().NumField())
	for kind, data := range map[string]any{birth.NoteRPC: rpc, birth.NoteFault: fault} {
		raw, err := json.Marshal(data)
		require.NoError(t, err)
		line, err := json.Marshal(birth.Note{Note: kind, Data: raw})
		require.NoError(t, err)
		n, err := decodeNote(line)
		require.NoError(t, err)
		e := n.event
		if kind == birth.NoteRPC {
			assert.Equal(t, recordedRPC, *e.RPC)
		} else {
			assert.Equal(t, recordedFault, *e.Fault)
		}
	}
}

// FuzzNote: no line from a peer makes an event that is more than a peer may
// say.
func FuzzNote(f *testing.F) {
	f.Add([]byte(`{"note":"rpc","data":{"method":"ping","phase":"received"}}`))
	f.Add([]byte(`{"note":"fault","data":{"on":"call","do":"exit"}}`))
	f.Add([]byte(`{"note":"bye","text":"x"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		n, err := decodeNote(line)
		if err != nil {
			return
		}
		e := n.event
		assert.NotEmpty(t, e.Kind)
		assert.Empty(t, e.Server)
		assert.LessOrEqual(t, len(e.Text), maxText+len("…"))
	})
}
