package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

func TestABlobThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := saved(t, dir, "storm-exact")
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	require.Error(t, gate.WriteBlob(filepath.Join(file, "a.zip"), gate.Part{}), "a file is no folder")

	gone := a
	gone.Dir = filepath.Join(dir, "gone")
	path := filepath.Join(dir, "a.zip")
	require.ErrorIs(t, gate.WriteBlob(path, gate.Part{Runs: gate.Fresh([]verdict.Judged{a, gone})}), os.ErrNotExist)
	assert.NoFileExists(t, path)
}

// What leakbench keeps for itself is never written through a link.
func TestAKeptBlobFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	part := gate.Part{Host: "exact", Runs: gate.Fresh([]verdict.Judged{saved(t, dir, "storm-exact")})}
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "kept.zip")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o644))
	require.NoError(t, os.Symlink(victim, path))
	require.NoError(t, gate.KeepBlob(path, part))
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
	got, err := gate.ReadBlob(path)
	require.NoError(t, err)
	assert.Len(t, got.Runs, 1)
}

func TestRunsOfABlobThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	head := `{"format":"leakbench-blob","version":1,"files":[{"name":"runs/0001.jsonl"}]}`
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no run":     {map[string]string{"blob.json": head}, "runs/0001.jsonl"},
		"not a run":  {map[string]string{"blob.json": head, "runs/0001.jsonl": "{}\n"}, "runs/0001.jsonl"},
		"newer runs": {map[string]string{"blob.json": head, "runs/0001.jsonl": `{"format":"leakbench-run","version":99}` + "\n"}, "newer"},
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".zip")
		pack(t, path, c.files)
		_, err := gate.ReadBlob(path)
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, path, name)
		_, err = gate.LoadBlobs(path)
		require.ErrorContains(t, err, c.want, name)
		_, err = gate.LoadBlobs(dir)
		require.Error(t, err, "a folder with a blob that can't be read")
	}
}

// A folder is looked through, but for links, hidden folders, and archives of others.
func TestWhatAFolderOfRunsMayHoldBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	saved(t, runs, "storm-exact")
	saved(t, filepath.Join(runs, ".cache"), "storm-naive")
	saved(t, filepath.Join(dir, "beside"), "storm-naive")
	require.NoError(t, os.Symlink(filepath.Join(dir, "beside"), filepath.Join(runs, "link")))
	pack(t, filepath.Join(runs, "theirs.zip"), map[string]string{"a": "b"})
	require.NoError(t, os.WriteFile(filepath.Join(runs, "notes.txt"), []byte("no run"), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(runs, "empty"), 0o755))

	parts, err := gate.LoadBlobs(runs)
	require.NoError(t, err)
	require.Len(t, parts, 1)
	assert.Equal(t, "exact", parts[0].Host)
	assert.Equal(t, "runs on exact", parts[0].Name)
	require.Len(t, parts[0].Runs, 1)
	assert.Equal(t, filepath.Join(runs, "storm-exact"), parts[0].Runs[0].Dir)

	pack(t, filepath.Join(runs, "newer.zip"), map[string]string{"blob.json": `{"format":"leakbench-blob","version":99}`})
	_, err = gate.LoadBlobs(runs)
	require.ErrorIs(t, err, record.ErrNewerFormat)
}

// Where no link could be made, "latest" is the newest run all the same.
func TestNewestOfAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := saved(t, dir, "storm-exact")
	parts, err := gate.LoadBlobs(filepath.Join(dir, "latest"))
	require.NoError(t, err)
	require.Len(t, parts, 1)
	require.Len(t, parts[0].Runs, 1)
	assert.Equal(t, a.Verdict, parts[0].Runs[0].Verdict)
}

func TestAllThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := saved(t, dir, "storm-exact"), saved(t, dir, "storm-naive")
	parts, err := gate.LoadAllBlobs(a.Dir, b.Dir)
	require.NoError(t, err)
	require.Len(t, parts, 2)
	assert.Equal(t, []string{"exact", "naive"}, []string{parts[0].Host, parts[1].Host})
	parts, err = gate.LoadAllBlobs(filepath.Join(dir, "one"), a.Dir, filepath.Join(dir, "two"))
	require.ErrorContains(t, err, filepath.Join(dir, "one"))
	require.ErrorContains(t, err, filepath.Join(dir, "two"))
	assert.Empty(t, parts)
}
