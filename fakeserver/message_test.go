package fakeserver

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzMessage: whatever a host sends, what comes of it is a message or an
// error that can be answered with valid JSON.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a","method":"x","params":{"_meta":{"a":1}}}`,
		`{"jsonrpc":"2.0","id":null}`, `{"jsonrpc":"2.0","id":[1]}`, `[]`, `{`, ``, `{"id":{}}`, `{"jsonrpc":"2.0","id":-1e9,"params":[]}`,
		`{"id":1,"id":{}}`, `{"jsonrpc":"2.0","id":" \n","method":3}`, "\xff", `{"jsonrpc":"2.0","id":1,"params":{"requestId":null,"arguments":0}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := parseMessage(line)
		var bad *rpcError
		if err != nil {
			require.ErrorAs(t, err, &bad)
		} else {
			assert.True(t, json.Valid(line))
			bad = &rpcError{Code: codeInternal}
		}
		if m.ID != nil {
			assert.NotNil(t, validID(m.ID))
		}
		answer, err := encodeAnswer(m.ID, nil, bad)
		require.NoError(t, err)
		assert.True(t, json.Valid(answer), string(answer))
	})
}

func TestAnswerHasExactlyOneOutcome(t *testing.T) {
	t.Parallel()
	_, err := encodeAnswer(nil, nil, nil)
	require.Error(t, err)
	_, err = encodeAnswer(nil, map[string]any{}, &rpcError{})
	require.Error(t, err)
}
