// Package action_test plays the steps of action.yml without GitHub: its shell
// steps run as they are, against a stub of the API on loopback, on small
// repositories that the test makes.
package action_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/tier"
)

// action is what action.yml says.
type action struct {
	Inputs map[string]struct {
		Default string `yaml:"default"`
	} `yaml:"inputs"`
	Runs struct {
		Steps []struct {
			Name  string            `yaml:"name"`
			ID    string            `yaml:"id"`
			If    string            `yaml:"if"`
			Shell string            `yaml:"shell"`
			Uses  string            `yaml:"uses"`
			Run   string            `yaml:"run"`
			Env   map[string]string `yaml:"env"`
			With  map[string]string `yaml:"with"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

func read(t *testing.T) action {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "action.yml"))
	require.NoError(t, err)
	var a action
	require.NoError(t, yaml.Unmarshal(text, &a))
	return a
}

// job is a run of the action on one runner.
type job struct {
	t        *testing.T
	repo     string            // the workspace
	temp     string            // RUNNER_TEMP, which jobs share through the cache here
	inputs   map[string]string // with:
	contexts map[string]string // github.ref_name, ...
	env      []string

	log     bytes.Buffer
	outputs map[string]string // steps.gate.outputs.outcome
	used    []string          // actions of others that would have run, with what they get
	failed  bool
}

var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// value looks an expression of a plain name up.
func (j *job) value(name string) string {
	if input, ok := strings.CutPrefix(name, "inputs."); ok {
		return j.inputs[input]
	}
	if output, ok := strings.CutPrefix(name, "steps."); ok {
		return j.outputs[output]
	}
	v, ok := j.contexts[name]
	require.True(j.t, ok, "no value for ${{ %s }}", name)
	return v
}

func (j *job) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string { return j.value(expression.FindStringSubmatch(e)[1]) })
}

var operand = regexp.MustCompile(`^(\S+) (==|!=) (\S+)$`)

// holds evaluates a condition: terms joined by &&.
func (j *job) holds(condition string) bool {
	if condition == "" {
		return !j.failed
	}
	inner := expression.FindStringSubmatch(condition)
	require.NotNil(j.t, inner, "condition %q", condition)
	ok, always := true, false
	for _, term := range strings.Split(inner[1], " && ") {
		if term == "!cancelled()" {
			always = true
			continue
		}
		m := operand.FindStringSubmatch(term)
		require.NotNil(j.t, m, "term %q", term)
		side := func(s string) string {
			if strings.HasPrefix(s, "'") {
				return strings.Trim(s, "'")
			}
			return j.value(s)
		}
		ok = ok && (side(m[1]) == side(m[3])) == (m[2] == "==")
	}
	return ok && (always || !j.failed)
}

// run plays all steps and returns the exit code of the last one that failed.
func (j *job) run() (code int) {
	a := read(j.t)
	for name, input := range a.Inputs {
		if _, given := j.inputs[name]; !given {
			j.inputs[name] = j.expand(input.Default)
		}
	}
	j.outputs = map[string]string{}
	for _, step := range a.Runs.Steps {
		if !j.holds(step.If) {
			continue
		}
		if step.Uses != "" {
			with := map[string]string{}
			for k, v := range step.With {
				with[k] = j.expand(v)
			}
			j.used = append(j.used, fmt.Sprintf("%s %s", step.Uses, with["path"]))
			continue
		}
		if step.ID == "install" && j.installed(step.Shell, step.Run, step.Env) {
			continue
		}
		if c := j.shell(step.ID, step.Shell, step.Run, step.Env); c != 0 {
			j.failed, code = true, c
		}
	}
	return code
}

var install struct {
	sync.Mutex
	program string
}

// installed has the program built once for all tests, by the step itself.
func (j *job) installed(shell, script string, env map[string]string) bool {
	install.Lock()
	defer install.Unlock()
	const output = "install.outputs.leakbench"
	if install.program == "" {
		temp := j.temp
		j.temp = shared
		defer func() { j.temp = temp }()
		if j.shell("install", shell, script, env) != 0 {
			return false
		}
		install.program = j.outputs[output]
	}
	j.outputs[output] = install.program
	return true
}

// shared is the folder of what all tests use.
var shared string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "leakbench-action")
	if err != nil {
		panic(err)
	}
	shared = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func (j *job) shell(id, shell, script string, env map[string]string) int {
	require.Equal(j.t, "bash", shell)
	assert.NotContains(j.t, script, "${{", "an expression in a script is an injection")
	output := filepath.Join(j.t.TempDir(), "output")
	require.NoError(j.t, os.WriteFile(output, nil, 0o644))
	ctx, cancel := context.WithTimeout(j.t.Context(), 5*time.Minute)
	defer cancel()
	// As the runner of GitHub calls it.
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.WaitDelay = j.repo, 10*time.Second
	cmd.Env = append(os.Environ(), j.env...)
	root, err := filepath.Abs("..")
	require.NoError(j.t, err)
	cmd.Env = append(cmd.Env, "CI=true", "GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+output, "RUNNER_TEMP="+j.temp, "GITHUB_ACTION_PATH="+root, "GITHUB_WORKSPACE="+j.repo,
		"GITHUB_STEP_SUMMARY="+filepath.Join(j.temp, "step-summary.md"))
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+j.expand(v))
	}
	cmd.Stdout, cmd.Stderr = &j.log, &j.log
	err = cmd.Run()
	lines := bufio.NewScanner(strings.NewReader(slurp(j.t, output)))
	for lines.Scan() {
		k, v, _ := strings.Cut(lines.Text(), "=")
		j.outputs[id+".outputs."+k] = v
	}
	if err != nil {
		require.NotNil(j.t, cmd.ProcessState, "%v", err)
		return cmd.ProcessState.ExitCode()
	}
	return 0
}

func slurp(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// forge is a stub of the comments of one pull request.
type forge struct {
	mu       sync.Mutex
	comments []comment
	refuse   int // a status for whoever writes
	losing   int // a status for what was written all the same
	seen     []string
	token    string
}

type comment struct {
	ID     int    `json:"id"`
	Body   string `json:"body"`
	User   user   `json:"user"`
	Author string `json:"author_association"`
}

type user struct {
	Type string `json:"type"`
}

func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen, f.token = append(f.seen, r.Method+" "+r.URL.Path), r.Header.Get("Authorization")
	var sent comment
	if r.Method != http.MethodGet {
		if f.refuse != 0 {
			w.WriteHeader(f.refuse)
			return
		}
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || sent.Body == "" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
	}
	const list, one = "/repos/o/r/issues/7/comments", "/repos/o/r/issues/comments/"
	switch {
	case r.Method == http.MethodGet && r.URL.Path == list:
		from := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &from)
		from = min((from-1)*100, len(f.comments))
		_ = json.NewEncoder(w).Encode(f.comments[from:min(from+100, len(f.comments))])
	case r.Method == http.MethodPost && r.URL.Path == list:
		f.comments = append(f.comments, comment{ID: 1000 + len(f.comments), Body: sent.Body, User: user{"Bot"}, Author: "NONE"})
		w.WriteHeader(cmp.Or(f.losing, http.StatusCreated))
	case r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, one):
		for i := range f.comments {
			if fmt.Sprint(f.comments[i].ID) == strings.TrimPrefix(r.URL.Path, one) {
				f.comments[i].Body = sent.Body
			}
		}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// The host of the small repositories: it reconnects, and forgets or closes what
// it had.
const gateway = `import json, signal, subprocess, sys, time
LEAKS = %s
def connect():
    s = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ask(s, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "g", "version": "1"}})
    return s
def ask(s, method, params):
    s.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
    s.stdin.flush()
    if "result" not in json.loads(s.stdout.readline()): raise ValueError(method)
def close(s):
    s.stdin.close()
    s.wait()
stop, kept = [], []
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
s = connect()
while not stop:
    time.sleep(0.02)
    try:
        ask(s, "tools/list", {})
    except Exception:
        kept.append(s) if LEAKS else close(s)
        s = connect()
close(s)
`

const scenario = `name: tiny
title: One reconnect
about: A server whose stdout has closed lives on, and a host that connects anew has to end it.
servers:
  one:
    faults: []
limits: {settle: 500ms, confirm: 100ms, quiet: 50ms}
steps:
  - open: s
    server: one
  - repeat: 5
    steps:
      - break: s
        with: close-stdout
      - open: s
      - call: s
  - checkpoint: after
`

func repository(t *testing.T, leaks bool) string {
	t.Helper()
	dir := t.TempDir()
	python := map[bool]string{true: "True", false: "False"}[leaks]
	for name, text := range map[string]string{"gateway.py": fmt.Sprintf(gateway, python), "tiny.yaml": strings.Replace(scenario, "    faults: []\n", "", 1)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("LEAKBENCH_REQUIRE") == "all" {
				t.Fatalf("%s is missing", p)
			}
			t.Skipf("%s is missing", p)
		}
	}
}

// newJob is the action as a pull request's workflow uses it.
func newJob(t *testing.T, repo, temp, api string, with map[string]string) *job {
	t.Helper()
	inputs := map[string]string{
		"command": "python3 gateway.py '{{server}}'", "scenarios": "./tiny.yaml", "args": "--settle 500ms --confirm 100ms",
	}
	maps.Copy(inputs, with)
	return &job{
		t: t, repo: repo, temp: temp, inputs: inputs,
		contexts: map[string]string{
			"github.token": "secret-token", "github.action_ref": "main", "github.action_repository": "leakbench/leakbench",
			"github.ref_name": "7/merge", "github.event.repository.default_branch": "main", "github.event_name": "pull_request",
			"github.event.pull_request.number": "7", "github.sha": "abc", "runner.temp": temp, "runner.os": "Linux",
		},
		env: []string{"GITHUB_API_URL=" + api, "GITHUB_REPOSITORY=o/r", "GITHUB_SERVER_URL=https://forge.example", "GITHUB_RUN_ID=42"},
	}
}

// TestThePullRequestsOfThreeRepositories goes the way of a pull request on a
// repository that is clean, one that has begun to leak, and one that has fixed
// what it had listed.
func TestThePullRequestsOfThreeRepositories(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Scripts)
	need(t, "bash", "curl", "jq", "python3", "go")
	f := &forge{comments: []comment{{ID: 1, Body: "<!-- leakbench gate: leakbench -->\nlooks good", User: user{"User"}, Author: "CONTRIBUTOR"}}}
	for i := range 130 { // a second page
		f.comments = append(f.comments, comment{ID: 2 + i, Body: "so do I"})
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)

	clean := newJob(t, repository(t, false), t.TempDir(), server.URL, nil)
	require.Zero(t, clean.run(), "%s", &clean.log)
	assert.Equal(t, "pass", clean.outputs["gate.outputs.outcome"])
	assert.Len(t, f.comments, 131, "who has nothing to say says nothing")
	assert.Contains(t, slurp(t, filepath.Join(clean.temp, "step-summary.md")), "## ✅ leakbench gate: pass")
	assert.NotContains(t, clean.log.String(), "::error")

	leaky := newJob(t, repository(t, true), t.TempDir(), server.URL, nil)
	assert.Equal(t, 1, leaky.run(), "%s", &leaky.log)
	assert.Equal(t, "fail", leaky.outputs["gate.outputs.outcome"])
	assert.Regexp(t, `(?m)^::error file=tiny\.yaml,line=1,title=tiny on python3%3A new L1 superseded::`, leaky.log.String())
	assert.Contains(t, slurp(t, filepath.Join(leaky.temp, "step-summary.md")), "### New: tiny on python3")
	report := leaky.outputs["gate.outputs.report"]
	assert.Contains(t, slurp(t, report), "<!DOCTYPE html>")
	assert.Regexp(t, "actions/upload-artifact@[0-9a-f]{40} "+regexp.QuoteMeta(report), strings.Join(leaky.used, "\n"), "uploaded although red")
	require.Len(t, f.comments, 132)
	assert.Regexp(t, `^<!-- leakbench gate: leakbench -->\n## ❌ leakbench gate: fail`, f.comments[131].Body)
	assert.Contains(t, f.comments[131].Body, "https://forge.example/o/r/actions/runs/42")
	assert.Equal(t, "Bearer secret-token", f.token)
	assert.NotContains(t, leaky.log.String(), "secret-token")

	// Pushed again, and listed: green, and the same comment says so.
	program := leaky.outputs["install.outputs.leakbench"]
	update := exec.CommandContext(t.Context(), program, "known", "update", "--reason", "upstream", "--expires", "2999-12-31", leaky.outputs["gate.outputs.blob"])
	update.Dir, update.WaitDelay = leaky.repo, 10*time.Second
	out, err := update.CombinedOutput()
	require.NoError(t, err, "%s", out)
	again := newJob(t, leaky.repo, leaky.temp, server.URL, nil)
	require.NoFileExists(t, filepath.Join(leaky.temp, "leakbench-leakbench", "baseline.zip"), "only the default branch makes one")
	assert.Zero(t, again.run(), "%s", &again.log)
	require.Len(t, f.comments, 132, "one comment, edited")
	assert.Contains(t, f.comments[131].Body, "## ✅ leakbench gate: pass")
	assert.Contains(t, f.comments[131].Body, "listed")
	assert.Contains(t, f.comments[0].Body, "looks good", "that of somebody else is left alone")

	// Pushed with a list that can't be read: what the comment said is not so any more.
	known := filepath.Join(leaky.repo, ".leakbench", "known.yaml")
	text := slurp(t, known)
	require.NoError(t, os.WriteFile(known, []byte("known: 7\n"), 0o644))
	broken := newJob(t, leaky.repo, leaky.temp, server.URL, nil)
	assert.Equal(t, 2, broken.run(), "%s", &broken.log)
	require.Len(t, f.comments, 132)
	assert.Contains(t, f.comments[131].Body, "exit 2 before anything could be reported")
	require.NoError(t, os.WriteFile(known, []byte(text), 0o644))

	// Fixed, and the entry left behind: red at the entry's line, in the folder of the host.
	fixed := newJob(t, t.TempDir(), t.TempDir(), server.URL, map[string]string{"working-directory": "gate,way"})
	folder := filepath.Join(fixed.repo, "gate,way")
	require.NoError(t, os.CopyFS(folder, os.DirFS(repository(t, false))))
	require.NoError(t, os.Mkdir(filepath.Join(folder, ".leakbench"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, ".leakbench", "known.yaml"), []byte(text), 0o644))
	assert.Equal(t, 1, fixed.run(), "%s", &fixed.log)
	assert.Regexp(t, `(?m)^::error file=gate%2Cway/\.leakbench/known\.yaml,line=6,col=5,title=stale known finding tiny%3AL1`, fixed.log.String())
	assert.Contains(t, fixed.log.String(), "fail: 1 stale entry")
}

// A baseline of the default branch lets pass what that has, too; one is kept
// there and nowhere else.
func TestTheBaselineOfTheDefaultBranch(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Scripts)
	need(t, "bash", "curl", "jq", "python3", "go")
	repo, temp := repository(t, true), t.TempDir()
	main := newJob(t, repo, temp, "http://127.0.0.1:9", nil)
	main.contexts["github.ref_name"], main.contexts["github.event_name"] = "main", "push"
	assert.Equal(t, 1, main.run(), "the branch itself is red until it is listed or fixed: %s", &main.log)
	kept := filepath.Join(temp, "leakbench-leakbench", "baseline.zip")
	assert.NotContains(t, strings.Join(main.used, "\n"), "actions/cache/restore")

	// A job that failed keeps no baseline by GitHub's default; here it stays.
	pull := newJob(t, repo, temp, "http://127.0.0.1:9", nil)
	require.FileExists(t, kept)
	assert.Zero(t, pull.run(), "%s", &pull.log)
	assert.Contains(t, pull.log.String(), "pass: 1 finding of the baseline")
	assert.Regexp(t, "actions/cache/restore@[0-9a-f]{40} "+regexp.QuoteMeta(kept), strings.Join(pull.used, "\n"))
	assert.NotContains(t, strings.Join(pull.used, "\n"), "actions/cache/save")
	strict := newJob(t, repo, temp, "http://127.0.0.1:9", map[string]string{"strict": "true"})
	require.FileExists(t, kept)
	assert.Equal(t, 1, strict.run(), "%s", &strict.log)
	assert.Contains(t, strict.log.String(), "fail: 1 unlisted finding")
	assert.Regexp(t, "actions/cache/save@[0-9a-f]{40} "+regexp.QuoteMeta(kept), strings.Join(main.used, "\n"))

	without := newJob(t, repo, temp, "http://127.0.0.1:9", map[string]string{"baseline": "false"})
	assert.Equal(t, 1, without.run(), "a baseline that nobody wants: %s", &without.log)

	// A comment or a pull request's target branch names the default branch, and may have checked out other code.
	for _, event := range []string{"pull_request_target", "workflow_run", "issue_comment"} {
		other := newJob(t, repo, t.TempDir(), "http://127.0.0.1:9", map[string]string{"scenarios": "strom"})
		other.contexts["github.ref_name"], other.contexts["github.event_name"] = "main", event
		other.outputs = map[string]string{"gate.outputs.blob": "runs.zip"}
		for _, step := range read(t).Runs.Steps {
			if strings.HasPrefix(step.Uses, "actions/cache/save@") {
				other.inputs["baseline"] = "true"
				assert.False(t, other.holds(step.If), event)
			}
		}
	}
}

// Two gates of one job, with one name: the second is not held against the first.
func TestWhatAJobHasFoundIsNoBaseline(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Scripts)
	need(t, "bash", "curl", "jq", "python3", "go")
	repo, temp := repository(t, true), t.TempDir()
	for range 2 {
		j := newJob(t, repo, temp, "http://127.0.0.1:9", nil)
		assert.Equal(t, 1, j.run(), "%s", &j.log)
		assert.Contains(t, j.log.String(), "fail: 1 new finding")
	}
}

// A token that may not comment, an API that is not there, a host that can't be
// started, a workflow that is wrong: each is told of, and the answer stands.
func TestWhatGoesWrong(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Scripts)
	need(t, "bash", "curl", "jq", "python3", "go")
	f := &forge{refuse: http.StatusForbidden}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	leaky := newJob(t, repository(t, true), t.TempDir(), server.URL, nil)
	assert.Equal(t, 1, leaky.run())
	assert.Contains(t, leaky.log.String(), "::notice title=leakbench::no comment on the pull request: the API says 403")

	gone := newJob(t, repository(t, false), t.TempDir(), server.URL, map[string]string{"command": "no-such-program '{{server}}'"})
	assert.Equal(t, 4, gone.run(), "%s", &gone.log)
	assert.Equal(t, "host-failed", gone.outputs["gate.outputs.outcome"])

	// Written, and answered with an error: asking again would make it two comments.
	lossy := &forge{losing: http.StatusBadGateway}
	bad := httptest.NewServer(lossy)
	t.Cleanup(bad.Close)
	inputs := []struct{ name, value, want string }{
		{"strict", "yes", `strict is "yes": it is true or false`},
		{"command", "cd . && python3 gateway.py '{{server}}'", "command can't be read as the words of one command"},
		{"args", "--settle '5s", "scenarios or args can't be read"},
	}
	for i, in := range inputs {
		j := newJob(t, repository(t, false), t.TempDir(), bad.URL, map[string]string{in.name: in.value})
		assert.Equal(t, 2, j.run(), "%s", &j.log)
		assert.Contains(t, j.log.String(), "::error title=leakbench::"+in.want)
		assert.Equal(t, "error", j.outputs["gate.outputs.outcome"])
		assert.Contains(t, slurp(t, filepath.Join(j.temp, "step-summary.md")), "exit 2 before anything could be reported")
		assert.Len(t, lossy.comments, 1, "input %d", i)
	}

	wrong := newJob(t, repository(t, false), t.TempDir(), server.URL, map[string]string{"scenarios": "strom"})
	assert.Equal(t, 2, wrong.run(), "%s", &wrong.log)
	assert.Contains(t, wrong.log.String(), "did you mean storm?")
	assert.Contains(t, slurp(t, filepath.Join(wrong.temp, "step-summary.md")), "exit 2 before anything could be reported")
}

// TestStepsTakeWordsThroughTheEnvironment: what GitHub fills in before a shell reads it, anybody who names a branch
// could write commands into.
func TestStepsTakeWordsThroughTheEnvironment(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Scripts)
	for _, step := range read(t).Runs.Steps {
		assert.NotContains(t, step.Run, "${{", step.Name)
	}
	need(t, "bash", "curl", "jq", "python3", "go")
	f := &forge{}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	temp := t.TempDir()
	evil := "x\"; touch " + temp + "/pwned; $(touch " + temp + "/pwned) `touch " + temp + "/pwned`\nreport=/etc/passwd"
	clean := newJob(t, repository(t, false), temp, server.URL, nil)
	for _, name := range []string{"github.ref_name", "github.head_ref", "github.event.pull_request.title", "github.sha"} {
		clean.contexts[name] = evil
	}
	assert.Equal(t, 0, clean.run(), "%s", &clean.log)
	named := newJob(t, repository(t, false), temp, server.URL, map[string]string{"name": evil})
	assert.Equal(t, 2, named.run(), "%s", &named.log)
	assert.Contains(t, named.log.String(), "::error title=leakbench::name holds other characters")
	for _, j := range []*job{clean, named} {
		assert.NotEqual(t, "/etc/passwd", j.outputs["gate.outputs.report"])
	}
	assert.NoFileExists(t, filepath.Join(temp, "pwned"))
}

// A release is downloaded, and run only when its checksum is right.
func TestInstallOfARelease(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Scripts)
	need(t, "bash", "curl", "tar")
	dir := t.TempDir()
	require.NoError(t, files.Program(filepath.Join(dir, "leakbench"), []byte("#!/bin/sh\necho leakbench fake\n")))
	files := t.TempDir()
	script := `cd "$1" && os=$(uname -s | tr A-Z a-z); arch=$(uname -m); case $arch in x86_64) arch=amd64;; aarch64) arch=arm64;; esac
name=leakbench_1.2.3_${os}_$arch.tar.gz; tar -czf "$2/$name" leakbench; cd "$2"; (sha256sum "$name" 2>/dev/null || shasum -a 256 "$name") > checksums.txt`
	out, err := exec.CommandContext(t.Context(), "bash", "-c", script, "make", dir, files).CombinedOutput()
	require.NoError(t, err, "%s", out)
	mux := http.NewServeMux()
	mux.Handle("/leakbench/leakbench/releases/download/v1.2.3/", http.StripPrefix("/leakbench/leakbench/releases/download/v1.2.3/", http.FileServer(http.Dir(files))))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	install := func(version string) (*job, int) {
		j := newJob(t, t.TempDir(), t.TempDir(), "", nil)
		j.env = append(j.env, "GITHUB_SERVER_URL="+server.URL)
		j.outputs = map[string]string{}
		env := map[string]string{"INPUT_VERSION": version, "INPUT_PROVENANCE": "skip", "ACTION_REPOSITORY": "leakbench/leakbench", "ACTION_REF": "v1.2.3"}
		return j, j.shell("install", "bash", `bash "$GITHUB_ACTION_PATH/action/install.sh"`, env)
	}
	for _, version := range []string{"v1.2.3", ""} { // "" is that of the action's own tag
		j, code := install(version)
		require.Zero(t, code, "%s", &j.log)
		assert.Contains(t, j.log.String(), "leakbench fake")
		assert.FileExists(t, j.outputs["install.outputs.leakbench"])
	}
	j, code := install("v9.9.9")
	assert.Equal(t, 70, code)
	assert.Contains(t, j.log.String(), "is v9.9.9 a release?")

	sums := filepath.Join(files, "checksums.txt")
	text := slurp(t, sums)
	require.NoError(t, os.WriteFile(sums, []byte("0"+text[1:64]+text[64:]), 0o644))
	if strings.HasPrefix(text, "0") {
		require.NoError(t, os.WriteFile(sums, []byte("1"+text[1:]), 0o644))
	}
	j, code = install("v1.2.3")
	assert.Equal(t, 70, code)
	assert.Contains(t, j.log.String(), "is not what checksums.txt of v1.2.3 says")
	assert.NotContains(t, j.log.String(), "leakbench fake", "never run")
}
