package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
)

// writers are command lines of each subcommand that writes a file, in a folder with a saved run. The words that end with ! are files that
// the user names: a link in their place is followed.
var writers = []string{
	"run storm shutdown --host naive --reporter junit=junit.xml! --progress none",
	"gate shutdown --blob part.zip! --reporter html=gate.html! --progress none",
	"replay run.jsonl run.jsonl --progress none",
	"report run.jsonl -o page.html!",
	"open run.jsonl --print",
	"known update run.jsonl --reason r",
	"known update run.jsonl --reason r --known list.yaml!",
	"score --hosts exact --scenarios shutdown -o board.md!",
	"explore --host naive --runs 2 --seed 1 --shrink 0 --corpus corpus",
	"init --driver go client --force",
	"selftest --law L1 --times 1",
	"attach SELF --for 1s --record seen.jsonl",
	"doctor",
	"judge run.jsonl", "compare run.jsonl run.jsonl", "merge run.jsonl", "list", "hosts", "explain L1", "validate list.yaml", "schema host", "version",
	"server -- true", "bisect --help", "lab --help", "fakeserver --help",
}

// written are the files that strace saw being opened for writing, made or moved to, below a folder.
func written(t *testing.T, trace, dir string) (paths []string) {
	t.Helper()
	text, err := os.ReadFile(trace)
	require.NoError(t, err)
	opened := regexp.MustCompile(`\bopen(?:at)?\(.*O_(?:WRONLY|RDWR|CREAT).* = \d+<([^>]+)>`)
	moved := regexp.MustCompile(`\brename(?:at2?)?\(.*?", (?:\w+<([^>]+)>, )?"([^"]+)"[^"]*\) += 0`)
	for line := range strings.Lines(string(text)) {
		path := ""
		if m := opened.FindStringSubmatch(line); m != nil {
			path = m[1] // as the kernel names what was opened
		} else if m := moved.FindStringSubmatch(line); m != nil {
			path = m[2]
			if !filepath.IsAbs(path) {
				path = filepath.Join(cmp.Or(m[1], dir), path)
			}
		}
		if strings.HasPrefix(path, dir+"/") && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// workplace is a folder with a saved run and a list of known findings.
func workplace(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	text, err := os.ReadFile("../../testdata/runs/storm-naive.jsonl")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.jsonl"), text, 0o600))
	return dir
}

// TestNoLinkIsFollowed runs each subcommand under strace, which makes the list of what it writes. Then each of these files is a link to a
// file outside, and the command runs again. Only what the user named may be written through.
func TestNoLinkIsFollowed(t *testing.T) {
	tier.Only(t, tier.Slow)
	if exec.Command("strace", "-V").Run() != nil {
		t.Skip("strace is not installed")
	}
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	for i, line := range writers {
		t.Run(fmt.Sprint(i, " ", strings.Fields(line)[0]), func(t *testing.T) {
			t.Parallel()
			var named []string
			args := strings.Fields(strings.ReplaceAll(line, "SELF", fmt.Sprint(os.Getpid())))
			for i, word := range args {
				if file, ok := strings.CutSuffix(word, "!"); ok {
					args[i] = file
					named = append(named, file[strings.Index(file, "=")+1:])
				}
			}
			play := func(dir string, before ...string) string {
				argv := append(append(before, self), args...)
				cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
				cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
				said, _ := cmd.CombinedOutput()
				require.NotContains(t, string(said), "bug of leakbench")
				return string(said)
			}
			dir, trace := workplace(t), filepath.Join(t.TempDir(), "trace")
			said := play(dir, "strace", "-f", "-y", "-qq", "-e", "trace=open,openat,rename,renameat,renameat2", "-o", trace)
			paths := written(t, trace, dir)
			for _, file := range named {
				require.Contains(t, paths, filepath.Join(dir, file), said) // else nothing is known of the others, too
			}

			if args[0] == "gate" {
				require.Contains(t, paths, filepath.Join(dir, ".leakbench", suiteFile))
			}
			again, victim := workplace(t), filepath.Join(t.TempDir(), "victim")
			planted := 0
			for _, path := range paths {
				rest, err := filepath.Rel(dir, path)
				require.NoError(t, err)
				here := filepath.Join(again, rest)
				if _, err := os.Lstat(here); err == nil || slices.Contains(named, rest) {
					continue
				}
				if os.MkdirAll(filepath.Dir(here), 0o755) == nil && os.Symlink(victim, here) == nil { // not below another link
					planted++
				}
			}
			require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
			play(again)
			text, err := os.ReadFile(victim)
			require.NoError(t, err)
			assert.Equal(t, "mine", string(text), "one of %d links was followed: %v", planted, paths)
			for _, file := range named {
				followNamed(t, play, file)
			}
		})
	}
}

// followNamed has a command write through a link that the user named.
func followNamed(t *testing.T, play func(dir string, before ...string) string, file string) {
	t.Helper()
	dir := workplace(t)
	require.NoError(t, os.Symlink("target", filepath.Join(dir, file)))
	if strings.HasSuffix(file, ".yaml") { // which is read as well
		require.NoError(t, os.WriteFile(filepath.Join(dir, "target"), nil, 0o600))
	}
	said := play(dir)
	info, err := os.Stat(filepath.Join(dir, "target"))
	require.NoError(t, err, "%s: %s", file, said)
	assert.NotZero(t, info.Size(), file)
	info, err = os.Lstat(filepath.Join(dir, file))
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type(), file)
}

// TestTheRepositorysLinks: the two that a repository can bring along, in the first tier.
func TestTheRepositorysLinks(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	out, victim := filepath.Join(dir, ".leakbench"), filepath.Join(dir, "victim")
	require.NoError(t, os.Mkdir(out, 0o700))
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	for _, name := range []string{suiteFile, lastGate} {
		require.NoError(t, os.Symlink("../victim", filepath.Join(out, name)))
	}
	var printed, said bytes.Buffer
	require.Equal(t, exitClean, execute([]string{"gate", "shutdown", "--out", out, "--progress", "none"}, &printed, &said), said.String())
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
	for _, name := range []string{suiteFile, lastGate} {
		info, err := os.Lstat(filepath.Join(out, name))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode(), name)
	}
}
