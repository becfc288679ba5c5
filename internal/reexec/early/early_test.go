package early_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/reexec"
)

// The test binary links all that the program does, and plays the parts.
func TestMain(m *testing.M) {
	if status, ok := reexec.Main(os.Args); ok {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// heavy are what a part that is dispatched early does not wait for.
var heavy = []string{"init github.com/santhosh-tekuri/jsonschema/v6 ", "init html/template ", "init net/http "}

// TestEarly: a part plays before the heavy packages are initialised. The runtime tells what it has initialised.
func TestEarly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		early bool
	}{
		{[]string{"keeper", "/nowhere/k"}, true},
		{[]string{"bystander"}, true},
		{[]string{"placement"}, true},
		{[]string{"host", "none"}, false}, // a host with a client library
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			said := play(t, c.args...)
			require.Contains(t, said, "init os ")
			for _, pkg := range heavy {
				assert.Equal(t, !c.early, strings.Contains(said, pkg), "%v: %s", c.args, pkg)
			}
		})
	}
}

// play plays a part, with an empty stdin, and returns what it and the runtime say on stderr.
func play(t *testing.T, args ...string) (stderr string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Kill() }, time.Second
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	_ = cmd.Run() // most of them end with an error: there is no bench
	require.NoError(t, ctx.Err(), "%v did not end", args)
	return said.String()
}
