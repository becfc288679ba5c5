package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/tier"
)

// TestFloods gives 600 MiB without a line to each command that reads something: it refuses that, and takes little memory for it. A run file
// of 10 GiB, or without an end, is refused likewise, although its lines are those of a run.
func TestFloods(t *testing.T) {
	tier.Only(t, tier.Slow)
	t.Parallel()
	const size, most = 600 << 20, 300 << 20 // the race detector takes two and a half times what the bench takes, 230 MiB
	run, err := os.ReadFile("../../testdata/runs/storm-exact.jsonl")
	require.NoError(t, err)
	header, _, _ := strings.Cut(string(run), "\n")
	header += "\n"
	for _, line := range []string{
		"judge x.jsonl", "report x.jsonl", "open x.jsonl", "compare x.jsonl x.jsonl", "merge x.zip", "merge x.jsonl",
		"gate storm --known x.yaml", "gate storm --baseline x.zip", "known show --known x.yaml", "known update --only storm --reason x --known x.yaml",
		"run x.yaml", "run storm --host x.yaml", "validate x.yaml", "score --from x.json", "replay x.jsonl", "init h.yaml --from x.json", "init h.yaml",
		"fakeserver --script x.json", "judge run.jsonl", "report run.jsonl", "compare run.jsonl run.jsonl", "merge run.jsonl", "judge /dev/stdin",
		"lab",
	} {
		t.Run(line, func(t *testing.T) {
			if raced && strings.HasSuffix(line, "/dev/stdin") {
				t.Skip("reads 256 MiB of JSON, which takes minutes under the race detector and starves the other tests")
			}
			dir := t.TempDir()
			for _, word := range strings.Fields(line) {
				if strings.HasPrefix(word, "x.") {
					require.NoError(t, os.WriteFile(filepath.Join(dir, word), nil, 0o600))
					require.NoError(t, os.Truncate(filepath.Join(dir, word), size))
				}
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "run.jsonl"), []byte(header), 0o600))
			require.NoError(t, os.Truncate(filepath.Join(dir, "run.jsonl"), 10<<30))
			stdin := io.LimitReader(zeros{}, size)
			if strings.HasSuffix(line, "/dev/stdin") {
				stdin = &endlessRun{rest: []byte(header)}
			}
			code, said, peak := peakOf(t, dir, stdin, strings.Fields(line)...)
			assert.Equal(t, exitUsage, code, said)
			assert.Less(t, len(said), 4000)
			if strings.HasPrefix(line, "judge ") && !strings.Contains(line, "x.jsonl") {
				assert.Contains(t, said, ": larger than 256 MiB, the most that a run file may have")
			}
			assert.Less(t, peak, most)
		})
	}
}

// TestProgramsThatFlood: hosts, servers and clients that write 600 MiB where the bench reads them.
func TestProgramsThatFlood(t *testing.T) {
	tier.Only(t, tier.Slow)
	t.Parallel()
	const size = "600M"
	most := 400 << 20
	if raced {
		most = 1000 << 20 // the race detector takes two and a half times as much
	}
	line, lines := "head -c "+size+" /dev/zero | tr '\\0' x", "yes $(head -c 65000 /dev/zero | tr '\\0' x) | head -c "+size
	hostFile := "about: x\nname: h\ncommand: [./flood, '{{server}}']\ndrive: nothing\nready: {output: never}\n"
	limits := " --progress none --start 2m --settle 300ms --confirm 100ms"
	for _, c := range []struct {
		name, flood, args string
		code              int
	}{
		{"a driver's line", line, "run shutdown --host ./flood" + limits, exitHost},
		{"a driver's lines", lines, "run shutdown --host ./flood" + limits, exitHost},
		{"a host's line", line, "run shutdown --host h.yaml" + limits, exitHost},
		{"a host's lines", lines, "run shutdown --host h.yaml" + limits, exitHost},
		{"a host's stderr", "{ " + lines + "; } >&2", "run shutdown --host h.yaml" + limits, exitHost},
		{"a server's line", line, "server --only eof --progress none --start 2m -- ./flood", exitHost},
		{"a server's lines", lines, "server --only eof --progress none --start 2m -- ./flood", exitHost},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, files.Program(filepath.Join(dir, "flood"), []byte("#!/bin/bash\n"+c.flood+"\ntouch flooded\n")))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "h.yaml"), []byte(hostFile), 0o600))
			code, said, peak := peakOf(t, dir, nil, strings.Fields(c.args)...)
			assert.Equal(t, c.code, code, said)
			assert.Less(t, len(said), 4000)
			assert.Less(t, peak, most)
			if !strings.Contains(c.name, "driver") { // which is ended at its first wrong line
				assert.FileExists(t, filepath.Join(dir, "flooded"))
			}
		})
	}
	t.Run("a client's line", func(t *testing.T) {
		code, said, peak := peakOf(t, t.TempDir(), io.LimitReader(zeros{}, 600<<20), "fakeserver")
		assert.Equal(t, exitClean, code, said)
		assert.Less(t, peak, most)
	})
}

// peakOf runs a command in a folder. It returns how it ended, what it said, and the most memory that it had, in bytes.
func peakOf(t *testing.T, dir string, stdin io.Reader, args ...string) (code int, said string, peak int) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "peak")
	cmd := exec.CommandContext(t.Context(), self, append([]string{notePeak, file}, args...)...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, io.Discard, &out
	_ = cmd.Run()
	noted, err := os.ReadFile(file)
	require.NoError(t, err, out.String())
	kib, err := strconv.Atoi(string(noted))
	require.NoError(t, err)
	return cmd.ProcessState.ExitCode(), out.String(), kib << 10
}

// notePeak is the word that makes the test binary run a command of the bench
// and write its most memory, in KiB, into a file.
//
// The test can't ask for it itself. Linux keeps in the ru_maxrss of a process
// what the process had before exec (setmax_mm_hiwater_rss in fs/exec.c), which
// is the memory of its parent: the test had more than most of the commands.
const notePeak = "note-peak"

func init() {
	if len(os.Args) > 2 && os.Args[1] == notePeak {
		os.Exit(withPeak(os.Args[2], os.Args[3:]))
	}
}

func withPeak(file string, args []string) int {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(context.Background(), self, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	_ = cmd.Run()
	used, isUsage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !isUsage {
		panic("no rusage")
	}
	if err := os.WriteFile(file, []byte(strconv.FormatInt(used.Maxrss, 10)), 0o600); err != nil {
		panic(err)
	}
	return cmd.ProcessState.ExitCode()
}

// endlessRun are events of a run that never ends. The first of them is missing, so that a reader need not keep the others.
type endlessRun struct {
	rest []byte
	seq  int
}

func (r *endlessRun) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		r.seq++
		r.rest = fmt.Appendf(nil, `{"seq":%d,"t":1,"kind":"bye","server":"s#1","text":"%s"}`+"\n", r.seq+1, strings.Repeat("x", 1<<20))
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
