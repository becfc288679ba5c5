package corpus_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/test/corpus"
)

var (
	update = flag.Bool("update", false, "write down what is said of each run")
	golden = flag.String("verdicts", "testdata/verdicts.txt", "the file of what is said of each run")
)

// TestCorpus judges each run of the corpus. A difference is a change of the judge: whoever makes it explains each one. Then -update.
func TestCorpus(t *testing.T) {
	t.Parallel()
	said := judgeAll(t)
	if *update {
		var names []string
		for name := range said {
			names = append(names, name)
		}
		slices.Sort(names)
		var b strings.Builder
		for _, name := range names {
			b.WriteString(name + ": " + said[name])
		}
		require.NoError(t, os.WriteFile(*golden, []byte(b.String()), 0o644))
	}
	text, err := os.ReadFile(*golden)
	require.NoError(t, err)
	wrong := 0
	for name, want := range corpus.Blocks(string(text)) {
		came, is := said[name]
		delete(said, name)
		if came == want {
			continue
		}
		if !is {
			came = "no such run\n"
		}
		if wrong++; wrong <= mostShown {
			t.Errorf("%s\n--- expected\n%s--- came\n%s", name, want, came)
		}
	}
	assert.LessOrEqual(t, wrong, mostShown, "runs that are judged in another way, of which the first are above")
	assert.Empty(t, said, "runs of which %s does not tell: go test ./test/corpus -update", *golden)
}

// mostShown is how many differences are printed.
const mostShown = 40

// ofAMachine is a path that tells who recorded a run. tools/corpus takes them out.
var ofAMachine = regexp.MustCompile(`/(root|Users|work|home/([^u]|u[^s]))[/\w].{0,40}`)

// judgeAll is what is said of each run.
func judgeAll(t *testing.T) map[string]string {
	t.Helper()
	entries, said := make(chan corpus.Entry, 64), map[string]string{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for e := range entries {
				assert.Empty(t, string(ofAMachine.Find(e.Lines)), e.Name)
				run, err := e.Run()
				if err != nil {
					t.Error(e.Name, err)
					continue
				}
				text := corpus.InCodes(verdict.Judge(run))
				mu.Lock()
				assert.NotContains(t, said, e.Name, "two runs have one name")
				said[e.Name] = text
				mu.Unlock()
			}
		})
	}
	for e, err := range corpus.Read(filepath.FromSlash("testdata/runs.jsonl.gz")) {
		if err != nil {
			t.Error(err)
			break
		}
		entries <- e
	}
	close(entries)
	all.Wait()
	return said
}

// TestEntries: a run comes back as it was added, also behind others, and a file that is torn is an error.
func TestEntries(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.jsonl.gz")
	run := &record.Run{Header: record.Header{ID: "r", Host: record.Host{Name: "a"}}, Truncated: "torn", Events: []record.Event{
		{Seq: 1, T: 5, Kind: record.Ended, End: &record.End{Reason: record.EndDone}}, {Seq: 9, T: -1},
	}}
	for _, name := range []string{"one", "two", "three"} {
		e, err := corpus.Of(name, run)
		require.NoError(t, err)
		require.NoError(t, corpus.Append(path, []corpus.Entry{e}))
	}
	var names []string
	for e, err := range corpus.Read(path) {
		require.NoError(t, err)
		names = append(names, e.Name)
		came, err := e.Run()
		require.NoError(t, err)
		assert.Equal(t, run, came)
	}
	assert.Equal(t, []string{"one", "two", "three"}, names)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, info.Size()-3))
	var last error
	for _, last = range corpus.Read(path) {
	}
	assert.ErrorContains(t, last, "reading "+path+": ")
}
