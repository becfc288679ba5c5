package leakbench_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// matrixColumns are the hosts of matrixRows. The cells of go-sdk are in hosts/expected.yaml, with those of the other SDKs.
var matrixColumns = []string{"exact", "naive", "reap-all", "orphan-set", "thread-blind", "mcp-go"}

// unplayable is the cell of a scenario that a host can't be played.
const unplayable = "n.a."

// matrixRow is a scenario, with the laws that each of matrixColumns breaks in it as errors: "L1 L4", sorted as text. "" is clean.
type matrixRow struct {
	scenario string
	laws     [6]string
}

// matrixRows are in the order of the README's table. A cell that changes in either direction is a red test: a host that
// was caught and no longer is, is a bench gone blind.
//
// What mcp-go breaks it breaks where the host is killed, or dies of a SIGTERM
// that nobody handles, with servers that ignore the end of their stdin.
var matrixRows = []matrixRow{
	{"storm", [6]string{"", "L1 L4", "L3", "", "L1 L4", ""}},
	{"cron", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"reload", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"hang", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"stuck", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"half-open", [6]string{"", "L4", "L3", "", "L4", ""}},
	{"crash", [6]string{"", "L2", "L2", "L2", "L2", "L2"}},
	{"shutdown", [6]string{"", "L2", "", "", "L2", "L2"}},
	{"deaf", [6]string{"", "L1 L2", "L3", "", "L1 L2", ""}},
	{"restart", [6]string{"", "L2", "L3", "", "L2", "L2"}},
	{"replace", [6]string{"", "L2", "L2", "L2", "L2", "L2"}},
	{"recycled", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"pid-1", [6]string{"", "L4", "L3 L4", "L4", "L4", "L4"}},
	{"subreaper", [6]string{"", "L2", "L2", "L2", "L2", "L2"}},
	{"grow", [6]string{"", "L1", "", "", "L1", ""}},
	{"wrapper", [6]string{"", "L1 L2", "L1 L2 L3", "L1 L2", "L1 L2", "L1 L2"}},
	{"helpers", [6]string{"", "L1 L2", "L1 L2 L3", "L1 L2", "L1 L2", "L1 L2"}},
	{"cancel", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"deadline", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"probe", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"per-request", [6]string{"", "L1", "L3", "", "L1", "L1"}},
	{"subagents", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"race", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"reload-connect", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"forget", [6]string{"", "L1", "L3", "", "L1", "L1"}},
	{"nofile", [6]string{"", "L1 L10", "L3", "", "L1 L10", ""}},
	{"stderr", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"stdout", [6]string{"", "L1", "L3", "", "L1", ""}},
	{"full-pipe", [6]string{"", "L1 L2", "L3", "", "L1 L2", "L8"}},
	{"spin", [6]string{"", "L1 L2", "L2 L3", "L2", "L1 L2", "L2"}},
	{"container", [6]string{"", "L1 L2", "L1 L2", "L1 L2", "L1 L2", "L1 L2"}},
	{"lock", [6]string{"", "L1 L10 L4", "L3", "L10", "L1 L10 L4", ""}},
	{"watchdog", [6]string{"", "L1 L2 L4", "L2 L3", "L2", "L1 L2 L4", "L2"}},
	{"siblings", [6]string{"", "L4", "L3", "", "L4", ""}},
	{"zombies", [6]string{"", "L4", "L3", "", "L4", ""}},
	{"lists", [6]string{"", "L1 L4", "L3", "", "L1 L4", ""}},
	{"relist", [6]string{"", "L1 L4", "L3", "", "L1 L4", ""}},
	{"list-changed", [6]string{"", "L1 L4", "L3", "", "L1 L4", ""}},
	{"odd-handshakes", [6]string{"", "L1 L2 L4", "L3", "", "L1 L2 L4", ""}},
	{"odd-lists", [6]string{"", "L1 L2 L4", "L3", "", "L1 L2 L4", ""}},
	{"odd-calls", [6]string{"", "L1 L2 L4", "L3", "", "L1 L2 L4", ""}},
	{"odd-orders", [6]string{"", "L1 L2", "L1 L2 L3", "L1 L2", "L1 L2", "L1 L2"}},
	{"odd-ends", [6]string{"", "L1 L2", "L3", "", "L1 L2", ""}},
	{"odd-moments", [6]string{"", "L1 L4", "L3", "", "L1 L4", ""}},
	{"killed-in-a-call", [6]string{"", "L2", "L2", "L2", "L2", "L2"}},
	{"terminated-in-a-call", [6]string{"", "L2", "", "", "", "L2"}},
	{"vanish", [6]string{"", "L1", "L3", "", "L1", "L1"}},
	{"checks", [6]string{"", "", "L3", "", "", ""}},
	{"check-faults", [6]string{"", "L1 L2 L4", "L1 L2 L3", "L1 L2", "L1 L2 L4", "L1 L2"}},
	{"check-cut", [6]string{"", "L1 L2", "", "", "L1 L2", ""}},
	{"conformance", [6]string{"", "L4", "L3", "", "L4", ""}},
	{"sharing", [6]string{"", "", "L3", "", "", unplayable}},
	{"patience", [6]string{"", "L1", "L3", "", "L1", ""}},
}

// wantedIn returns the laws that a host breaks in a scenario; known is false where the matrix does not say.
func wantedIn(scenario, host string) (laws string, known bool) {
	row := slices.IndexFunc(matrixRows, func(r matrixRow) bool { return r.scenario == scenario })
	column := slices.Index(matrixColumns, host)
	if row < 0 || column < 0 {
		return "", false
	}
	return matrixRows[row].laws[column], true
}

// TestTheMatrixItself: no scenario stands twice, the healthy host is healthy, and each column is a host.
func TestTheMatrixItself(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range matrixRows {
		assert.False(t, seen[row.scenario], row.scenario)
		seen[row.scenario] = true
		laws, known := wantedIn(row.scenario, catalogue.Healthy)
		assert.True(t, known)
		assert.Empty(t, laws)
	}
	for _, column := range matrixColumns {
		_, ok := catalogue.Named(column)
		assert.True(t, ok, column)
	}
}
