package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/play"
)

const savedRun = "../../testdata/runs/storm-exact.jsonl"

// TestNothingIsIgnored: what was asked for and can't be done is an error, before anything runs.
func TestNothingIsIgnored(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	for _, c := range []struct{ line, want string }{
		{"run|storm|--law|", "--law is empty"},
		{"run|storm|--tag|", "--tag is empty"},
		{"run|storm|--level|", "--level is empty"},
		{"gate|storm|--costs|", "--costs is empty"},
		{"gate|storm|--costs|nosuch", "nosuch"},
		{"gate|storm|--baseline|", "--baseline is empty"},
		{"gate|storm|--blob|", "--blob is empty"},
		{"gate|storm|--known|", "--known is empty"},
		{"run|storm|--reporter|", "--reporter is empty"},
		{"score|--from|", "--from is empty"},
		{"score|-o|", "--out is empty"},
		{"runs|prune|--older|", "--older is empty"},
		{"attach|1|--record|", "--record is empty"},
		{"attach|1|--record|-", "--record -: it can't be written to standard output"},
		{"known|update|--reason|x|--known|-", "--known -: it can't be written to standard output"},
		{"gate|storm|--blob|-", "--blob -: it can't be written to standard output"},
		{"known|update|--only||--reason|x", "--only is empty"},
	} {
		args := strings.Split(c.line, "|")
		if args[0] == "run" || args[0] == "gate" {
			args = append(args, "--out", filepath.Join(out, "runs"), "--progress", "none")
		}
		var printed, said bytes.Buffer
		assert.Equal(t, exitUsage, execute(args, &printed, &said), c.line)
		assert.Contains(t, said.String(), c.want)
	}
	assert.NoFileExists(t, "-")
	assert.NoDirExists(t, filepath.Join(out, "runs"))
}

// TestMinusIsStandardOutput: as other programs have it.
func TestMinusIsStandardOutput(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"-o - --reporter junit", "--reporter junit=-", "-o -"} {
		var printed, said bytes.Buffer
		require.Equal(t, exitClean, execute(append([]string{"report", savedRun}, strings.Fields(line)...), &printed, &said), said.String())
		assert.Contains(t, printed.String(), "storm", line)
		assert.NoFileExists(t, "-", line)
	}
}

// TestAfterSomeRuns: 2 says that nothing ran, so that it is not the answer where some have.
func TestAfterSomeRuns(t *testing.T) {
	t.Parallel()
	j, err := play.Load(savedRun)
	require.NoError(t, err)
	full := fmt.Errorf("%w: %w", observe.ErrSetUp, syscall.ENOSPC)
	for _, failed := range []error{full, syscall.EROFS, syscall.EMFILE} {
		var printed, said bytes.Buffer
		a := &app{out: &printed, err: &said, format: "text"}
		assert.Equal(t, exitUsage, a.fail(a.conclude(answerOf(nil, failed, nil))))
		assert.Equal(t, exitInconclusive, a.fail(a.conclude(answerOf([]verdict.Judged{j}, failed, nil))), said.String())
		assert.Contains(t, said.String(), "hint: ")
	}
}

// TestMessagesAreNoCommands: a runner of GitHub takes the beginning of a line for a command.
func TestMessagesAreNoCommands(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	a := &app{out: &said, err: &said, format: "text"}
	a.fail(&failure{exitUsage, errors.New("x\n::error::y\n  ::set-output name=a::b\n##[group]z"), "h\n::stop-commands::t"})
	for line := range strings.Lines(said.String()) {
		assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), line)
		assert.NotContains(t, line, "##[")
	}
	assert.Contains(t, said.String(), `\::error::y`)
}

func TestExplainOfALongName(t *testing.T) {
	t.Parallel()
	var printed, said bytes.Buffer
	begun := time.Now()
	assert.Equal(t, exitUsage, execute([]string{"explain", strings.Repeat("superseded", 10_000)}, &printed, &said))
	assert.Less(t, time.Since(begun), time.Second)
	assert.Less(t, said.Len(), 1000)
}
