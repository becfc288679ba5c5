package structure_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// workflow is what the rules below ask of a workflow.
type workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Permissions map[string]string `yaml:"permissions"`
		Steps       []struct {
			Uses string `yaml:"uses"`
			Run  string `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// movable are the actions that no digest pins, each with the reason, which the workflow says too.
var movable = map[string]string{}

var (
	uses   = regexp.MustCompile(`(?m)^[^#\n]*\buses:\s*(\S+)(.*)$`)
	pinned = regexp.MustCompile(`^([\w./-]+)@([0-9a-f]{40})$`)
	tag    = regexp.MustCompile(`^ # (v\d+\.\d+\.\d+)$`)
	images = regexp.MustCompile(`(?m)^(?:FROM| +image:) (\S+)`)
)

func workflows(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(".github/workflows/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	texts := map[string]string{}
	for _, file := range append(files, "action.yml", "Dockerfile") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		texts[file] = string(text)
	}
	return texts
}

// TestActionsArePinned: whoever moves the tag of an action, or of an image, runs nothing here.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	digests := map[string]string{}
	for file, text := range workflows(t) {
		for _, use := range uses.FindAllStringSubmatch(text, -1) {
			action, comment := use[1], use[2]
			if strings.HasPrefix(action, "./") || movable[action] != "" {
				continue // ./ is of the same commit
			}
			parts, version := pinned.FindStringSubmatch(action), tag.FindStringSubmatch(comment)
			if !assert.NotNil(t, parts, "%s: %s: pin it by the digest of a commit", file, action) ||
				!assert.NotNil(t, version, "%s: %s: a comment names the version: # v1.2.3", file, action) {
				continue
			}
			name := parts[1] + " " + version[1]
			if digests[name] == "" {
				digests[name] = parts[2]
			}
			assert.Equal(t, digests[name], parts[2], "%s: another digest of %s", file, name)
		}
		for _, image := range images.FindAllStringSubmatch(text, -1) {
			assert.Regexp(t, `^scratch$|@sha256:[0-9a-f]{64}$`, image[1], "%s: pin the image", file)
		}
	}
	assert.NotEmpty(t, digests)
}

// TestJobsHaveTheRightsThatTheyNeed: a workflow reads, and a job says what else it may. The one that signs runs nothing of this repository.
func TestJobsHaveTheRightsThatTheyNeed(t *testing.T) {
	t.Parallel()
	may := map[string]string{
		"gate.yml green":      "contents: read, pull-requests: write", // it comments
		"release.yml attest":  "attestations: write, id-token: write",
		"release.yml image":   "packages: write",
		"release.yml publish": "contents: write",
		"release.yml pypi":    "id-token: write",
		"release.yml npm":     "id-token: write",
	}
	for file, text := range workflows(t) {
		if filepath.Base(filepath.Dir(file)) != "workflows" {
			continue
		}
		var w workflow
		require.NoError(t, yaml.Unmarshal([]byte(text), &w))
		assert.Equal(t, map[string]string{"contents": "read"}, w.Permissions, file)
		for name, job := range w.Jobs {
			rights := make([]string, 0, len(job.Permissions))
			for right, how := range job.Permissions {
				rights = append(rights, right+": "+how)
			}
			slices.Sort(rights)
			key := filepath.Base(file) + " " + name
			assert.Equal(t, may[key], strings.Join(rights, ", "), key)
			delete(may, key)
			writes := strings.Contains(strings.Join(rights, " "), "write") && strings.HasPrefix(key, "release.yml")
			for _, step := range job.Steps {
				if writes {
					assert.NotRegexp(t, `^actions/checkout|^\./`, step.Uses, key)
					assert.NotRegexp(t, `\b(go|pip|npm (install|ci)|npx|curl)\b`, step.Run, key)
				}
			}
		}
	}
	assert.Empty(t, may, "no such job")
}
