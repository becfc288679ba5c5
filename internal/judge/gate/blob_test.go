package gate_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// saved puts a committed run where leakbench run would have.
func saved(t *testing.T, out, name string) verdict.Judged {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "runs", name+".jsonl"))
	require.NoError(t, err)
	dir := filepath.Join(out, name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.jsonl"), text, 0o644))
	run, err := record.Read(dir)
	require.NoError(t, err)
	return verdict.NewJudged(run, dir)
}

func TestWhatWasPackedComesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	part := gate.Part{
		Shard: gate.Shard{Index: 1, Count: 2}, Mark: "m", Host: "naive", Repeat: 1, Plan: []gate.Item{{Scenario: "storm"}},
		Runs: []gate.Attempt{{Judged: saved(t, dir, "torn"), Repeat: 1, Try: 1}, {Judged: saved(t, dir, "storm-naive"), Repeat: 1, Try: 2}},
	}
	path := filepath.Join(dir, "deep", "1.zip")
	require.NoError(t, gate.WriteBlob(path, part))
	got, err := gate.ReadBlob(path)
	require.NoError(t, err)
	assert.Equal(t, path, got.Name)
	require.Len(t, got.Runs, 2)
	for i := range got.Runs {
		assert.Equal(t, part.Runs[i].Run, got.Runs[i].Run)
		assert.Equal(t, part.Runs[i].Verdict, got.Runs[i].Verdict, "judged again, it is the same")
		assert.Equal(t, part.Runs[i].Try, got.Runs[i].Try)
	}
	part.Runs, got.Runs, got.Name = nil, nil, ""
	assert.Equal(t, part, got)
}

func TestLoadReadsWhateverHoldsRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := saved(t, dir, "storm-naive"), saved(t, dir, "storm-exact")
	require.NoError(t, os.Symlink("storm-naive", filepath.Join(dir, "latest")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "known.yaml"), []byte("known: []\n"), 0o644))
	load := func(path string) []verdict.Judged {
		parts, err := gate.LoadBlobs(path)
		require.NoError(t, err)
		return gate.RunsOf(parts)
	}
	assert.Len(t, load(dir), 2, "and the link to one of them not again")
	assert.Len(t, load(a.Dir), 1)
	assert.Len(t, load(filepath.Join(b.Dir, "run.jsonl")), 1)
	path := filepath.Join(dir, "all.zip")
	require.NoError(t, gate.WriteBlob(path, gate.Part{Host: "naive", Plan: []gate.Item{{Scenario: "storm"}}, Runs: gate.Fresh([]verdict.Judged{a})}))
	assert.Len(t, load(path), 1)
	assert.Len(t, load(dir), 3)
	_, err := gate.LoadBlobs(t.TempDir())
	require.ErrorIs(t, err, gate.ErrNoRun)
	_, err = gate.LoadBlobs(filepath.Join(dir, "nothing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A file that is no blob, or names what it does not hold, is an error that says
// so, and nothing is written wherever its names point.
func TestWhatIsNoBlob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, files := range map[string]map[string]string{
		"nothing.zip": nil,
		"other.zip":   {"blob.json": `{"format":"other"}`},
		"text.zip":    {"blob.json": `no`},
		"bare.zip":    {"a": "b"},
		"minus.zip":   {"blob.json": `{"format":"leakbench-blob","version":-1}`},
		"zero.zip":    {"blob.json": `{"format":"leakbench-blob"}`},
		"shards.zip":  {"blob.json": `{"format":"leakbench-blob","version":1,"shard":{"index":1,"count":2000000000}}`},
		"beyond.zip":  {"blob.json": `{"format":"leakbench-blob","version":1,"shard":{"index":3,"count":2}}`},
	} {
		path := filepath.Join(dir, name)
		pack(t, path, files)
		_, err := gate.ReadBlob(path)
		require.ErrorIs(t, err, gate.ErrNotABlob, name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.zip"), []byte("no zip"), 0o644))
	_, err := gate.ReadBlob(filepath.Join(dir, "x.zip"))
	require.ErrorIs(t, err, gate.ErrNotABlob)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.zip"), 0o755))
	_, err = gate.ReadBlob(filepath.Join(dir, "folder.zip"))
	require.ErrorIs(t, err, gate.ErrNotABlob)
	_, err = gate.ReadBlob(filepath.Join(dir, "absent.zip"))
	require.ErrorIs(t, err, os.ErrNotExist)
	pack(t, filepath.Join(dir, "new.zip"), map[string]string{"blob.json": `{"format":"leakbench-blob","version":99}`})
	_, err = gate.ReadBlob(filepath.Join(dir, "new.zip"))
	require.ErrorIs(t, err, record.ErrNewerFormat)
	for _, file := range []string{"gone.jsonl", "../../etc/passwd", "/etc/passwd"} {
		path := filepath.Join(dir, "out.zip")
		pack(t, path, map[string]string{"blob.json": `{"format":"leakbench-blob","version":1,"files":[{"name":"` + file + `"}]}`})
		_, err = gate.ReadBlob(path)
		require.Error(t, err)
	}
}

func pack(t *testing.T, path string, files map[string]string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	z := zip.NewWriter(f)
	for name, text := range files {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
}
