package acceptance_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
)

// mostLines of code are in the skeleton, without those that are blank.
const mostLines = 50

// TestTheSkeleton plays the driver in docs/use/driver-protocol.md as it stands there, with a client that closes and one that fails to.
func TestTheSkeleton(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	page, err := os.ReadFile("docs/use/driver-protocol.md")
	require.NoError(t, err)
	_, text, found := bytes.Cut(page, []byte("```python\n#!"))
	require.True(t, found)
	text, _, found = bytes.Cut(text, []byte("```"))
	require.True(t, found)
	blank := bytes.Count(text, []byte("\n\n"))
	assert.LessOrEqual(t, bytes.Count(text, []byte("\n"))-blank, mostLines)
	if _, err := exec.LookPath("python3"); err != nil {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), err)
		t.Skip(err)
	}
	client, err := os.ReadFile("acceptance/testdata/skeleton/client.py")
	require.NoError(t, err)
	for name, broken := range map[string]string{"closes": "", "fails": "L1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			driver := filepath.Join(dir, "driver.py")
			require.NoError(t, files.Program(driver, append([]byte("#!"), text...)))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "client.py"), client, 0o600))
			spec, err := subject.Lookup("", driver)
			require.NoError(t, err)
			if broken != "" {
				spec.Env = append(spec.Env, "FORGETS=1")
			}
			failing, err := scenarios.Parse("list-fails.yaml", []byte(listFails))
			require.NoError(t, err)
			limits := play.Limits{Settle: 5 * time.Second, Confirm: time.Second}
			judged := playUntil(t, short, cellOf(failing, spec), limits, breaks(broken))
			want := map[bool]verdict.Outcome{true: verdict.Clean, false: verdict.Leak}[broken == ""]
			assert.Equal(t, want, judged.Verdict.Outcome, account(judged))
		})
	}
}
