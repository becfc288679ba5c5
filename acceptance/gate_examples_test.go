package acceptance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
)

var runnable = regexp.MustCompile("(?s)<!-- run: (\\S+) -->\n```sh\n(.*?)```")

// TestTheExamplesOfTheGate runs the shell blocks of docs/use/gate.md as they stand:
// red, accepted, green.
func TestTheExamplesOfTheGate(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Scripts)
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("the examples are for a POSIX shell")
	}
	text, err := os.ReadFile(filepath.Join("docs", "use", "gate.md"))
	require.NoError(t, err)
	blocks := map[string]string{}
	for _, m := range runnable.FindAllStringSubmatch(string(text), -1) {
		blocks[m[1]] = m[2]
	}
	require.Len(t, blocks, 4)
	assertWorkflowPlays(t, string(text), blocks["examples/gate/python"])
	program := built(t)
	for folder, needs := range map[string]string{"examples/gate/python": "python3", "examples/gate/node": "node", "examples/gate/go": "go"} {
		t.Run(needs, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(needs); err != nil {
				if os.Getenv("LEAKBENCH_REQUIRE") == "all" {
					t.Fatalf("%s is missing", needs)
				}
				t.Skipf("%s is missing", needs)
			}
			defer takeTurn(t, besideAll, long)()
			dir := beside(t, folder)
			sh := func(script string, want int) string {
				cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
				cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
				out, _ := cmd.CombinedOutput()
				require.Equal(t, want, cmd.ProcessState.ExitCode(), "%s\n%s", script, out)
				return string(out)
			}
			red := sh(blocks[folder], 1)
			assert.Contains(t, red, "✗ gate: fail: 2 new findings. 3 scenarios, 6 runs; exit 1")
			assert.Contains(t, red, "L2 deaf")
			assert.Equal(t, 2, strings.Count(sh(blocks["known"], 0), "added  crash:L2:"))
			assert.Contains(t, sh(blocks[folder], 0), "✓ gate: pass: 2 listed findings.")
		})
	}
}

// assertWorkflowPlays: the workflow of the page plays what its first step played, so that a push right after it finds nothing new.
func assertWorkflowPlays(t *testing.T, page, firstStep string) {
	t.Helper()
	_, after, _ := strings.Cut(page, "```yaml\nname: leaks\n")
	workflow, _, _ := strings.Cut(after, "```")
	var w struct {
		Jobs struct {
			Gate struct {
				Steps []struct {
					Uses string
					With struct{ Command, Scenarios, Args string }
				}
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(workflow), &w))
	for _, step := range w.Jobs.Gate.Steps {
		if strings.HasPrefix(step.Uses, "leakbench/leakbench@") {
			assert.Equal(t, strings.TrimSpace(firstStep), "leakbench gate "+step.With.Scenarios+" "+step.With.Args+" -- "+step.With.Command)
			return
		}
	}
	t.Error("the page has no workflow with the action of leakbench")
}

// beside is a copy of an example that still finds the module of the project.
func beside(t *testing.T, folder string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(folder)))
	if _, err := os.Stat(filepath.Join(dir, "main.go")); err == nil {
		for _, name := range []string{"go.mod", "go.sum"} {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
		}
	}
	return dir
}

var yamlBlocks = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestTheJobOfTheGate runs the command of each pod of the Kubernetes Job of
// docs/use/gate.md, and merges what they leave; the matrix beside it names each
// shard once.
func TestTheJobOfTheGate(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Scripts)
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("the pods have a POSIX shell")
	}
	text, err := os.ReadFile(filepath.Join("docs", "use", "gate.md"))
	require.NoError(t, err)
	var job struct {
		Kind string `yaml:"kind"`
		Spec struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    int    `yaml:"completions"`
			Template       struct {
				Spec struct {
					Containers []struct {
						Command []string `yaml:"command"`
					} `yaml:"containers"`
				} `yaml:"spec"`
			} `yaml:"template"`
		} `yaml:"spec"`
	}
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix map[string][]string `yaml:"matrix"`
			} `yaml:"strategy"`
		} `yaml:"jobs"`
	}
	for _, b := range yamlBlocks.FindAllStringSubmatch(string(text), -1) {
		switch {
		case strings.Contains(b[1], "kind: Job"):
			require.NoError(t, yaml.Unmarshal([]byte(b[1]), &job))
		case strings.Contains(b[1], "matrix:"):
			require.NoError(t, yaml.Unmarshal([]byte(b[1]), &workflow))
		}
	}
	assert.Equal(t, []string{"1/4", "2/4", "3/4", "4/4"}, workflow.Jobs["shard"].Strategy.Matrix["shard"])
	assert.Equal(t, "Indexed", job.Spec.CompletionMode)
	require.Positive(t, job.Spec.Completions)
	require.Len(t, job.Spec.Template.Spec.Containers, 1)
	command := job.Spec.Template.Spec.Containers[0].Command
	require.Equal(t, []string{"sh", "-c"}, command[:2])
	script := strings.NewReplacer("/blobs/", "blobs/", "--host ./my-driver", "--host exact shutdown crash reload stdout cron").Replace(command[2])
	require.NotEqual(t, command[2], script)

	program, dir := built(t), t.TempDir()
	defer takeTurn(t, besideAll, long)()
	run := func(want int, script string, env ...string) string {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
		cmd.Env = append(cmd.Env, env...)
		out, _ := cmd.CombinedOutput()
		require.Equal(t, want, cmd.ProcessState.ExitCode(), "%s\n%s", script, out)
		return string(out)
	}
	run(2, script, "JOB_COMPLETION_INDEX="+strconv.Itoa(job.Spec.Completions)) // one more than there are
	for i := range job.Spec.Completions {
		if i == job.Spec.Completions-1 {
			assert.Contains(t, run(3, "leakbench merge blobs"), "is not there")
		}
		run(0, script, "JOB_COMPLETION_INDEX="+strconv.Itoa(i))
	}
	assert.Contains(t, run(0, "leakbench merge blobs"), "gate: pass: nothing new. 5 scenarios, 5 runs")
}

// The other blocks are at least what they say they are.
func TestTheYAMLOfTheGateIsYAML(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("docs", "use", "gate.md"))
	require.NoError(t, err)
	blocks := yamlBlocks.FindAllStringSubmatch(string(text), -1)
	require.Len(t, blocks, 4)
	action, err := os.ReadFile("action.yml")
	require.NoError(t, err)
	for _, b := range blocks {
		var v any
		require.NoError(t, yaml.Unmarshal([]byte(b[1]), &v), b[1])
	}
	for _, input := range []string{"command", "args", "host", "shard"} {
		assert.Contains(t, string(action), "\n  "+input+":\n")
	}
}
