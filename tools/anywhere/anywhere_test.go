package main

import (
	"bytes"
	"context"
	"fmt"
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
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/internal/files"
)

// TestMain lets the test binary be the warden and the busy loops.
func TestMain(m *testing.M) {
	if code, is := playPart(os.Args); is {
		os.Exit(code)
	}
	// Under the race detector each process sleeps a second at its exit otherwise.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

const patience = 30 * time.Second

// toolFor plays a stand-in for the tests, in a source folder and with caches that are small.
func toolFor(t *testing.T, command ...string) *tool {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	around := settings{
		root: filepath.Join(dir, "source"), cache: filepath.Join(home, "cache"), modules: filepath.Join(home, "modules"),
		goroot: "/", grace: patience, env: append(os.Environ(), "HOME="+home),
	}
	for _, d := range []string{around.root, around.cache, around.modules} {
		require.NoError(t, os.MkdirAll(d, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(d, "entry"), []byte("entry of "+filepath.Base(d)+"\n"), 0o600))
	}
	return &tool{settings: around, options: options{command: command, logs: t.TempDir()}, rows: table, out: &bytes.Buffer{}, built: map[string]bool{}}
}

func rowOf(t *testing.T, name string) row {
	t.Helper()
	for _, r := range table {
		if r.name == name {
			return r
		}
	}
	t.Fatalf("no row is called %s", name)
	return row{}
}

// playRow plays a row of the table, and returns what its stand-in has written.
func playRow(t *testing.T, tool *tool, name string) (o outcome, said string) {
	t.Helper()
	o = tool.play(t.Context(), rowOf(t, name))
	if o.word == cant {
		t.Skip("this row can't be played here:", o.note)
	}
	text, err := os.ReadFile(filepath.Join(tool.logs, name+".log"))
	require.NoError(t, err)
	require.Equal(t, passed, o.word, "%s: %s", o.failures, text)
	return o, string(text)
}

// needsLinux is for what no row of the table says of itself.
func needsLinux(t *testing.T) {
	t.Helper()
	if onlyLinux != "" {
		t.Skip(onlyLinux)
	}
}

func TestProcessors(t *testing.T) {
	t.Parallel()
	needsLinux(t)
	have, err := allowedProcessors()
	require.NoError(t, err)
	for _, n := range []int{1, 2, 4, 16} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			o, said := playRow(t, toolFor(t, "sh", "-c", `nproc; echo "GOMAXPROCS=$GOMAXPROCS"`), fmt.Sprintf("processors-%d", n))
			if n <= len(have) {
				assert.Equal(t, fmt.Sprintf("%d\nGOMAXPROCS=\n", n), said)
				assert.Equal(t, fmt.Sprintf("%d of %d", n, len(have)), o.note)
			} else {
				assert.Equal(t, fmt.Sprintf("%d\nGOMAXPROCS=%d\n", len(have), n), said)
				assert.Equal(t, fmt.Sprintf("GOMAXPROCS=%d on %d", n, len(have)), o.note)
			}
		})
	}
}

// TestSurroundings: each row gives what it promises. What is in the environment of these tests does not matter: they are played in
// each row, too.
func TestSurroundings(t *testing.T) {
	t.Parallel()
	writesHome := `if (: >"$HOME/tried") 2>/dev/null; then echo "HOME was written"; else echo "HOME can't be written"; fi; `
	for _, c := range []struct{ row, script, want string }{
		{"root", "id -u", "0\n"},
		{"root", writesHome, "HOME was written\n"}, // so that the stand-in of read-only-home is known to tell
		{"umask-077", "umask", "0077\n"},
		{
			"no-cgroup", `tr '\0' ' ' </proc/1/cmdline | cut -d' ' -f2; grep ' cgroup' /proc/self/mounts; ls -A /sys/fs/cgroup; echo end`,
			partWarden + "\nend\n",
		},
		{
			"read-only-home", writesHome + `cat "$GOCACHE/entry" "$GOMODCACHE/entry"; echo more >"$GOCACHE/more" && cat "$GOCACHE/more"`,
			"HOME can't be written\nentry of cache\nentry of modules\nmore\n",
		},
		{"long-tmpdir", `echo ${#TMPDIR}; : >"$TMPDIR/x" && rm "$TMPDIR/x" && echo written`, "80\nwritten\n"},
	} {
		t.Run(c.row, func(t *testing.T) {
			t.Parallel()
			_, said := playRow(t, toolFor(t, "sh", "-c", c.script), c.row)
			assert.Equal(t, c.want, said)
		})
	}
}

// TestMountsStay: what a row mounts is for that row alone.
func TestMountsStay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"no-cgroup", "read-only-home"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := toolFor(t, "true")
			mounts := func() (lines []string) {
				text, _ := os.ReadFile("/proc/self/mounts")
				for line := range strings.Lines(string(text)) {
					if strings.Contains(line, "cgroup") || strings.Contains(line, filepath.Dir(tool.root)) {
						lines = append(lines, line)
					}
				}
				return lines
			}
			before := mounts()
			playRow(t, tool, name)
			assert.Equal(t, before, mounts())
		})
	}
}

// TestPlainUser: the user has the source as it is here, committed or not, and may write nothing of root's.
func TestPlainUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		_, said := playRow(t, toolFor(t, "id", "-u"), "plain-user")
		assert.Equal(t, fmt.Sprintln(os.Geteuid()), said)
		return
	}
	base, err := os.MkdirTemp("/var/tmp", "anywhere-test-") // TMPDIR may be a folder that only root may enter
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(base)) })
	require.NoError(t, os.Chmod(base, 0o755))
	tool := toolFor(t, "sh", "-c", `id -u; pwd; git -c core.fsmonitor= status --short; cat entry changed new "$GOCACHE/entry" "$GOMODCACHE/entry"
for f in $ROOTS "$GOMODCACHE/x"; do (: >"$f") 2>/dev/null && echo "$f was written"; done
for f in here "$HOME/x" "$GOCACHE/x"; do : >"$f" || echo "$f was not written"; done; echo "$GOPROXY $SECRET $OPEN $TMPDIR"
case $PATH in *bin-of-root*) echo "PATH has a folder of root's";; esac`)
	tool.base = filepath.Join(base, "base")
	tool.env = append(tool.env, "TMPDIR="+tool.cache, "SECRET="+filepath.Join(filepath.Dir(tool.cache), "secret"), "OPEN=open",
		"PATH="+filepath.Join(filepath.Dir(tool.cache), "bin-of-root")+":"+os.Getenv("PATH"),
		"ROOTS="+strings.Join([]string{filepath.Join(tool.root, "x"), filepath.Join(tool.base, "x"), filepath.Join(tool.cache, "x")}, " "))
	git := func(args ...string) {
		_, err := command(t.Context(), tool.root, "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"}, args...)...)
		require.NoError(t, err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(tool.root, name), []byte(text), 0o600))
	}
	git("init", "--quiet")
	write("changed", "old\n")
	write("removed", "old\n")
	git("add", ".")
	git("commit", "--quiet", "-m", "begin")
	write("changed", "changed\n")
	write("new", "new\n")
	require.NoError(t, os.Remove(filepath.Join(tool.root, "removed")))
	for range 2 { // the second time, it is there already
		o, said := playRow(t, tool, "plain-user")
		id, _, err := nobody()
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("%d\n%s/source\n M changed\n D removed\n?? new\nentry of source\nchanged\nnew\nentry of cache\nentry of modules\noff  open \n",
			id, tool.base), said)
		assert.Equal(t, fmt.Sprintf("as uid %d in %s", id, tool.base), o.note)
		assert.NoDirExists(t, filepath.Join(tool.base, "source"))
		assert.DirExists(t, filepath.Join(tool.base, "cache"))
	}
	unlock, err := lock(filepath.Join(tool.base, "lock"))
	require.NoError(t, err)
	defer unlock()
	o := tool.play(t.Context(), rowOf(t, "plain-user"))
	assert.Equal(t, cant, o.word)
	assert.Contains(t, o.note, "another command plays this row")
}

// TestTraps: a folder in /var/tmp that was there before may be somebody else's.
func TestTraps(t *testing.T) {
	t.Parallel()
	needsLinux(t)
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(dir, link))
	require.ErrorContains(t, makeRootsFolder(link), "is not a folder that belongs to root")
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, 65534, 65534))
	}
	require.ErrorContains(t, makeRootsFolder(dir), "is not a folder that belongs to root")
}

// TestBusy: the loops run while the command does, and no longer, also where it is interrupted.
func TestBusy(t *testing.T) {
	t.Parallel()
	needsLinux(t)
	tool := toolFor(t, "sleep", "1000")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan outcome, 1)
	go func() { ended <- tool.play(ctx, rowOf(t, "busy")) }()
	assert.Eventually(t, func() bool { return len(busyLoops()) == 2 }, patience, 50*time.Millisecond, "two loops are running")
	cancel()
	<-ended
	assert.Empty(t, busyLoops())
}

// busyLoops are the children of this process that are such loops, and have had a processor for 20 ms at least.
func busyLoops() (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ") // state, parent, ... the user time in hundredths of a second
		fields := strings.Fields(rest)
		if !bytes.HasSuffix(line, []byte("\x00"+partLoop+"\x00")) || len(fields) < 12 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		if ticks, err := strconv.Atoi(fields[11]); err == nil && ticks >= 2 {
			pids = append(pids, filepath.Base(dir))
		}
	}
	return pids
}

func assertGone(t *testing.T, pids []string) {
	t.Helper()
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		require.NoError(t, err)
		process, err := os.FindProcess(pid)
		if err == nil {
			err = process.Signal(syscall.Signal(0))
		}
		assert.ErrorIs(t, err, os.ErrProcessDone, "process %d", pid)
	}
}

func TestNoLanguages(t *testing.T) {
	t.Parallel()
	needsLinux(t)
	tool := toolFor(t, "sh", "-c", `for p in python3 python node npm cargo rustc; do command -v $p; done
for p in go git gcc ls own other; do [ "$(command -v $p)" ] && echo $p; done; own; other; ls /nowhere/at/all 2>/dev/null; echo $?`)
	dir := t.TempDir()
	for _, name := range []string{"mixed/python3", "mixed/npm", "mixed/own", "clean/other"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, files.Program(filepath.Join(dir, name), []byte("#!/bin/sh\necho this is "+filepath.Base(name)+"\n")))
	}
	want := ""
	for _, name := range []string{"go", "git", "gcc", "ls", "sh"} { // the folders that have them here may be large
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		require.NoError(t, os.Symlink(path, filepath.Join(dir, "mixed", name)))
		if name != "sh" {
			want += name + "\n"
		}
	}
	tool.env = append(tool.env, "PATH="+strings.Join([]string{dir + "/mixed", dir + "/none", dir + "/clean"}, ":"))
	_, said := playRow(t, tool, "no-languages")
	assert.Equal(t, want+"own\nother\nthis is own\nthis is other\n2\n", said)
}

// TestBuildsFirst: the tests are built once, before the first row, and without its surroundings.
func TestBuildsFirst(t *testing.T) {
	t.Parallel()
	needsLinux(t)
	tool := toolFor(t, "go", "test", "-count=1", "./...")
	dir := t.TempDir()
	require.NoError(t, files.Program(filepath.Join(dir, "go"), []byte("#!/bin/sh\necho go $* $(umask)\n")))
	tool.env = append(tool.env, "PATH="+dir+":"+os.Getenv("PATH"))
	tool.rows = []row{{"a", "", umask(0o031)}, {"b", "", umask(0o013)}}
	good, err := tool.playAll(t.Context())
	require.NoError(t, err)
	assert.True(t, good)
	for log, want := range map[string]string{"build": "go test -exec=true -count=1 ./... ", "a": "go test -count=1 ./... 0031", "b": "go test -count=1 ./... 0013"} {
		said, err := os.ReadFile(filepath.Join(tool.logs, log+".log"))
		require.NoError(t, err)
		assert.Contains(t, string(said), want)
		assert.Equal(t, 1, strings.Count(string(said), "\n"), "%s", said)
		assert.Equal(t, log == "build", !strings.Contains(string(said), "0031") && !strings.Contains(string(said), "0013"))
	}
}

// asIs is a row that changes nothing.
var asIs = row{"as-is", "", func(context.Context, *place) error { return nil }}

// TestNothingIsLeft: an interrupt ends what has left the process group, the session and its parent, and what ignores signals.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	needsLinux(t)
	for _, r := range []row{asIs, rowOf(t, "no-cgroup")} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			tool := toolFor(t, "sh", "-c", `sleep 1000 & setsid sleep 1000 &
(setsid sh -c "trap '' TERM INT HUP; sleep 1000 & sleep 1000" &); exec sleep 1000`)
			mark := "ANYWHERE_MARK=" + strconv.FormatInt(time.Now().UnixNano(), 36) + r.name
			tool.env = append(tool.env, mark)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan outcome, 1)
			go func() { ended <- tool.play(ctx, r) }()
			// Seven with the warden. sleep-ok: the birth of a process that is not our child sends no word.
			for deadline := time.Now().Add(patience); len(marked(mark)) < 7; time.Sleep(50 * time.Millisecond) {
				require.True(t, time.Now().Before(deadline), "not all have begun: %v", marked(mark))
				select {
				case o := <-ended:
					t.Skip("this row can't be played here:", o.note)
				default:
				}
			}
			cancel()
			<-ended
			assert.Empty(t, marked(mark))
		})
	}
}

// marked are the processes with a variable in their environment.
func marked(mark string) (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil && strings.Contains(string(env), mark) {
			pids = append(pids, filepath.Base(dir))
		}
	}
	return pids
}

// TestLeftBehind: what the tests leave running is told and killed.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	tool := toolFor(t, "sh", "-c", "setsid sleep 1000 & echo $!")
	tool.grace = 10 * time.Millisecond
	o := tool.play(t.Context(), asIs)
	if o.word == cant {
		t.Skip(o.note)
	}
	assert.Equal(t, failed, o.word)
	assert.Regexp(t, `^left running and killed: (sleep|setsid|sh)$`, o.note)
	said, err := os.ReadFile(filepath.Join(tool.logs, "as-is.log"))
	require.NoError(t, err)
	assertGone(t, strings.Fields(string(said)))
}

// TestTimes: the time of orphans counts, and the time of a row is that of its command.
func TestTimes(t *testing.T) {
	t.Parallel()
	needsLinux(t)
	work := `i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done`
	took := map[string]time.Duration{}
	orphan := "(" + work + "; while kill -0 $$ 2>/dev/null; do sleep 0.02; done; sleep 0.2) & exit 0"
	for name, script := range map[string]string{"own": work, "orphan": orphan} {
		begun := time.Now()
		o := toolFor(t, "sh", "-c", script).play(t.Context(), asIs)
		require.Equal(t, passed, o.word, o.note)
		took[name] = o.user + o.system
		if name == "orphan" {
			assert.Less(t, o.Wall, time.Since(begun)-100*time.Millisecond, "the orphan takes longer than the command")
		} else {
			assert.Positive(t, o.Wall)
		}
	}
	assert.Greater(t, took["orphan"], took["own"]/2)
}
