package acceptance_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
)

// newcomer is a small host as somebody wrote it who did not know of the bench, with what he answers to leakbench init.
type newcomer struct {
	dir, program string
	sum          string // of the program: it stays as it was written
	build        []string
	answers      []string
	laws         []string // that it breaks in the scenarios that init proposes
}

var newcomers = []newcomer{
	{
		"gateway", "main.go", "8e473f53c944faa9",
		[]string{"go", "build", "-o", "stdio-gateway", "main.go"},
		[]string{"./stdio-gateway -listen 127.0.0.1:{{port}} {{server}}", "serves", "", "per-session"},
		[]string{"L1", "L2", "L4"},
	},
	{"agent", "agent.py", "8f5fd84394ccc5bd", nil, []string{"python3 agent.py {{config}}", "runs", "", ""}, []string{"L1", "L2"}},
	{"mcp-ls", "mcp-ls.mjs", "8a1d6985473ad527", nil, []string{"node mcp-ls.mjs {{config}}", "exits", ""}, []string{"L1"}},
}

// TestNewcomers: from leakbench init to a true verdict with at most five answers and no edited line, and green after the fix.
func TestNewcomers(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.BlackBox)
	for _, n := range newcomers {
		t.Run(n.dir, func(t *testing.T) {
			t.Parallel()
			needsInterpreter(t, map[string]string{"gateway": "go-", "agent": "python-", "mcp-ls": "node-"}[n.dir])
			dir := filepath.Join(t.TempDir(), n.dir)
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "newcomer", n.dir))))
			text, err := os.ReadFile(filepath.Join(dir, n.program))
			require.NoError(t, err)
			sum := sha256.Sum256(text)
			require.Equal(t, n.sum, hex.EncodeToString(sum[:8]), "%s is no longer what was written", n.program)
			done := takeTurn(t, besideAll, chain)
			n.prepare(t, dir)

			require.LessOrEqual(t, len(n.answers), 5)
			out, code := inFolder(t, dir, strings.Join(n.answers, "\n")+"\n", theBench(t), "init")
			require.Zero(t, code, out)
			_, next, found := strings.Cut(out, "Next: leakbench ")
			require.True(t, found, out)
			command := append([]string{theBench(t)}, strings.Fields(next)...)
			done()

			laws, _ := n.verdict(t, dir, command, "leak", 1)
			assert.Equal(t, n.laws, laws)
			tier.Played(t, "newcomer "+n.dir, strings.Join(command[1:], " "), strings.Join(n.laws, " "))
			_, code = inFolder(t, dir, "", "git", "apply", "-p1", "fix.diff")
			require.Zero(t, code)
			done = takeTurn(t, besideAll, chain)
			n.prepare(t, dir)
			done()
			laws, out = n.verdict(t, dir, command, "clean", 0)
			assert.Empty(t, laws, out)
			tier.Played(t, "newcomer "+n.dir+", mended", strings.Join(command[1:], " "), "clean")
		})
	}
}

func (n newcomer) prepare(t *testing.T, dir string) {
	t.Helper()
	if n.build != nil {
		out, code := inFolder(t, dir, "", n.build...)
		require.Zero(t, code, out)
	}
}

// verdict runs the command that init has proposed until its verdict is final, and returns the laws that are broken as errors.
func (n newcomer) verdict(t *testing.T, dir string, command []string, outcome string, want int) (laws []string, out string) {
	t.Helper()
	type answer struct {
		Outcome string
		Runs    []struct {
			Findings []struct{ Law, Severity string }
		}
		code int
	}
	all := untilFinal(t, besideAll, chain, func(company) (all answer, is verdictIs) {
		out, all.code = inFolder(t, dir, "", append(command, "--format", "json", "--progress", "none")...)
		require.NoError(t, json.Unmarshal([]byte(out[:strings.LastIndex(out, "}")+1]), &all), "%s", out)
		return all, verdictIs{certain: all.code != 3}
	})
	require.Equal(t, outcome, all.Outcome, "%s", out)
	require.Equal(t, want, all.code, "%s", out)
	for _, run := range all.Runs {
		for _, f := range run.Findings {
			if f.Severity == "error" {
				laws = append(laws, f.Law)
			}
		}
	}
	slices.Sort(laws)
	return slices.Compact(laws), out
}

// inFolder runs a program, and returns what it wrote to stdout and its status.
func inFolder(t *testing.T, dir, stdin string, argv ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 5 * time.Second
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if out.Len() == 0 {
		return said.String(), cmd.ProcessState.ExitCode()
	}
	return out.String(), cmd.ProcessState.ExitCode()
}
