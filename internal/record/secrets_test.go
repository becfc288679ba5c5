package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planted is a token that is known wherever it stands, made so that no scanner finds one in this file.
var planted = "ghp_" + strings.Repeat("aB3", 12)

// words are the fields that may hold a secret all the same: they are made by the bench itself, are redacted where they are read, or must
// stay for the judge.
var words = map[string]string{
	"Event.Server": "made by the bench", "Event.Kind": "a constant", "Event.Signal": "a constant", "Birth.Label": "from the scenario",
	"Birth.Session": "from the scenario", "RPCInfo.Phase": "a constant", "RPCInfo.Session": "from the scenario", "RPCInfo.Nonce": "made by the bench", "Fault.On": "a constant", "Fault.Do": "a constant",
	"Step.Op": "a constant", "Step.Session": "from the scenario", "Step.Label": "from the scenario", "Step.Expect": "a constant",
	"Step.Reconnect": "a constant", "Hello.Limits": "a constant", "Doubt.Code": "a constant", "End.Reason": "a constant",
	"End.Signal": "a constant", "End.Stage": "a constant",
}

// plant puts a secret into each string below v whose field may have one, and counts them.
func plant(v reflect.Value, path string, n *int) {
	switch v.Kind() {
	case reflect.String:
		if words[path] == "" {
			v.SetString("it said " + planted)
			*n++
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		plant(v.Elem(), path, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		plant(v.Index(0), path, n)
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf("op "+planted), reflect.ValueOf("it said "+planted))
			*n++
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && words[v.Type().Name()+"."+f.Name] == "" {
				plant(v.Field(i), v.Type().Name()+"."+f.Name, n)
			}
		}
	}
}

// A new field of free text is in WithoutSecrets, or here with the reason why it need not be.
func TestNoEventWritesASecretDown(t *testing.T) {
	t.Parallel()
	var e Event
	planted0 := 0
	for _, part := range []any{&e.Text, &e.RPC, &e.Fault, &e.Step, &e.Hello, &e.Doubt, &e.End} {
		plant(reflect.ValueOf(part).Elem(), "", &planted0)
	}
	assert.Greater(t, planted0, 15)
	before, err := json.Marshal(e)
	require.NoError(t, err)
	require.Contains(t, string(before), planted)
	after, err := json.Marshal(e.WithoutSecrets())
	require.NoError(t, err)
	assert.NotContains(t, string(after), planted)
	again, err := json.Marshal(e)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(again), "what it points to is not changed")
}

func TestNoHeaderWritesASecretDown(t *testing.T) {
	t.Parallel()
	h := Header{Command: []string{"run", "--token", planted}, Host: Host{
		Name: planted, Version: planted, About: planted, Command: []string{planted}, Profile: Profile{Ladder: planted, Scale: planted},
	}}
	written, err := json.Marshal(h.WithoutSecrets())
	require.NoError(t, err)
	assert.NotContains(t, string(written), planted)
}

// The writer is the one way into a run file.
func TestTheWriterLetsNoSecretThrough(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w, err := Create(path)
	require.NoError(t, err)
	require.NoError(t, w.WriteHeader(Header{ID: "1", Command: []string{planted}}))
	written, err := w.Add(Event{Kind: HostReady, Hello: &Hello{Host: "h", Version: planted, NotApplicable: map[string]string{"tick": planted}}})
	require.NoError(t, err)
	assert.Equal(t, "[redacted]", written.Hello.Version)
	assert.Equal(t, map[string]string{"tick": "[redacted]"}, written.Hello.NotApplicable)
	require.NoError(t, w.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(text), planted)
}

// TestRequestIDs: the id of a request is the JSON that a host sent, and stays JSON.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"7": "7", `"call-7"`: `"call-7"`, `"a<b"`: `"a<b"`, "": "",
		`"log:\n--user=me:hunter2-Hunter2"`: `"log:\n--user=me:[redacted]"`,
		`{"token":"hunter2-Hunter2"}`:       `{"token":"[redacted]"}`,
	} {
		e := Event{RPC: &RPCInfo{ID: id}}.WithoutSecrets()
		assert.Equal(t, want, e.RPC.ID, id)
	}
}
