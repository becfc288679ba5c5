package fakeserver

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCleanMappings(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-00500000 r-xp 00000000 fd:00 12 /opt/a b
Size:               1024 kB
Anonymous:             0 kB
VmFlags: rd ex mr
00500000-00600000 r--p 00100000 fd:00 12 /opt/relocated
Anonymous:             4 kB
00600000-00700000 rw-p 00100000 fd:00 12 /opt/data
Anonymous:             0 kB
00700000-00800000 r--s 00100000 fd:00 12 /opt/shared
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
nonsense
Anonymous:             0 kB
`
	assert.Equal(t, []mapping{{0x400000, 0x100000}}, cleanMappings(strings.NewReader(smaps)))
}

// TestOnlyCopied: a process that was forked and runs no program of its own yet has what its parent had, and the pipe is closed all the
// same. One that runs a program, or the parent itself, has it open.
func TestOnlyCopied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   bool
	}{
		"forked":     {`(echo forked; read line) & exec 3>&-; sleep 300 & echo $!; wait`, true},
		"has run":    {`cat <&0 & echo forked; exec 3>&-; sleep 300 3>&- & echo $!; wait`, false},
		"the parent": {`(echo forked; read line) & sleep 300 3>&- & echo $!; wait`, false},
		"nobody":     {`echo forked; exec 3>&-; sleep 300 & echo $!; wait`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, out, err := os.Pipe()
			require.NoError(t, err)
			defer in.Close()
			cmd := exec.CommandContext(t.Context(), "sh", "-c", "exec 4<&0; "+strings.ReplaceAll(c.script, "read line", "read line <&4"))
			cmd.WaitDelay = time.Minute
			cmd.ExtraFiles = []*os.File{out}
			stdin, err := cmd.StdinPipe() // what is forked waits for
			require.NoError(t, err)
			said, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			require.NoError(t, out.Close())
			var pid int
			lines := bufio.NewScanner(said)
			for range 2 {
				require.True(t, lines.Scan())
				if n, err := strconv.Atoi(lines.Text()); err == nil {
					pid = n
				}
			}
			require.Equal(t, cmd.Process.Pid, parentOf(pid))
			pipe, err := in.Stat()
			require.NoError(t, err)
			assert.Eventually(t, func() bool { return onlyCopied(pipe, parentOf(pid)) == c.want }, 10*time.Second, time.Millisecond)
			p, err := os.FindProcess(pid)
			require.NoError(t, err)
			require.NoError(t, p.Kill())
			require.NoError(t, stdin.Close())
			_, _ = io.Copy(io.Discard, said)
			_ = cmd.Wait()
		})
	}
}
