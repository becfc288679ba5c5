package acceptance_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/test/judge2"
	"github.com/leakbench/leakbench/test/trickhost"
)

// troubled is a bench under way, to be disturbed. It has a folder of its own, with a name for each program, which all its
// processes carry.
type troubled struct {
	cmd    *exec.Cmd
	dir    string
	self   string
	trick  string // the program of its host
	out    bytes.Buffer
	said   bytes.Buffer
	over   chan struct{}
	keeper int
	host   int
}

func newTroubled(t *testing.T) *troubled {
	t.Helper()
	b := &troubled{dir: openDir(t), over: make(chan struct{})}
	b.self = filepath.Join(b.dir, "leakbench")
	b.trick = filepath.Join(b.dir, "trick")
	require.NoError(t, os.Link(built(t), b.self))
	require.NoError(t, os.Link(trickProgram.path(t), b.trick))
	return b
}

// startTroubled starts a bench with a healthy host that has a helper, and waits
// until the host's server is there. As another user it has no cgroup.
func startTroubled(t *testing.T, host string, as *syscall.Credential) *troubled {
	t.Helper()
	b := newTroubled(t)
	file := hostFile(t, b.trick, host, b.dir)
	scenario := filepath.Join(b.dir, "long.yaml")
	text, err := os.ReadFile("testdata/tricks/long-call.yaml")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(scenario, text, 0o644))
	if as != nil {
		require.NoError(t, os.Chown(b.dir, int(as.Uid), int(as.Gid)))
	}
	b.cmd = exec.Command(b.self, "run", scenario, "--host", file, "--format", "json", "--progress", "none",
		"--out", filepath.Join(b.dir, "runs"))
	b.cmd.Dir, b.cmd.Env = b.dir, append(os.Environ(), "HOME="+b.dir, "TMPDIR="+b.dir)
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.said
	b.cmd.WaitDelay = 5 * time.Second
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	require.NoError(t, b.cmd.Start())
	go func() { _ = b.cmd.Wait(); close(b.over) }()
	t.Cleanup(func() {
		for _, pid := range []int{b.keeper, b.cmd.Process.Pid} {
			if pid > 0 {
				_ = syscall.Kill(pid, syscall.SIGCONT)
			}
		}
		_ = b.cmd.Process.Kill()
		<-b.over
	})
	require.Eventually(t, b.underWay, 20*time.Second, 20*time.Millisecond, "the host's server does not come up")
	return b
}

// underWay finds the keeper, the host and one server of it.
func (b *troubled) underWay() bool {
	all := judge2.Look()
	for _, p := range all {
		if strings.Contains(p.Line, "\x00fakeserver\x00") && !strings.Contains(p.Line, "-control\x00") {
			host := all.Of(p.Parent)
			keeper := all.Of(host.Parent)
			if strings.Contains(host.Line, "\x00trick-") && keeper.Parent == b.cmd.Process.Pid {
				b.host, b.keeper = p.Parent, host.Parent
				return true
			}
		}
	}
	return false
}

// ends waits for the bench's end and returns its exit status; -1: it did not end.
func (b *troubled) ends(within time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	select {
	case <-b.over:
		return b.cmd.ProcessState.ExitCode()
	case <-ctx.Done():
		return -1
	}
}

// left are the processes of the run that live on: all that it starts have its folder in their command line. What is on its
// way out gets a moment; one that forks all the time is seen at some of many looks only.
func (b *troubled) left() (all []string) {
	const looks, every = 60, 20 * time.Millisecond
	for i := range looks {
		for _, p := range judge2.Look() {
			if i > looks/3 && strings.Contains(p.Line, b.dir) && !p.Dead {
				all = append(all, strings.ReplaceAll(p.Line, "\x00", " "))
			}
		}
		time.Sleep(every) // sleep-ok: what is on its way out sends no word
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// openDir is a folder that other users can reach.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "leakbench-open-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

var asNobody = &syscall.Credential{Uid: 65534, Gid: 65534}

// TestKeeperInTrouble disturbs the keeper of a run: the bench ends in time, says
// that the run is inconclusive, and nothing lives on.
func TestKeeperInTrouble(t *testing.T) {
	t.Parallel()
	if os.Getenv(seriesEnv) != "" {
		t.Skip("it plays alone")
	}
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		as     *syscall.Credential
	}{
		{"killed", syscall.SIGKILL, nil},
		{"killed, without a cgroup", syscall.SIGKILL, asNobody},
		{"stopped", syscall.SIGSTOP, nil},
		{"stopped, without a cgroup", syscall.SIGSTOP, asNobody},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.name != "killed" {
				tier.Only(t, tier.Tricks)
			}
			if c.as != nil && os.Getuid() != 0 {
				t.Skip("needs the rights of root")
			}
			defer takeTurn(t, besideAll, short)()
			b := startTroubled(t, "worker-undying", c.as)
			require.NoError(t, syscall.Kill(b.keeper, c.signal))
			code := b.ends(45 * time.Second)
			t.Logf("exit %d, %s", code, b.said.String())
			assert.Equal(t, 3, code, "inconclusive")
			assert.Empty(t, b.left())
			assert.NotContains(t, b.said.String(), "a bug of leakbench")
			for _, p := range judge2.Look() { // whatever the bench has left
				if strings.Contains(p.Line, b.dir) {
					_ = syscall.Kill(p.PID(), syscall.SIGKILL)
				}
			}
		})
	}
}

// TestReforkWithoutCgroup has an ordinary user's bench end a host that leaves a
// process which forks itself anew: it must not live on.
func TestReforkWithoutCgroup(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Tricks)
	if os.Getenv(seriesEnv) != "" || os.Getuid() != 0 {
		t.Skip("it plays alone, and needs the rights of root to become another user")
	}
	for _, host := range []string{"refork", "refork-fast", "refork-slow"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			defer takeTurn(t, besideAll, short)()
			b := newTroubled(t)
			dir := b.dir
			require.NoError(t, os.Chown(dir, int(asNobody.Uid), int(asNobody.Gid)))
			file := hostFile(t, b.trick, host, dir)
			text, err := os.ReadFile("testdata/tricks/one-call.yaml")
			require.NoError(t, err)
			scenario := filepath.Join(dir, "one-call.yaml")
			require.NoError(t, os.WriteFile(scenario, text, 0o644))
			asUser := []string{
				"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
				"env", "HOME=" + dir, "TMPDIR=" + dir, "--chdir=" + dir,
			}
			a := playProgram(t, b.self, dir, asUser, "run", scenario, "--host", file)
			left := b.left()
			t.Logf("%s (%v), left: %d", a.short(), a.Took, len(left))
			assert.Empty(t, left)
			assert.NotEqual(t, trickhost.Clean, a.Outcome)
		})
	}
}
