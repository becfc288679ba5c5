package server_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	observeserver "github.com/leakbench/leakbench/internal/observe/server"
	"github.com/leakbench/leakbench/internal/play/server"
	"github.com/leakbench/leakbench/internal/tier"
)

// TestServersOnWindows: what was planted is found under its name, and nothing else is.
func TestServersOnWindows(t *testing.T) {
	for _, p := range []struct {
		name, checks, kinds string
		argv                []string
	}{
		{"go healthy", "eof,eof-call,eof-start", "", fake()},
		{"go deaf", "eof", "eof-ignored", fake("--fault", "on=eof,do=ignore")},
		{"go that survives EPIPE", "epipe", "epipe-ignored", fake()},
		{"go with a helper", "eof", "helper-left", fake("--fault", "on=start,do=helper,as=group")},
		{"python healthy", "eof,eof-call,epipe", "", script("planted.py")},
		{"python deaf", "eof", "eof-ignored", script("planted.py", "deaf-eof")},
		{"node healthy", "eof,eof-call,epipe", "", script("planted.mjs")},
		{"node with a timer", "eof", "eof-ignored", script("planted.mjs", "timer")},
	} {
		t.Run(p.name, func(t *testing.T) {
			params := server.Params{Checks: named(strings.Split(p.checks, ",")...)}
			if p.kinds != "" {
				params.Limits = observeserver.Limits{Grace: 700 * time.Millisecond, Watch: 300 * time.Millisecond}
			}
			kinds, runs := try(t, params, p.argv)
			if assert.Equal(t, p.kinds, strings.Join(kinds, " ")) {
				tier.Played(t, "server: "+p.name, p.checks, cmp.Or(p.kinds, "clean"))
			}
			for i := range runs {
				if len(runs[i].Findings) == 0 {
					assert.Equal(t, verdict.Clean, runs[i].Outcome, "%v", runs[i].Doubts)
				}
			}
		})
	}
}

// TestChecksThatNeedSignals are not played, and refused where they are named.
func TestChecksThatNeedSignals(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sigterm", "server-shell"} {
		assert.True(t, server.Lacking(name), name)
	}
	assert.False(t, server.Lacking("eof"))
}
