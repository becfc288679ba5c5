package leaktest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// partEnv has a copy of the test binary play a part: another package that is tested at the same time.
const partEnv = "LEAKTEST_PART"

func init() {
	switch os.Getenv(partEnv) {
	case "build":
		path, err := built(givenDir)
		answer(path, err)
	case "turn":
		env, done, err := turn(givenDir)
		if err == nil {
			defer done()
		}
		answer(strings.Join(env, " "), err)
	case "hold":
		hold()
	case "helper":
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
}

func answer(text string, err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(text)
	os.Exit(0)
}

// hold takes the lock and launches a process that outlives this one, as the go command outlives a test that is killed.
func hold() {
	file, err := lockFile(os.Getenv("LEAKTEST_CACHE"))
	if err == nil {
		err = lock(file, false)
	}
	helper := exec.Command(os.Args[0])
	helper.Env = append(os.Environ(), partEnv+"=helper")
	helper.Stdin, helper.Stdout = os.Stdin, os.Stdout
	if err == nil {
		err = helper.Start()
	}
	if err != nil {
		answer("", err)
	}
	fmt.Println("held")
	select {}
}

// part is this test binary with a part to play.
func part(t *testing.T, name string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env, cmd.WaitDelay = append(append(os.Environ(), partEnv+"="+name), env...), 10*time.Second
	return cmd
}

// counting is a go command that takes its time to build, and makes a mark if it builds twice at the same time. It begins when all have
// got so far.
const counting = `#!/bin/sh
case "$1" in
env) echo asked >>"$MARKS/asked" ;;
run)
	mkdir "$MARKS/building" || { echo two >>"$MARKS/both"; exit 1; }
	while [ "$(wc -l <"$MARKS/asked")" -lt 3 ]; do sleep 0.02; done
	"$REAL" list -deps ./cmd/leakbench >/dev/null
	echo built >>"$MARKS/built"
	rmdir "$MARKS/building"
	echo /bin/sh
	exit ;;
esac
exec "$REAL" "$@"
`

// TestOneBuildAtATime: three packages need the program at the same time, and there is none yet.
func TestOneBuildAtATime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the go command of this test is a shell script")
	}
	real, err := exec.LookPath("go")
	require.NoError(t, err)
	bin, marks, cache := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte(counting), 0o700))
	var wg sync.WaitGroup
	for range 3 {
		cmd := part(t, "build", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "REAL="+real, "MARKS="+marks, "GOCACHE="+cache)
		wg.Go(func() {
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s", out)
		})
	}
	wg.Wait()
	assert.NoFileExists(t, filepath.Join(marks, "both"), "two builds at the same time")
	builds, err := os.ReadFile(filepath.Join(marks, "built"))
	require.NoError(t, err)
	assert.Equal(t, "built\nbuilt\nbuilt\n", string(builds))
	assert.FileExists(t, filepath.Join(cache, lockName))
}

// TestTheLockEndsWithItsHolder: a test that is killed while it builds keeps nobody waiting, though what it has launched still runs.
func TestTheLockEndsWithItsHolder(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	cmd := part(t, "hold", "LEAKTEST_CACHE="+cache)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd.Stdout = w
	require.NoError(t, cmd.Start())
	w.Close()
	out := bufio.NewReader(r)
	said, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "held", strings.TrimSpace(said))

	file, err := lockFile(cache)
	require.NoError(t, err)
	defer file.Close()
	require.ErrorIs(t, lock(file, false), errTaken)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.NoError(t, lock(file, false), "the helper that is left has not inherited the lock")

	stdin.Close()
	_, err = io.Copy(io.Discard, out) // to the end of the helper
	require.NoError(t, err)
}

// TestWithoutACache: whoever has a home that can't be written, or none, gets a build cache in a folder of their own.
func TestWithoutACache(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, unusable := range []string{filepath.Join(file, "cache"), "off"} { // root may write whatever is read-only
		temp := t.TempDir()
		for range 2 { // the folder is used again
			cmd := part(t, "turn", "GOCACHE="+unusable, "TMPDIR="+temp, "TMP="+temp)
			var says strings.Builder
			cmd.Stderr = &says
			out, err := cmd.Output()
			require.NoError(t, err, "%s", out)
			found, err := filepath.Glob(filepath.Join(temp, "leaktest*", "go-build"))
			require.NoError(t, err)
			require.Len(t, found, 1)
			assert.Equal(t, "GOCACHE="+found[0], strings.TrimSpace(string(out)))
			assert.Contains(t, says.String(), "the leakbench program is built in "+found[0])
			assert.FileExists(t, filepath.Join(found[0], lockName))
		}
	}
}

// TestAStrangersFolder: what runs from a folder that others can write is theirs, too.
func TestAStrangersFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the folder for temporary files is the user's")
	}
	first := t.TempDir()
	cache, err := privateCache(first)
	require.NoError(t, err)
	name := filepath.Base(filepath.Dir(cache))
	info, err := os.Stat(filepath.Dir(cache))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	for what, make := range map[string]func(dir string) error{
		"others may write": func(dir string) error { return folder(dir, 0o777) },
		"others may read":  func(dir string) error { return folder(dir, 0o755) },
		"a link":           func(dir string) error { return os.Symlink(filepath.Dir(cache), dir) },
		"a file":           func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"another's own":    foreign,
	} {
		temp := t.TempDir()
		require.NoError(t, make(filepath.Join(temp, name)), what)
		_, err := privateCache(temp)
		require.ErrorContains(t, err, "is not a folder of this user alone", what)
	}
}

// folder makes a folder with a mode, whatever the umask is.
func folder(dir string, mode os.FileMode) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

// foreign makes a folder that is somebody else's. Only root can: for anybody else, one that all can use stands in.
func foreign(dir string) error {
	if os.Geteuid() != 0 {
		return folder(dir, 0o777)
	}
	if err := folder(dir, 0o700); err != nil {
		return err
	}
	return os.Chown(dir, 65534, 65534)
}
