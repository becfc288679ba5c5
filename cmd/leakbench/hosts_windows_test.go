package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gatewayEnv names the program of testdata/blackbox/gateway where there is no Go to build it. `.ci/wine test` does.
const gatewayEnv = "LEAKBENCH_GATEWAY_EXE"

// theGateway is the program that is put on the bench, built once.
var theGateway = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(gatewayEnv); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "leakbench-gateway")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "gateway.exe")
	if out, err := exec.Command("go", "build", "-o", path, "../../testdata/blackbox/gateway").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// commandHost is a host that does not speak the driver protocol, in a scenario: correct, and with a mistake planted.
type commandHost struct {
	host     string // of testdata/blackbox
	scenario string
	leak     string   // the mistake
	laws     []string // that it breaks, "" for no run that is clean
	asked    string   // how the host was asked to end
	doubt    string   // why nothing can be said instead
}

// commandHosts are a gateway that is reached by its URL, one that nobody asks for anything, an agent that ends with its stdin, and a
// command for each job.
var commandHosts = []commandHost{
	{"go-per-session", "deaf", "none", nil, "CTRL_C", ""},
	{"go-per-session", "deaf", "closed", []string{"L1", "L2"}, "CTRL_C", ""},
	{"go-shared-watched", "shutdown", "none", nil, "CTRL_C", ""},
	{"go-shared-watched", "shutdown", "stop", []string{"L2"}, "CTRL_C", ""},
	{"go-shared-watched", "restart", "none", nil, "CTRL_C", ""},
	{"go-shared-watched", "storm", "console", nil, "CTRL_C", "not-askable"},
	{"go-agent-stdin", "storm", "none", nil, "stdin EOF", ""},
	{"go-agent-stdin", "storm", "superseded", []string{"L1"}, "stdin EOF", ""},
	{"go-agent-stdin", "shutdown", "none", nil, "stdin EOF and CTRL_C", ""},
	{"go-command", "checks", "none", nil, "", ""},
	{"go-command", "checks", "abandon", []string{"L1"}, "", ""},
	{"go-command", "check-cut", "none", nil, "", ""},
	{"go-command", "check-cut", "cut", []string{"L1"}, "", ""},
	{"go-command", "check-cut", "console", nil, "", "not-askable"},
}

// TestCommandHosts plays hosts that do not speak the driver protocol. Windows has no SIGTERM: they are asked to end by CTRL_C, or by the
// end of their stdin, and a step that can't be played is a doubt.
func TestCommandHosts(t *testing.T) {
	slots := make(chan struct{}, 3)
	for _, h := range commandHosts {
		t.Run(h.host+"/"+h.scenario+"/"+h.leak, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			h.play(t)
		})
	}
}

func (h commandHost) play(t *testing.T) {
	t.Helper()
	gateway, err := theGateway()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), h.host+".yaml")
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "blackbox", h.host+".yaml"))
	require.NoError(t, err)
	require.Contains(t, string(text), "--leak, none")
	quick := strings.NewReplacer("{{dir}}/bin/gateway", filepath.ToSlash(gateway), "--leak, none", "--leak, "+h.leak, "settle: 6s", "settle: 3s", "confirm: 2s", "confirm: 500ms")
	require.NoError(t, os.WriteFile(file, []byte(quick.Replace(string(text))), 0o600))

	all := runJSON(t, nil, h.scenario, file)
	laws, doubts := []string{}, []string{}
	for _, run := range all.Runs {
		for _, f := range run.Findings {
			if f.Severity == "error" {
				laws = append(laws, f.Law)
			}
		}
		for _, d := range run.Doubts {
			doubts = append(doubts, d.Code)
		}
		assert.Equal(t, h.asked, lastAsked(t, run.Dir), "%+v", all)
	}
	slices.Sort(laws)
	assert.Equal(t, append([]string{}, h.laws...), slices.Compact(laws), "%+v", all)
	want := []string{}
	if h.doubt != "" {
		want = append(want, h.doubt)
	}
	assert.Equal(t, want, doubts, "%+v", all)
	require.NotEmpty(t, all.Runs, "%+v", all)
}

// played is what leakbench run says as JSON.
type played struct {
	Runs []struct {
		Dir      string
		Findings []struct{ Law, Kind, Severity, Title string }
		Doubts   []struct{ Code, Text string }
	}
}

func runJSON(t *testing.T, env []string, scenario, host string) (all played) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "run", scenario, "--host", host, "--out", filepath.Join(t.TempDir(), "runs"), "--format", "json")
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Kill() }, time.Second
	cmd.Env = append(os.Environ(), env...)
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	_ = cmd.Run() // what it says says more than its status
	require.NoError(t, json.Unmarshal(said.Bytes(), &all), "%s%s", &said, &complained)
	return all
}

// lastAsked is by what the host was asked to end, at last, as the run's file has it; "" over its driver, or not at all.
func lastAsked(t *testing.T, dir string) (how string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "run.jsonl"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var e struct {
			Kind string
			Step struct{ Op, Detail string }
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Kind == "step-begun" && slices.Contains([]string{"term", "stop"}, e.Step.Op) {
			how = e.Step.Detail
		}
	}
	return how
}

// presetsEnv names a folder with the preset supergateway, installed. `.ci/wine test` makes it.
const presetsEnv = "LEAKBENCH_PRESETS"

// TestPublishedGateway: supergateway hands its servers to cmd.exe. At CTRL_C it ends that, and servers that ignore the end of their stdin stay.
func TestPublishedGateway(t *testing.T) {
	t.Parallel()
	presets := os.Getenv(presetsEnv)
	if presets == "" {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), "%s names no folder", presetsEnv)
		t.Skipf("%s names no folder", presetsEnv)
	}
	all := runJSON(t, []string{"LEAKBENCH_HOSTS_DIR=" + presets}, "shutdown", "supergateway")
	var found []string
	for _, run := range all.Runs {
		assert.Equal(t, "CTRL_C", lastAsked(t, run.Dir), "%+v", all)
		assert.Empty(t, run.Doubts, "%+v", all)
		for _, f := range run.Findings {
			if f.Severity == "error" {
				found = append(found, f.Law+" "+f.Kind)
			}
		}
	}
	assert.Equal(t, []string{"L2 shielded", "L2 shielded"}, found, "%+v", all)
}

// TestHostsThatCannotBeAsked are refused before anything starts: what Windows does not have, and programs without a console.
func TestHostsThatCannotBeAsked(t *testing.T) {
	gateway, err := theGateway()
	require.NoError(t, err)
	program, err := os.ReadFile(gateway)
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	withWindows(program)
	require.NoError(t, os.WriteFile("windowed.exe", program, 0o700))
	const file = "name: x\nabout: x\ncommand: [%s, '{{server}}']\ndrive: nothing\nstart: 1s\nstop: {%s}\n"
	for _, c := range []struct {
		program, stop, says string
		code                int
	}{
		{"cmd.exe", "signal: SIGHUP", "x is stopped by SIGHUP, which Windows does not have\nhint: stop: ", 2},
		{"./windowed.exe", "within: 3s", "is a program without a console: CTRL_C can't ask it to stop\nhint: stop: {eof: true} ", 2},
		{"./windowed.exe", "eof: true", "host-failed", 4},
	} {
		require.NoError(t, os.WriteFile("x.yaml", fmt.Appendf(nil, file, c.program, c.stop), 0o600))
		var out, complained bytes.Buffer
		assert.Equal(t, c.code, execute([]string{"run", "storm", "--host", "x.yaml"}, &out, &complained), "%s%s", &out, &complained)
		assert.Contains(t, out.String()+complained.String(), c.says)
		_, err := os.Stat(".leakbench")
		assert.Equal(t, c.code == 2, os.IsNotExist(err), "what is refused starts nothing")
	}
}

// withWindows makes a program one that gets no console (IMAGE_SUBSYSTEM_WINDOWS_GUI).
func withWindows(program []byte) {
	const signature, optional, subsystem, gui = 0x3c, 24, 68, 2
	header := binary.LittleEndian.Uint32(program[signature:])
	binary.LittleEndian.PutUint16(program[header+optional+subsystem:], gui)
}
