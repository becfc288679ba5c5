// Package rows says how a client keeps the rows of the specification that the conformance suite has no harness for: those about
// stdio clients. Like a verdict, it is a function of the run alone. Rows change no outcome: the laws are what a run fails by.
package rows

import (
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// Status is what came of a check, in the words of the conformance suite.
type Status string

// The statuses. What the specification says with MUST fails, what it says with SHOULD warns. Skipped is what a client has no use
// for; a check that could not be played is none of these: it fails, or warns, with NotTestable.
const (
	Success Status = "SUCCESS"
	Failure Status = "FAILURE"
	Warning Status = "WARNING"
	Skipped Status = "SKIPPED"
)

// NotTestable begins the message of a check that lacked what it needs.
const NotTestable = "Not testable: "

// Check is a row, and what came of it.
type Check struct {
	Row         record.Row `json:"row"`
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Description string     `json:"description"` // what the specification says
	Status      Status     `json:"status"`
	Message     string     `json:"message"` // why
	Spec        string     `json:"spec"`    // where it says so
	Servers     []string   `json:"servers,omitempty"`
	T           int64      `json:"t"` // when that was clear, in nanoseconds since the run started
}

// row is a row with what decides it.
type row struct {
	Check
	judge func(t *talk, c *Check)
}

const (
	spec          = "https://modelcontextprotocol.io/specification/2026-07-28/basic/"
	onStdio       = spec + "transports/stdio"
	compatibility = onStdio + "#backward-compatibility"
)

var all = []row{
	{Check{
		Row: record.RowProbe, ID: "sep-2575-stdio-client-probes", Name: "StdioClientProbes", Spec: compatibility,
		Description: "A client that supports both eras SHOULD probe with server/discover before any other request, " +
			"and fall back to initialize on any error that is not a modern one, or on silence.",
	}, judgeProbe},
	{Check{
		Row: record.RowCancel, ID: "sep-2575-stdio-client-cancels", Name: "StdioClientCancels", Spec: onStdio + "#cancellation",
		Description: "To cancel a request in flight, the client MUST send notifications/cancelled with the ID of the request.",
	}, judgeCancel},
	{Check{
		Row: record.RowRestart, ID: "sep-2575-stdio-client-restarts", Name: "StdioClientRestarts", Spec: onStdio + "#unexpected-termination",
		Description: "If the server process exits unexpectedly, the client SHOULD restart it.",
	}, judgeRestart},
	{Check{
		Row: record.RowVersion, ID: "sep-2575-stdio-client-retries-version", Name: "StdioClientRetriesVersion", Spec: compatibility,
		Description: "On UnsupportedProtocolVersionError the client SHOULD retry with a version that the server lists, " +
			"and not fall back to initialize.",
	}, judgeVersion},
	{Check{
		Row: record.RowResubscribe, ID: "sep-2575-stdio-client-resubscribes", Name: "StdioClientResubscribes",
		Spec:        spec + "patterns/subscriptions#cancellation",
		Description: "If the connection ends and is established again, the client MUST send subscriptions/listen again for its subscriptions.",
	}, judgeResubscribe},
}

// Of are the checks of the rows that the scenario of a run is about, in the order of the specification's pages.
func Of(run *record.Run, h *history.History) []Check {
	if run == nil || len(run.Header.Plan.Rows) == 0 {
		return nil
	}
	t := listen(run, h)
	var checks []Check
	for _, r := range all {
		if slices.Contains(run.Header.Plan.Rows, r.Row) {
			c := r.Check
			r.judge(t, &c)
			checks = append(checks, c)
		}
	}
	return checks
}

// settle says what came of a check, by the servers that show it.
func (c *Check) settle(status Status, message string, by ...*history.Server) {
	c.Status, c.Message = status, message
	for _, s := range by {
		c.Servers = append(c.Servers, s.ID)
	}
}
