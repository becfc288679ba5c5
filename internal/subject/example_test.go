package subject_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/tier"
)

const example = "../../examples/example_driver.py"

// python is what the example needs: an interpreter with the official SDK.
func python(t *testing.T) string {
	t.Helper()
	spec, err := hostfile.Lookup("self", "python-sdk")
	require.NoError(t, err)
	if err := spec.Check(); err != nil {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), err)
		t.Skipf("the example driver needs the official Python SDK: %v", err)
	}
	return filepath.Join(spec.InstallDir, "bin", "python3")
}

// TestExampleDriver: the driver of the documentation works as it stands there.
func TestExampleDriver(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	l := newLab(t, []string{python(t), example}, scripts{"s": {}})
	assert.Equal(t, "example", l.hello.Host)
	assert.NotContains(t, l.hello.Ops, driver.OpTick)
	assert.False(t, l.do(driver.Request{Op: driver.OpCall, Session: "early", Tool: "echo"}).OK)
	allOps(l)
	assert.Equal(t, 0, l.exit())
}

func TestExampleDriverEndsAServerThatIsDeafOrNeverCameUp(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	deafAndMute := deaf
	deafAndMute.Faults = append(deafAndMute.Faults[:2:2], faultOn("initialize", "hang"))
	l := newLab(t, []string{python(t), example}, scripts{"deaf": deaf, "mute": deafAndMute, "junk": faulty(faultOn("initialize", "reject"))})
	l.open("d", "deaf")
	mute := l.begin(l.openRequest("m", "mute"))
	l.await("the hang", func(all []record.Event) bool {
		return slices.ContainsFunc(all, func(e record.Event) bool { return e.Server == "mute#1" && e.Fault != nil && e.Fault.Do == "hang" })
	})
	l.ok(driver.Request{Op: driver.OpCancel, Target: mute.ID})
	assert.False(t, l.do(l.openRequest("j", "junk")).OK)
	l.ok(driver.Request{Op: driver.OpClose, Session: "d"})
	assert.False(t, l.wait(mute).OK)
	for _, server := range []string{"deaf#1", "mute#1"} {
		l.saw(record.SawEOF, server)
		l.saw(record.SawSignal, server)
		l.saw(record.Died, server)
	}
	l.saw(record.Died, "junk#1")
}

// TestExampleDriverIsShort: it says so itself.
func TestExampleDriverIsShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(example)
	require.NoError(t, err)
	assert.LessOrEqual(t, strings.Count(string(text), "\n"), 60)
	assert.True(t, strings.HasPrefix(string(text), "#!/usr/bin/env python3\n"))
}

// TestDriverByItsPath: --host ./example_driver.py.
func TestDriverByItsPath(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	spec, err := subject.Lookup("self", example)
	require.NoError(t, err)
	assert.Equal(t, record.KindDriver, spec.Kind)
	assert.Equal(t, "example_driver.py", spec.Name)
	require.Len(t, spec.Argv, 1)
	assert.True(t, filepath.IsAbs(spec.Argv[0]), "the host may be started in another folder")
	l := newLab(t, append([]string{python(t)}, spec.Argv...), nil)
	l.ok(driver.Request{Op: driver.OpStop})
	assert.Equal(t, 0, l.exit())
}
