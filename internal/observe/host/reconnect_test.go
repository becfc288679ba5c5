package host_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAClaimIsForServersThatAreGone: a host that claims to reconnect by itself must, once its server has ended or closed its stdout: the
// storms of the matrix show that. A server that does not answer may answer later, and the claim says nothing of it.
func TestAClaimIsForServersThatAreGone(t *testing.T) {
	t.Parallel()
	const source = `name: claimed
title: a session is called before it is opened anew
servers: {flaky: }
limits: {settle: 1s, confirm: 500ms}
steps:
  - {open: work, server: flaky}
  - {call: work}
  - {break: work, with: stop-reading, defining: true}
  - {call: work, timeout: 300ms, expect: any}
  - {open: work, if: lost}
  - {call: work}
  - checkpoint: after
`
	for _, name := range []string{"itself", "itself-never"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := play(t, source, name, nil)
			assert.Empty(t, v.Findings) // where the server had read the call before it stopped, the last call is a doubt
		})
	}
}
