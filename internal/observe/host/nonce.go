package host

import (
	"encoding/json"
	"maps"
	"strconv"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/record"
)

// withNonce adds to the arguments of a call what it is known by: the number of its step.
func withNonce(args map[string]any, step record.Step) map[string]any {
	all := map[string]any{"nonce": strconv.Itoa(step.N)}
	maps.Copy(all, args)
	return all
}

// checkNonce notes an answer that is another call's. A driver need not pass on what its client got.
func (r *run) checkNonce(resp driver.Response, req driver.Request) {
	var text string
	if req.Op != driver.OpCall || json.Unmarshal(resp.Result, &text) != nil {
		return
	}
	if got := ledger.NonceIn(text); got != "" && got != req.Args["nonce"] {
		r.Doubt(record.DoubtCrossedCall, "the call of step %v, of session %s, was answered with the result of the call of step %.20q",
			req.Args["nonce"], req.Session, got)
	}
}
