package acceptance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/test/trickhost"
)

// blackBox is a host that is not driven by a driver of its own, in a scenario: correct, and with a mistake planted.
type blackBox struct {
	host     string // of testdata/blackbox, where its file says in which way it is put on the bench
	scenario string
	leak     string // the mistake
	laws     string // that the mistake breaks
	may      string // that it may break besides
}

// hurry is how long the play of a mistake may take: less than the start of its host file, since nobody waits for what can't come.
var hurry = map[string]time.Duration{"dead": 25 * time.Second}

// oneTree are hosts whose servers are all below one process of theirs. The second judge counts trees below the host, and is not asked.
var oneTree = []string{"python-agent-driver"}

// goodbye is a scenario that each host with sessions can play.
const goodbye = "testdata/blackbox/scenarios/goodbye.yaml"

// blackBoxes is the matrix: each program in each way that a host file has.
var blackBoxes = []blackBox{
	{"go-shared", "storm", "superseded", "L1", ""},
	{"go-shared", "shutdown", "stop", "L2", ""},
	{"go-shared-lazy", "storm", "superseded", "L1", ""},
	{"go-shared-lazy", "storm", "dead", "L10", ""},
	{"go-shared-watched", "storm", "superseded", "L1", ""},
	{"go-shared-watched", "shutdown", "stop", "L2", ""},
	{"go-per-session", "vanish", "vanished", "L1", ""},
	{"go-per-session", "testdata/blackbox/scenarios/vanish-early.yaml", "abandoned", "L1", ""},
	{"go-per-session", "deaf", "closed", "L1 L2", ""},
	{"go-per-session", "shutdown", "stop", "L2", ""},
	{"go-per-session-sse", goodbye, "closed", "L1", ""},
	{"go-agent-stdin", "storm", "superseded", "L1", ""},
	{"go-command", "check-cut", "cut", "L1", ""},
	{"go-per-request", "per-request", "cancelled", "L1", "L2"},
	{"node-shared", "storm", "superseded", "L1", ""},
	{"node-shared", "shutdown", "stop", "L2", ""},
	{"node-shared-lazy", "storm", "superseded", "L1", ""},
	{"node-shared-openapi", "shutdown", "stop", "L2", ""},
	{"python-agent", "storm", "superseded", "L1", ""},
	{"python-agent", "shutdown", "stop", "L2", ""},
	{"python-agent-sessions", "storm", "superseded", "L1", "L4"},
	{"python-agent-jobs", "storm", "job", "L1", "L4"},
	{"python-agent-stdin", "shutdown", "stop", "L2", ""},
	{"python-agent-rest", "deaf", "closed", "L1 L2", ""},
	{"python-agent-rest", "shutdown", "stop", "L2", ""},
	{"python-agent-rpc", goodbye, "closed", "L1", ""},
	{"python-agent-driver", goodbye, "closed", "L1", ""},
	{"python-command", "checks", "abandon", "L1", ""},
	{"python-command", "checks", "wait", "L8", "L1"},
	{"node-command", "checks", "abandon", "L1", ""},
	{"node-command", "checks", "wait", "L8", "L1"},
	{"python-command", "check-faults", "abandon", "L1", ""},
	{"python-command", "check-cut", "cut", "L1", ""},
	{"node-command", "check-faults", "abandon", "L1", ""},
	{"node-daemon", "checks", "idle", "L1", "L2"},
}

// oneOfEachKind are the hosts of the first tier: gateways that share servers and that do not, an agent, a command and a client of single
// requests. They need nothing but Go.
var oneOfEachKind = []string{"go-shared", "go-per-session", "go-agent-stdin", "go-command", "go-per-request"}

// cells are the two plays of a row.
func (b blackBox) cells() map[string]trickhost.Want {
	return map[string]trickhost.Want{
		"none": {Outcome: trickhost.Clean},
		b.leak: {Outcome: trickhost.Leak, Laws: strings.Fields(b.laws), May: append(strings.Fields(b.may), "L9"), Within: hurry[b.leak]},
	}
}

// goGateway is the Go program of the matrix.
var goGateway = builtBeside{pkg: "./testdata/blackbox/gateway"}

// playBlackBox plays a cell once, after prefix.
func playBlackBox(t *testing.T, b blackBox, leak string, prefix ...string) trickAnswer {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("testdata", "blackbox", b.host+".yaml"))
	require.NoError(t, err)
	require.Regexp(t, "--leak(, |=)none", string(text))
	programs, err := filepath.Abs(filepath.Join("testdata", "blackbox"))
	require.NoError(t, err)
	file := strings.NewReplacer(
		"{{dir}}/bin/gateway", goGateway.path(t), "{{dir}}", programs, "--leak, none", "--leak, "+leak, "--leak=none", "--leak="+leak,
	).Replace(string(text))
	path := filepath.Join(dir, b.host+".yaml")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	return playBench(t, dir, prefix, "run", b.scenario, "--host", path)
}

// needsInterpreter skips a host whose language this machine does not have.
func needsInterpreter(t *testing.T, host string) {
	t.Helper()
	language, _, _ := strings.Cut(host, "-")
	program := map[string]string{"go": "go", "python": "python3", "node": "node"}[language]
	if _, err := exec.LookPath(program); err != nil {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), err)
		t.Skip(err)
	}
}

// eachCell runs f for each cell of the matrix, as host/scenario/mistake.
func eachCell(t *testing.T, f func(t *testing.T, b blackBox, leak string, want trickhost.Want)) {
	names := map[string]bool{}
	for _, b := range blackBoxes {
		for leak, want := range b.cells() {
			name := b.host + "/" + b.scenario + "/" + leak
			if names[name] { // of a row with another mistake
				continue
			}
			names[name] = true
			t.Run(name, func(t *testing.T) {
				f(t, b, leak, want)
			})
		}
	}
}

// TestBlackBoxes plays each cell until its verdict is final: how often a verdict is right at once is what the series counts. The first
// tier plays one of each kind, with a mistake.
func TestBlackBoxes(t *testing.T) {
	t.Parallel()
	whole, begun := tier.Plays(tier.BlackBox), map[string]bool{}
	if os.Getenv(seriesEnv) != "" {
		t.Skip("the series plays them")
	}
	eachCell(t, func(t *testing.T, b blackBox, leak string, want trickhost.Want) {
		if sample := slices.Contains(oneOfEachKind, b.host) && leak != "none" && !begun[b.host]; !whole && !sample {
			t.Skip("go run ./tools/check --only blackbox plays it")
		}
		begun[b.host] = true
		needsInterpreter(t, b.host)
		t.Parallel()
		goGateway.path(t) // before a turn, in which others would wait for it
		a := untilFinal(t, besideAll, medium, func(company) (trickAnswer, verdictIs) {
			a := playBlackBox(t, b, leak)
			is := a.is(want)
			is.right = a.wrong(want) == "" // the second judge is asked by the series
			return a, is
		})
		require.Empty(t, a.wrong(want), "%s\n%s\n%s", a.short(), a.Words, a.Raw)
		tier.Played(t, b.host+" with "+leak, b.scenario, wantText(want))
	})
}

// TestBlackBoxSeries plays each cell many times: calm, beside eight busy loops, and pinned to one processor beside them.
func TestBlackBoxSeries(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(seriesEnv))
	if err != nil || n < 1 {
		t.Skip(seriesEnv + " is not set")
	}
	eachCell(t, func(t *testing.T, b blackBox, leak string, want trickhost.Want) {
		needsInterpreter(t, b.host)
		for _, way := range seriesWays() {
			s := playSeries(t, func(prefix ...string) trickAnswer { return playBlackBox(t, b, leak, prefix...) }, want, false, way, n)
			t.Logf("%-7s %s", way, s)
			if way == "calm" {
				assert.Equal(t, n, s.right, "%s: %s", way, s)
				assert.True(t, s.naive == 0 || slices.Contains(oneTree, b.host), "%s: %s", way, s)
			} else {
				assert.GreaterOrEqual(t, 4*s.right, 3*n, "%s: %s", way, s)
				assert.Zero(t, s.wrong, "%s: %s", way, s)
				assert.Zero(t, s.unexplained, "%s: %s", way, s)
			}
		}
	})
}
