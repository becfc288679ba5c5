package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/test/corpus"
)

// TestWhatIsAdded: a run that is there is not added again, nor one of a host and a scenario that is judged alike.
func TestWhatIsAdded(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.FromSlash(corpus.Runs)), 0o755))
	entry := func(name, id string, doubts ...record.Event) corpus.Entry {
		run := &record.Run{Header: record.Header{ID: id, Command: []string{home + "/bin/x"}}, Events: doubts}
		e, err := corpus.Of(name, run)
		require.NoError(t, err)
		return e
	}
	doubt := record.Event{Seq: 1, Kind: record.Doubted, Doubt: &record.Doubt{Code: record.DoubtKeeperLost}}
	for range 2 {
		require.NoError(t, add([]corpus.Entry{
			entry("host-storm", "a"), entry("host-storm", "b"), entry("host-storm", "c", doubt),
			entry("verdict.TestX", "a"), entry("verdict.TestX", "b"), entry("verdict.TestY", "b"),
		}))
	}
	var names []string
	for e, err := range corpus.Read(filepath.FromSlash(corpus.Runs)) {
		require.NoError(t, err)
		base, _, hashed := strings.Cut(e.Name, "/")
		if hashed {
			base += "/"
		}
		names = append(names, base)
		run, err := e.Run()
		require.NoError(t, err)
		assert.Equal(t, []string{"/home/user/bin/x"}, run.Header.Command)
	}
	assert.Equal(t, []string{"host-storm", "host-storm/", "verdict.TestX/"}, names)
}

func TestWithoutPaths(t *testing.T) {
	t.Parallel()
	for was, want := range map[string]string{
		`"/var/tmp/leakbench-built-123/leakbench","host"`:  `"/opt/leakbench","host"`,
		`"/tmp/go-build12/b001/leakbench.test","host"`:     `"/opt/leakbench","host"`,
		`"--host","/tmp/TestTricks07-x12/001/command.yaml`: `"--host","/tmp/test/command.yaml`,
		`"` + home + `/x"`: `"/home/user/x"`,
		`"` + home + `x"`:  `"` + home + `x"`,
	} {
		assert.Equal(t, want, string(withoutPaths([]byte(was))))
	}
}
