package main

import (
	"bytes"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
)

// evil is a name that does something in a shell, in a URL, in HTML and in a terminal.
const evil = "a;touch pwned $(touch pwned) `touch pwned` 'x\" %41 #? <b> & \x1b[31m|touch pwned"

// self runs this program in a folder, with variables on top.
func self(t *testing.T, dir string, env []string, args ...string) (int, string) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	return started(t, program, dir, env, args...)
}

func started(t *testing.T, program, dir string, env []string, args ...string) (int, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String()
}

func below(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			var info fs.FileInfo
			info, err = d.Info()
			all[path] = info.Mode()
		}
		return err
	}))
	return all
}

// TestARunIsForItsUserAlone, whatever the umask says.
func TestARunIsForItsUserAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, err := os.Executable()
	require.NoError(t, err)
	code, said := started(t, "bash", dir, nil, "-c", `umask 0; "$0" gate shutdown --host naive --blob b.zip`, program)
	require.Equal(t, exitFinding, code, said)
	runs, err := filepath.Glob(filepath.Join(dir, ".leakbench", "2*"))
	require.NoError(t, err)
	require.Len(t, runs, 1, said)
	for path, mode := range below(t, runs[0]) {
		assert.Zero(t, mode.Perm()&0o077, "%s: %v", path, mode)
	}
	info, err := os.Stat(filepath.Join(dir, "b.zip"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), "it has the runs in it")
}

// TestNothingReachesAShell: folders, programs and sockets whose names are commands are names to the bench, where it
// fills in placeholders and where it opens pages.
func TestNothingReachesAShell(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("/tmp", "x") // short enough for sockets, whatever $TMPDIR is
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	dir, temp := filepath.Join(base, evil), filepath.Join(base, "t;touch pwned")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.MkdirAll(temp, 0o700))
	program := filepath.Join(dir, "leak bench;touch pwned")
	own, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(own)
	require.NoError(t, err)
	require.NoError(t, files.Program(program, text))
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" \"$IN_ENV\" >seen\nexec sleep 100\n"
	require.NoError(t, files.Program(filepath.Join(dir, "host.sh"), []byte(script)))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "h.yaml"), []byte("name: h\nabout: x\ndrive: nothing\nworkdir: '{{dir}}'\n"+
		"command: ['{{dir}}/host.sh', '{{dir}}', '{{run}}', '{{server}}']\nenv: {IN_ENV: 'is {{dir}}'}\n"), 0o600))
	env := []string{"TMPDIR=" + temp}
	_, said := started(t, program, dir, env, "run", "shutdown", "--host", "h.yaml", "--start", "500ms", "--settle", "300ms", "--confirm", "100ms")
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	require.NoError(t, err, said)
	lines := strings.Split(strings.TrimSpace(string(seen)), "\n")
	assert.Equal(t, dir, lines[0])
	assert.Equal(t, dir, filepath.Dir(filepath.Dir(filepath.Dir(lines[1]))), "{{run}} is below the folder of runs")
	assert.Contains(t, lines, program, "{{server}} begins with the program, as one argument")
	assert.Equal(t, "is "+dir, lines[len(lines)-1])
	assert.NotContains(t, said, "\x1b[31m")

	// In quotes, {{server}} is a text for a shell: each of its words comes out as it was.
	_, said = started(t, program, dir, env, "run", "shutdown", "--start", "1s", "--", "sh", "-c", "printf '%s\\n' {{server}} >words; exec sleep 100")
	words, err := os.ReadFile(filepath.Join(dir, "words"))
	require.NoError(t, err, said)
	assert.Equal(t, program, strings.Split(string(words), "\n")[0])
	assert.Contains(t, string(words), "\n"+temp+"/lb-")

	browser := filepath.Join(base, "browser")
	require.NoError(t, files.Program(browser, []byte("#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" >\""+base+"/opened\"\n")))
	code, said := started(t, program, dir, append(env, "BROWSER="+browser), "open")
	require.Equal(t, exitClean, code, said)
	opened, err := os.ReadFile(filepath.Join(base, "opened"))
	require.NoError(t, err)
	got := strings.Split(strings.TrimSpace(string(opened)), "\n")
	require.Len(t, got, 2, "one argument on one line: %q", opened)
	assert.Equal(t, "1", got[0])
	page, err := url.Parse(got[1])
	require.NoError(t, err)
	assert.Equal(t, "file", page.Scheme)
	assert.True(t, strings.HasPrefix(page.Path, dir+"/"), "the browser finds the page: %q", page.Path)
	assert.FileExists(t, page.Path)
	for path := range below(t, base) {
		assert.NotEqual(t, "pwned", filepath.Base(path))
	}
}

// TestAPageIsNotWrittenThroughALink: somebody else may have packed the folder of a run.
func TestAPageIsNotWrittenThroughALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run, victim := filepath.Join(dir, "run"), filepath.Join(dir, "victim")
	require.NoError(t, os.Mkdir(run, 0o700))
	text, err := os.ReadFile("../../testdata/runs/storm-exact.jsonl")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(run, "run.jsonl"), text, 0o600))
	require.NoError(t, os.Symlink(victim, filepath.Join(run, "report.html")))
	code, said := self(t, dir, nil, "open", "--print", "run")
	assert.Equal(t, exitClean, code, said)
	assert.NoFileExists(t, victim)
	info, err := os.Lstat(filepath.Join(run, "report.html"))
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular())
}

// TestAFolderThatIsNotUTF8 is refused at once: a run file and a command line to play it again could not name it.
func TestAFolderThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, command := range []string{"run", "gate"} {
		code, said := self(t, dir, nil, command, "shutdown", "--out", "a\xffb")
		assert.Equal(t, exitUsage, code, said)
		assert.Contains(t, said, `the path of the folder for runs is not UTF-8: "`)
		assert.Contains(t, said, "hint: choose another folder with --out")
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
	bad := filepath.Join(dir, "c\xffd")
	require.NoError(t, os.Mkdir(bad, 0o700))
	code, said := self(t, bad, nil, "run", "shutdown")
	assert.Equal(t, exitUsage, code, said)
	code, said = self(t, dir, []string{"TMPDIR=" + bad}, "run", "shutdown")
	assert.Equal(t, exitClean, code, "another folder is taken for sockets: %s", said)
}
