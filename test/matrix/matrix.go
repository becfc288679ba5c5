// Package matrix is for tests: which laws each reference host breaks in each scenario.
package matrix

import "slices"

// Columns are the hosts of Rows. The cells of go-sdk are in hosts/expected.yaml, with those of the other SDKs.
var Columns = []string{"exact", "naive", "reap-all", "orphan-set", "thread-blind", "mcp-go"}

// Unplayable is the cell of a scenario that a host can't be played.
const Unplayable = "n.a."

// Row is a scenario, with the laws that each of Columns breaks in it as errors: "L1 L4", sorted as text. "" is clean.
type Row struct {
	Scenario string
	Laws     [6]string
}

// Rows are in the order of the README's table. A cell that changes in either direction is a red test: a host that
// was caught and no longer is, is a bench gone blind.
//
// What mcp-go breaks it breaks where the host is killed, or dies of a SIGTERM
// that nobody handles, with servers that ignore the end of their stdin.
var Rows = []Row{
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
	{"odd-jobs", [6]string{"", "L1 L2 L4", "L1 L2 L3", "L1 L2", "L1 L2 L4", "L1 L2"}},
	{"odd-reloads", [6]string{"", "L1 L10 L2 L4", "L1 L10 L2 L3", "L1 L10 L2", "L1 L10 L2 L4", "L1 L2"}},
	{"odd-closes", [6]string{"", "L1 L2 L4", "L3", "", "L1 L2 L4", "L1 L2"}},
	{"odd-restarts", [6]string{"", "L2", "L2", "L2", "L2", "L2"}},
	{"killed-in-a-call", [6]string{"", "L2", "L2", "L2", "L2", "L2"}},
	{"terminated-in-a-call", [6]string{"", "L2", "", "", "", "L2"}},
	{"vanish", [6]string{"", "L1", "L3", "", "L1", "L1"}},
	{"checks", [6]string{"", "", "L3", "", "", ""}},
	{"check-faults", [6]string{"", "L1 L2 L4", "L1 L2 L3", "L1 L2", "L1 L2 L4", "L1 L2"}},
	{"check-cut", [6]string{"", "L1 L2", "", "", "L1 L2", ""}},
	{"conformance", [6]string{"", "L4", "L3", "", "L4", ""}},
	{"sharing", [6]string{"", "", "L3", "", "", Unplayable}},
	{"patience", [6]string{"", "L1", "L3", "", "L1", ""}},
}

// Breaks returns the laws that a host breaks in a scenario; known is false where the matrix does not say.
func Breaks(scenario, host string) (laws string, known bool) {
	row := slices.IndexFunc(Rows, func(r Row) bool { return r.Scenario == scenario })
	column := slices.Index(Columns, host)
	if row < 0 || column < 0 {
		return "", false
	}
	return Rows[row].Laws[column], true
}
