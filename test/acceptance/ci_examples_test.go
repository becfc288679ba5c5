package acceptance_test

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
)

// TestTheExamplesOfOtherSystems runs what a runner of GitLab or an agent of Jenkins would run, in a shell of the kind that
// it has, beside a host that leaks; and looks for the files that they are told to keep. What installs the program is left out.
func TestTheExamplesOfOtherSystems(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Scripts)
	if testing.Short() {
		t.Skip("whole gates")
	}
	program := built(t)
	for name, c := range map[string]struct {
		read  func(t *testing.T) (script string, kept []string)
		shell []string
	}{
		"gitlab":  {ofGitLab, []string{"bash", "-eo", "pipefail", "-c"}},
		"jenkins": {ofJenkins, []string{"sh", "-xe", "-c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, kept := c.read(t)
			if _, err := exec.LookPath("python3"); err != nil {
				require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), err)
				t.Skip("python3 is missing")
			}
			defer takeTurn(t, besideAll, long)()
			dir := beside(t, "examples/gate/python")
			cmd := exec.CommandContext(t.Context(), c.shell[0], append(c.shell[1:], script)...)
			cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"), "CI=true")
			out, _ := cmd.CombinedOutput()
			require.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s\n%s", script, out)
			assert.Regexp(t, `gate: fail: [0-9]+ new findings?\.`, string(out))
			for _, file := range kept {
				assert.FileExists(t, filepath.Join(dir, file))
			}
			report, err := os.ReadFile(filepath.Join(dir, "leakbench.xml"))
			require.NoError(t, err)
			var suites struct {
				Failures int `xml:"failures,attr"`
			}
			require.NoError(t, xml.Unmarshal(report, &suites))
			assert.Positive(t, suites.Failures)
		})
	}
}

// ofGitLab is the script of the job, and the files that it keeps.
func ofGitLab(t *testing.T) (script string, kept []string) {
	t.Helper()
	text, err := os.ReadFile("examples/ci/gitlab-ci.yml")
	require.NoError(t, err)
	var file struct {
		Job struct {
			Before    []string `yaml:"before_script"`
			Script    []string `yaml:"script"`
			Artifacts struct {
				When    string            `yaml:"when"`
				Reports map[string]string `yaml:"reports"`
				Paths   []string          `yaml:"paths"`
			} `yaml:"artifacts"`
		} `yaml:"leakbench"`
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	job := file.Job
	assert.Contains(t, strings.Join(job.Before, "\n"), "go install")
	assert.Equal(t, "always", job.Artifacts.When, "of a red job, too")
	require.NotEmpty(t, job.Artifacts.Reports["junit"])
	return strings.Join(job.Script, "\n"), []string{job.Artifacts.Reports["junit"], job.Artifacts.Paths[0], job.Artifacts.Paths[1] + "/latest/run.jsonl"}
}

var (
	jenkinsShell = regexp.MustCompile(`(?s)sh '''\n(.*?)'''`)
	jenkinsJUnit = regexp.MustCompile(`always \{\s*junit '([^']+)'\s*archiveArtifacts artifacts: '([^',]+), ([^'*]+)\*\*'`)
)

// ofJenkins reads the same of the pipeline. A text between ”' has its backslashes read by Groovy: \ at the end of a line joins it.
func ofJenkins(t *testing.T) (script string, kept []string) {
	t.Helper()
	text, err := os.ReadFile("examples/ci/Jenkinsfile")
	require.NoError(t, err)
	m, files := jenkinsShell.FindSubmatch(text), jenkinsJUnit.FindSubmatch(text)
	require.NotNil(t, m)
	require.NotNil(t, files)
	assert.Equal(t, strings.Count(string(text), "{"), strings.Count(string(text), "}"))
	joined := strings.ReplaceAll(string(m[1]), "\\\n", "")
	assert.NotContains(t, joined, `\`)
	return joined, []string{string(files[1]), string(files[2]), string(files[3]) + "latest/run.jsonl"}
}
