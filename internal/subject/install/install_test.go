//go:build unix

package install_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/subject/install"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench has a PATH with programs of the test's own: a package manager whose
// every step is known. The real ones are for .ci/run, which installs every
// preset.
type bench struct {
	t    *testing.T
	base string // of the installed
	log  string // a line for each run of npm
}

func newBench(t *testing.T, npm string) *bench {
	t.Helper()
	bin := t.TempDir()
	b := &bench{t: t, base: filepath.Join(t.TempDir(), "hosts"), log: filepath.Join(bin, "log")}
	for name, script := range map[string]string{
		"node": "exit 0\n",
		"npm":  "[ \"$1\" = --version ] && exit 0\necho \"$@\" >>" + b.log + "\n" + npm,
	} {
		require.NoError(t, files.Program(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script)))
	}
	t.Setenv("PATH", bin+":/bin:/usr/bin")
	return b
}

func (b *bench) params(name string) install.Params {
	return install.Params{
		Name: name, Runtime: "node", Package: "gateway", Version: "1.0.0", Pinned: "1.0.0", Lock: "package-lock.json",
		Files: fstest.MapFS{"package-lock.json": {Data: []byte("the lock")}, "driver.mjs": {Data: []byte(name)}},
		Dir:   filepath.Join(b.base, name+"@1.0.0"),
	}
}

func (b *bench) runs() int {
	text, err := os.ReadFile(b.log)
	if err != nil {
		return 0
	}
	return strings.Count(string(text), "\n")
}

// visible are the names below the base, but for the locks, which stay.
func (b *bench) visible() []string {
	b.t.Helper()
	entries, err := os.ReadDir(b.base)
	require.NoError(b.t, err)
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

const works = "mkdir -p node_modules bin; pwd >bin/script; echo added 1 package\n"

func TestInstall(t *testing.T) {
	b := newBench(t, works)
	p := b.params("a")
	var lines []string
	p.Line = func(s string) { lines = append(lines, s) }
	fresh, err := install.Install(t.Context(), p)
	require.NoError(t, err)
	assert.True(t, fresh)
	assert.True(t, install.Installed(p.Dir))
	assert.Equal(t, []string{"added 1 package"}, lines)
	assert.Equal(t, []string{"a@1.0.0"}, b.visible())
	script, err := os.ReadFile(filepath.Join(p.Dir, "bin", "script"))
	require.NoError(t, err)
	assert.Equal(t, p.Dir+"\n", string(script), "what was written of the folder is true of where it is")
	text, err := os.ReadFile(b.log)
	require.NoError(t, err)
	assert.Equal(t, "ci --ignore-scripts --no-audit --no-fund\n", string(text))

	fresh, err = install.Install(t.Context(), p)
	require.NoError(t, err)
	assert.False(t, fresh)
	assert.Equal(t, 1, b.runs())
}

// TestStale: a newer program pins something else at the same version.
func TestStale(t *testing.T) {
	b := newBench(t, works)
	_, err := install.Install(t.Context(), b.params("a"))
	require.NoError(t, err)
	newer := b.params("a")
	newer.Files = fstest.MapFS{"package-lock.json": {Data: []byte("a newer lock")}}
	assert.True(t, install.Installed(newer.Dir))
	assert.False(t, newer.Fresh())
	fresh, err := install.Install(t.Context(), newer)
	require.NoError(t, err)
	assert.True(t, fresh)
	assert.Equal(t, 2, b.runs())
	assert.True(t, newer.Fresh())
	assert.NoFileExists(t, filepath.Join(newer.Dir, "driver.mjs"), "nothing of the older one is left")
	assert.Equal(t, []string{"a@1.0.0"}, b.visible())
}

// TestAnotherVersion is not the lock's.
func TestAnotherVersion(t *testing.T) {
	b := newBench(t, works)
	p := b.params("a")
	p.Version, p.Dir = "0.9.0", filepath.Join(b.base, "a@0.9.0")
	_, err := install.Install(t.Context(), p)
	require.NoError(t, err)
	text, err := os.ReadFile(b.log)
	require.NoError(t, err)
	assert.Contains(t, string(text), "--ignore-scripts --no-audit --no-fund --save-exact -- gateway@0.9.0")
	assert.NoFileExists(t, filepath.Join(p.Dir, "package-lock.json"))
}

// TestWhatPipIsAsked: wheels alone, with hashes where the version is the pinned one, and never the newest of another name.
func TestWhatPipIsAsked(t *testing.T) {
	const always = "-m pip install --disable-pip-version-check --no-input --progress-bar off --only-binary :all: "
	for version, want := range map[string]string{"1.0.0": always + "--no-deps --require-hashes -r [^ ]+/requirements.txt\n", "0.9.0": always + "-- gateway==0.9.0\n"} {
		b := newBench(t, works)
		bin := filepath.Dir(b.log)
		venv := "[ \"$1\" = -c ] && exit 0\nmkdir -p \"$3/bin\" && cp \"" + bin + "/pip\" \"$3/bin/python\"\n"
		require.NoError(t, files.Program(filepath.Join(bin, "python3"), []byte("#!/bin/sh\n"+venv)))
		require.NoError(t, files.Program(filepath.Join(bin, "pip"), []byte("#!/bin/sh\necho \"$@\" >>"+b.log+"\n")))
		p := b.params("a")
		p.Runtime, p.Lock, p.Version = "python", "requirements.txt", version
		p.Files = fstest.MapFS{"requirements.txt": {Data: []byte("the lock")}}
		_, err := install.Install(t.Context(), p)
		require.NoError(t, err)
		text, err := os.ReadFile(b.log)
		require.NoError(t, err)
		assert.Regexp(t, "^"+want+"$", string(text))
	}
}

// TestTwin: another preset of the same lock file has what is needed.
func TestTwin(t *testing.T) {
	b := newBench(t, works)
	_, err := install.Install(t.Context(), b.params("a"))
	require.NoError(t, err)
	twin := b.params("b")
	fresh, err := install.Install(t.Context(), twin)
	require.NoError(t, err)
	assert.True(t, fresh)
	assert.Equal(t, 1, b.runs())
	script, err := os.ReadFile(filepath.Join(twin.Dir, "bin", "script"))
	require.NoError(t, err)
	assert.Equal(t, twin.Dir+"\n", string(script))

	other := b.params("c")
	other.Files = fstest.MapFS{"package-lock.json": {Data: []byte("another lock")}}
	_, err = install.Install(t.Context(), other)
	require.NoError(t, err)
	assert.Equal(t, 2, b.runs())
}

// TestTwoAtOnce install once.
func TestTwoAtOnce(t *testing.T) {
	b := newBench(t, works)
	var wg sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for range 8 {
		wg.Go(func() {
			fresh, err := install.Install(t.Context(), b.params("a"))
			assert.NoError(t, err) //nolint:testifylint // require is for the goroutine of the test
			mu.Lock()
			defer mu.Unlock()
			if fresh {
				made++
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 1, made)
	assert.Equal(t, 1, b.runs())
}

func TestTheManagerFails(t *testing.T) {
	b := newBench(t, "echo half >half; for i in 1 2 3; do echo line $i; done; echo no such package >&2; exit 3\n")
	_, err := install.Install(t.Context(), b.params("a"))
	var failed *install.Failed
	require.ErrorAs(t, err, &failed)
	assert.Contains(t, failed.Command, "npm ci")
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorContains(t, err, "line 3\nno such package")
	assert.Empty(t, b.visible(), "nothing is left behind")
}

// TestInterrupted: the manager, and whatever it has started, is ended.
func TestInterrupted(t *testing.T) {
	b := newBench(t, "sleep 600 &\necho $! started\nwait\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	p := b.params("a")
	pids := make(chan string, 1)
	p.Line = func(s string) { pids <- strings.TrimSuffix(s, " started") }
	go func() {
		pid := <-pids
		pids <- pid
		cancel(assert.AnError)
	}()
	_, err := install.Install(ctx, p)
	require.ErrorIs(t, err, assert.AnError)
	assert.Empty(t, b.visible())
	pid := <-pids
	assert.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 10*time.Second, 5*time.Millisecond, "the manager's child %s is still there", pid)
}

// TestLeftovers of one that was killed are removed by the next.
func TestLeftovers(t *testing.T) {
	b := newBench(t, works)
	left := filepath.Join(b.base, ".a@1.0.0.new-12345")
	require.NoError(t, os.MkdirAll(left, 0o755))
	others := filepath.Join(b.base, ".b@1.0.0.new-12345")
	require.NoError(t, os.MkdirAll(others, 0o755))
	_, err := install.Install(t.Context(), b.params("a"))
	require.NoError(t, err)
	assert.NoDirExists(t, left)
	assert.DirExists(t, others, "that of another host is none of its business")
}

// TestTheLockIsHeld by somebody who is still at it: it is waited for.
func TestTheLockIsHeld(t *testing.T) {
	b := newBench(t, works)
	require.NoError(t, os.MkdirAll(b.base, 0o755))
	f, err := os.Create(filepath.Join(b.base, ".a@1.0.0.lock"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, assert.AnError)
	defer cancel()
	_, err = install.Install(ctx, b.params("a"))
	require.ErrorIs(t, err, assert.AnError)
	assert.Equal(t, 0, b.runs())
}

func TestMissing(t *testing.T) {
	b := newBench(t, works)
	t.Setenv("PATH", t.TempDir())
	for runtime, hint := range map[string]string{"node": "apt-get install nodejs", "python": "python3-venv", "rust": "cargo"} {
		p := b.params("a")
		p.Runtime = runtime
		_, err := install.Install(t.Context(), p)
		var missing *install.Missing
		require.ErrorAs(t, err, &missing, runtime)
		assert.Contains(t, missing.Hint, hint)
	}
	p := b.params("a")
	p.Runtime = "cobol"
	_, err := install.Install(t.Context(), p)
	require.ErrorContains(t, err, `"cobol"`)
	assert.NoDirExists(t, b.base)
}
