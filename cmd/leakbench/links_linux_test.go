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

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
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
	"shrink shutdown --host exact --seed 7",
	"init --driver go client --force",
	"selftest --law L1 --times 1",
	"attach SELF --for 1s --record seen.jsonl",
	"doctor",
	"judge run.jsonl", "compare run.jsonl run.jsonl", "merge run.jsonl", "list", "hosts", "explain L1", "validate list.yaml", "schema host", "version",
	"server -- true", "fakeserver --help",
	"init --force --no-try", "init mine.yaml! --force --no-try", "lab --host SELF", "hosts install typescript-sdk",
	"bisect shutdown --host typescript-sdk --good 1.0.0 --bad 1.2.0", "score --hosts exact --scenarios shutdown",
	"runs", "runs prune --older 0d", "known show", "known prune run.jsonl",
	"completion bash", "completion fish", "completion powershell", "completion zsh", "help run",
}

// TestWritersHaveEachSubcommand: one that is new is traced, too.
func TestWritersHaveEachSubcommand(t *testing.T) {
	t.Parallel()
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		words := strings.Join(strings.Fields(cmd.CommandPath())[1:], " ")
		traced := slices.ContainsFunc(writers, func(line string) bool { return line == words || strings.HasPrefix(line, words+" ") })
		assert.True(t, traced || !cmd.Runnable() || words == "completion", "writers has no %q", words)
		for _, below := range cmd.Commands() {
			look(below)
		}
	}
	for _, cmd := range (&app{}).root().Commands() {
		look(cmd)
	}
}

// asked are the lines that a command of writers reads.
var asked = map[string]string{
	"init": "my-gateway --port {{port}} -- {{server}}\n\n\n\n",
	"lab":  `{"id":1,"do":"server","name":"a"}` + "\n" + `{"id":2,"do":"flat","name":"a","n":3}` + "\n",
}

// fakeNPM has a PATH in which npm installs nothing, and knows three versions of each package.
func fakeNPM(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for name, script := range map[string]string{
		"node": "exit 0\n",
		"npm":  `case "$1" in view) echo '["1.0.0","1.1.0","1.2.0"]';; ci|install) mkdir -p node_modules; echo x >node_modules/x;; esac` + "\n",
	} {
		require.NoError(t, files.Program(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script)))
	}
	return "PATH=" + bin + ":" + os.Getenv("PATH")
}

// wholeCalls are the lines of strace. It cuts a call in two where another process is heard meanwhile, which happens on a busy machine.
func wholeCalls(trace string) (calls []string) {
	begun, resumed := map[string]string{}, regexp.MustCompile(`^<\.\.\. \w+ resumed>`)
	for line := range strings.Lines(trace) {
		pid, call, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		call = strings.TrimLeft(call, " ")
		if begin, cut := strings.CutSuffix(call, " <unfinished ...>"); cut {
			begun[pid] = begin
			continue
		}
		if rest := resumed.FindString(call); rest != "" {
			call = begun[pid] + call[len(rest):]
		}
		calls = append(calls, call)
	}
	return calls
}

func TestWholeCalls(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{`read(3, "x") = 1`, `renameat(3</a>, "b", 3</a>, "c") = 0`}, wholeCalls(
		"12  renameat(3</a>, \"b\", 3</a>, \"c\" <unfinished ...>\n7   read(3, \"x\") = 1\n12  <... renameat resumed>) = 0\n"))
}

// written are the files that strace saw being opened for writing, made or moved to, below a folder.
func written(t *testing.T, trace, dir string) (paths []string) {
	t.Helper()
	text, err := os.ReadFile(trace)
	require.NoError(t, err)
	opened := regexp.MustCompile(`\b(?:open(?:at2?)?\(.*O_(?:WRONLY|RDWR|CREAT)|creat\().* = \d+<([^>]+)>`)
	moved := regexp.MustCompile(`\brename(?:at2?)?\(.*?", (?:\w+<([^>]+)>, )?"([^"]+)"[^"]*\) += 0`)
	for _, line := range wholeCalls(string(text)) {
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
	path := fakeNPM(t)
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
				cmd.Env, cmd.Stdin = append(os.Environ(), path, "LEAKBENCH_HOSTS_DIR="+filepath.Join(dir, "hosts")), strings.NewReader(asked[args[0]])
				said, _ := cmd.CombinedOutput()
				require.NotContains(t, string(said), "bug of leakbench")
				return string(said)
			}
			dir, trace := workplace(t), filepath.Join(t.TempDir(), "trace")
			said := play(dir, "strace", "-f", "-y", "-qq", "-e", "trace=open,openat,openat2,creat,rename,renameat,renameat2", "-o", trace)
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

// TestALinkInThePlaceOfAFolder: a repository that brings .leakbench along, or a folder below it, as a link has nothing written behind it.
func TestALinkInThePlaceOfAFolder(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	play := func(t *testing.T, line, link string) (elsewhere, said string, code int) {
		t.Helper()
		dir, elsewhere := workplace(t), filepath.Join(t.TempDir(), "elsewhere")
		require.NoError(t, os.MkdirAll(filepath.Join(elsewhere, "run"), 0o700))
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o700))
		require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, link)))
		cmd := exec.CommandContext(t.Context(), self, strings.Fields(line)...)
		cmd.Dir, cmd.WaitDelay, cmd.Stdin = dir, 5*time.Second, strings.NewReader(asked[strings.Fields(line)[0]])
		text, _ := cmd.CombinedOutput()
		return elsewhere, string(text), cmd.ProcessState.ExitCode()
	}
	for line, link := range map[string]string{
		"run shutdown": ".leakbench", "gate shutdown": ".leakbench", "replay run.jsonl": ".leakbench", "lab": ".leakbench", "doctor": ".leakbench",
		"runs prune --older 1m": ".leakbench", "known update run.jsonl --reason r": ".leakbench", "explore --runs 1": ".leakbench",
		"explore --runs 1 --seed 7": ".leakbench/explore-7/scenarios", "shrink shutdown --seed 7": ".leakbench/shrink-7/scenarios",
		"score --hosts exact --scenarios shutdown":         ".leakbench/score",
		"score --hosts exact --scenarios shutdown -o x.md": ".leakbench/score/exact/shutdown", "init --driver go": "leakbench-driver",
	} {
		t.Run(line+" "+link, func(t *testing.T) {
			t.Parallel()
			elsewhere, said, code := play(t, line, link)
			assert.Equal(t, exitUsage, code, said)
			assert.Contains(t, said, link+" is a link (to \"/")
			assert.Contains(t, said, "hint: ")
			entries, err := os.ReadDir(elsewhere)
			require.NoError(t, err)
			assert.Len(t, entries, 1, "what was there")
		})
	}
	t.Run("named", func(t *testing.T) {
		t.Parallel()
		elsewhere, said, code := play(t, "run shutdown --progress none --out .leakbench", ".leakbench")
		assert.Equal(t, exitClean, code, said)
		assert.FileExists(t, filepath.Join(elsewhere, "latest", "run.jsonl"))
	})
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
