package lab

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/kit"
)

// TestTheProtocolIsDescribed: the page for those who write a kit has each request, and each field of a request and of an answer.
func TestTheProtocolIsDescribed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/use/kit-protocol.md")
	require.NoError(t, err)
	for _, do := range []string{kit.DoServer, kit.DoAlive, kit.DoFlat, kit.DoClose, kit.DoPlay, kit.DoChildren} {
		assert.Contains(t, string(page), "\n| `"+do+"` |")
	}
	for _, message := range []any{kit.Request{}, kit.Answer{}, kit.Driver{}, kit.Process{}, kit.Launch{}} {
		for i := range reflect.TypeOf(message).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(message).Field(i).Tag.Get("json"), ",")
			assert.Contains(t, string(page), "`"+name+"`")
		}
	}
}
