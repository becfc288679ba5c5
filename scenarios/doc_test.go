package scenarios_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

const docPath = "../docs/use/scenario-file.md"

// The example of the documentation can be played, and shows every step.
func TestDocumentedExample(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(docPath)
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	require.Len(t, blocks, 1)
	s := parse(t, blocks[0][1])
	assert.Equal(t, "refresh", s.Name)
	assert.Len(t, s.Servers, 3)
	assert.Equal(t, []string{"reconnected", "round-1", "round-2", "round-3", "restarted", "host gone"}, s.Plan(1).Checkpoints)
	ops := []record.Op{
		record.OpOpen, record.OpCall, record.OpClose, record.OpReload, record.OpTick, record.OpBreak,
		record.OpCheckpoint, record.OpRepeat, record.OpParallel, record.OpStop, record.OpTerm, record.OpKill, record.OpRestart,
	}
	for _, op := range ops {
		assert.Contains(t, string(doc), "| `"+string(op)+":", "the table of steps lacks %s", op)
		shown := strings.Contains(blocks[0][1], string(op)+":")
		assert.True(t, shown || slices.Contains([]record.Op{record.OpStop, record.OpTerm}, op), "the example lacks %s", op)
	}
}

// The message that the documentation shows is the one that there is.
func TestDocumentedMessage(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(docPath)
	require.NoError(t, err)
	_, err = scenarios.Parse("my.yaml", []byte("name: my\ntitle: My own\nservers:\n  steady:\n  flaky:\n    era: legacy\n\n    faults:\n"+
		"      - {on: initialise, do: reject, launch: 2}\nsteps:\n  - {open: a, server: flaky}\n  - {open: b, server: steady}\n"))
	require.Error(t, err)
	for _, line := range strings.Split(err.Error(), "\n") {
		assert.Contains(t, string(doc), "    "+line+"\n")
	}
}

// Each field of a fault has its row in the documentation.
func TestDocumentedFields(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(docPath)
	require.NoError(t, err)
	for _, field := range fakeserver.Fields[2:] {
		assert.Contains(t, string(doc), "| `"+field.Name+"` |", "the table of a fault's fields lacks it")
	}
}
