//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// TestADeletedProgram: what was asked for can't be decided any more, however many runs are still to come, and whether the host
// is up by then. It is no fault of the host's, nor of the machine's, nor of the bench's.
func TestADeletedProgram(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(self)
	require.NoError(t, err)
	late := []string{"--", "sh", "-c", `echo up >up; while [ -e "$1" ]; do sleep 0.05; done; exec "$@"`, "sh", "{{server}}"}
	for name, c := range map[string]struct {
		args       []string
		file, when string // that says when it is deleted
	}{
		"run":                   {[]string{"run", "storm", "cron", "shutdown", "-j1"}, "runs/latest/run.jsonl", `"kind":"ready"`},
		"gate":                  {[]string{"gate", "storm", "cron", "shutdown", "-j1"}, "runs/latest/run.jsonl", `"kind":"ready"`},
		"before the host is up": {append([]string{"run", "shutdown", "--server", "stubborn"}, late...), "up", "up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program, out := filepath.Join(dir, "lbd"), filepath.Join(dir, "runs")
			require.NoError(t, files.Program(program, text))
			args := append([]string{c.args[0], "--out", out, "--progress", "none"}, c.args[1:]...)
			cmd := exec.CommandContext(t.Context(), program, args...)
			cmd.WaitDelay, cmd.Dir = 5*time.Second, dir
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			require.NoError(t, cmd.Start())
			waitForLine(t, filepath.Join(dir, c.file), c.when)
			require.NoError(t, os.Remove(program))
			_ = cmd.Wait()
			assert.Equal(t, exitInconclusive, cmd.ProcessState.ExitCode(), said.String())
			assert.Contains(t, said.String(), "hint: run it again, and do not move or replace the program")
			assert.NotContains(t, said.String(), "hint: leakbench doctor")
			runs, err := filepath.Glob(filepath.Join(out, "*", "run.jsonl")) // "latest" among them
			require.NoError(t, err)
			if len(runs) > 0 || c.args[len(c.args)-1] == "-j1" {
				assert.Contains(t, runs, filepath.Join(out, "latest", "run.jsonl"))
			}
			for _, path := range runs { // not among them: a run that could not begin, and those beside it, which are cut short then
				run, err := record.Read(path)
				require.NoError(t, err)
				v := verdict.Judge(run)
				assert.Equal(t, verdict.Inconclusive, v.Outcome)
				require.NotEmpty(t, v.Doubts)
				assert.Equal(t, record.DoubtProgramGone, v.Doubts[0].Code, "%+v", v.Doubts)
			}
		})
	}
}

// TestAPanicIsABug: Go's own end by a panic has the code of a usage error.
func TestAPanicIsABug(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	a := &app{out: &said, err: &said}
	root := a.root()
	root.AddCommand(&cobra.Command{Use: "boom", RunE: func(*cobra.Command, []string) error { panic(errors.New("boom")) }})
	assert.Equal(t, exitBug, a.execute(root, []string{"boom"}))
	assert.Contains(t, said.String(), "leakbench: panic: boom\n")
	assert.Contains(t, said.String(), "program_unix_test.go")
	assert.Contains(t, said.String(), "hint: this is a bug of leakbench: please report it at "+issues)
}

// TestAPanicBesideAnAnswerIsABug: the command has ended in order, with an answer and its code.
func TestAPanicBesideAnAnswerIsABug(t *testing.T) {
	t.Parallel()
	for _, answer := range []error{nil, exit(exitFinding), usage(errors.New("no such host"), "")} {
		var said bytes.Buffer
		a := &app{out: &said, err: &said}
		a.mishap.out, a.mishap.begun = t.TempDir(), time.Now().Add(-time.Minute)
		run := filepath.Join(a.mishap.out, "20260102-030405-storm-naive")
		require.NoError(t, os.Mkdir(run, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(run, "run.jsonl"), nil, 0o600))
		ctx, stop := context.WithCancelCause(t.Context())
		root := a.root()
		root.SetContext(ctx)
		root.AddCommand(&cobra.Command{Use: "boom", RunE: func(cmd *cobra.Command, _ []string) error {
			late := a.panicked(bug.Catch(func() error { panic("boom") }), stop)
			defer late.Stop()
			<-cmd.Context().Done()
			return answer
		}})
		assert.Equal(t, exitBug, a.execute(root, []string{"boom"}))
		assert.Contains(t, said.String(), "leakbench: panic: boom\n")
		assert.Contains(t, said.String(), "; 1 run saved in "+a.mishap.out)
	}
}
