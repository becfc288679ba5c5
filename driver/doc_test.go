package driver_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
)

// TestTheDocumentedExamples: each line of JSON in docs/use/driver-protocol.md is a
// message of the protocol, every operation has one, and every field is named.
func TestTheDocumentedExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/use/driver-protocol.md")
	require.NoError(t, err)
	ops := map[string]bool{}
	inside := false
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```json\n"
		case inside && strings.Contains(line, `"op"`):
			var r driver.Request
			strictly(t, line, &r)
			assert.Positive(t, r.ID, line)
			ops[r.Op] = true
		case inside:
			var r driver.Response
			strictly(t, line, &r)
			assert.True(t, r.Hello != nil || r.ID > 0 && r.OK == (r.Error == ""), line)
		}
	}
	for _, op := range driver.Ops {
		assert.True(t, ops[op], "no example of %s", op)
	}
	for _, message := range []any{driver.Hello{}, driver.Request{}, driver.Response{}, driver.Job{}, driver.JobResult{}, driver.Server{}, driver.SessionServer{}, driver.Profile{}} {
		typ := reflect.TypeOf(message)
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			assert.True(t, bytes.Contains(text, []byte("`"+name+"`")) || bytes.Contains(text, []byte(`"`+name+`"`)), "%v: %s is not described", typ, name)
		}
	}
}

func strictly(t *testing.T, line string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(into), line)
}
