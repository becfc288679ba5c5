//go:build unix

package files

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProgram: what was written can be started at once, although children are forked all the time.
func TestProgram(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	run := func(path string) error {
		cmd := exec.CommandContext(t.Context(), path)
		cmd.WaitDelay = time.Second
		return cmd.Run()
	}
	for range 4 {
		go func() {
			for ctx.Err() == nil {
				_ = run("true")
			}
		}()
	}
	path := filepath.Join(t.TempDir(), "program")
	for range 100 {
		require.NoError(t, Program(path, []byte("#!/bin/sh\n")))
		require.NoError(t, run(path))
	}
}
