package record

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newRun(t testing.TB) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs", "one", fileName)
	w, err := Create(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	require.NoError(t, w.WriteHeader(whole("abc")))
	return w, path
}

func add(t testing.TB, w *Writer, e Event) Event {
	t.Helper()
	e, err := w.Add(e)
	require.NoError(t, err)
	return e
}

func end(t testing.TB, w *Writer) {
	t.Helper()
	add(t, w, Event{Kind: Ended, End: &End{Reason: "done"}})
	require.NoError(t, w.Err())
	require.NoError(t, w.Close())
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	w, path := newRun(t)
	born := add(t, w, Event{Kind: Born, Server: "flaky#1", Birth: &Birth{Identity: Identity{PID: 7, Start: 99}, Label: "flaky", Launch: 1}})
	odd := add(t, w, Event{Kind: Bye, Server: "flaky#1", Text: "a\nb\x00\u2028<&>\"\xff"})
	assert.Equal(t, int64(1), born.Seq)
	assert.Equal(t, int64(2), odd.Seq)
	end(t, w)

	for _, p := range []string{path, filepath.Dir(path)} {
		run, err := Read(p)
		require.NoError(t, err)
		assert.Empty(t, run.Truncated)
		assert.Equal(t, Format, run.Header.Format)
		assert.Equal(t, 1, run.Header.Version, "older readers read it as well")
		assert.Equal(t, "storm", run.Header.Scenario.Name)
		assert.Equal(t, Duration(time.Second), run.Header.Limits.Settle)
		assert.WithinDuration(t, time.Now(), run.Header.Started, time.Minute)
		require.Len(t, run.Events, 3)
		assert.Equal(t, born, run.Events[0])
		assert.Equal(t, "a\nb\x00\u2028<&>\"\ufffd", run.Events[1].Text)
	}
	link := filepath.Join(filepath.Dir(filepath.Dir(path)), "latest")
	if os.Symlink("one", link) == nil {
		run, err := Read(link)
		require.NoError(t, err)
		assert.Len(t, run.Events, 3)
	}
}

// TestAFastRunIsForNewerReaders: an older one would call leaked what was given up.
func TestAFastRunIsForNewerReaders(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w, err := Create(path)
	require.NoError(t, err)
	h := whole("abc")
	h.Limits.Fast = FastWait
	require.NoError(t, w.WriteHeader(h))
	end(t, w)
	run, err := Read(path)
	require.NoError(t, err)
	assert.Equal(t, 2, run.Header.Version)
	assert.Equal(t, FastWait, run.Header.Limits.Fast)
}

func TestEventsOfManyGoroutinesAreInTheFileInOrder(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 100
	w, path := newRun(t)
	var wg sync.WaitGroup
	seen := make([][]Event, writers)
	for i := range writers {
		wg.Go(func() {
			for range each {
				e, err := w.Add(Event{Kind: Ready, Server: "s#1", Text: strings.Repeat("x", i*50)})
				if err != nil {
					return
				}
				seen[i] = append(seen[i], e)
			}
		})
	}
	wg.Wait()
	end(t, w)
	run, err := Read(path) // asks for rising numbers and times
	require.NoError(t, err)
	require.Empty(t, run.Truncated)
	require.Len(t, run.Events, writers*each+1)
	for _, events := range seen {
		for _, e := range events {
			require.Equal(t, e, run.Events[e.Seq-1])
		}
	}
}

func TestARunIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	w, path := newRun(t)
	end(t, w)
	_, err := Create(path)
	require.ErrorIs(t, err, fs.ErrExist)
	run, err := Read(path)
	require.NoError(t, err)
	assert.Empty(t, run.Truncated)
}

func TestAFolderThatCannotBeIsAnErrorOfCreate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err := Create(filepath.Join(file, "runs", fileName))
	require.ErrorContains(t, err, "failed to make the folder of the run file")
}

func TestTheReserveIsGivenBack(t *testing.T) {
	t.Parallel()
	w, path := newRun(t)
	reserved := w.file
	if w.reserve.beside != nil {
		reserved = w.reserve.beside
	}
	assert.GreaterOrEqual(t, allocated(t, reserved), int64(reserveSize), "nothing was reserved")
	end(t, w)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "only the run file is left")
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	assert.Less(t, allocated(t, f), int64(reserveSize))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "\x00")
	assert.True(t, strings.HasSuffix(string(data), "\n"))
}

func TestTheReserveBesideTheFileLeavesNoFile(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), fileName))
	require.NoError(t, err)
	r, err := reserveBeside(f)
	require.NoError(t, err)
	require.NoError(t, r.release(f))
	require.NoError(t, f.Close())
	left, err := os.ReadDir(filepath.Dir(f.Name()))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

func TestAWriterOutOfOrderWritesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), fileName)
	w, err := Create(path)
	require.NoError(t, err)
	_, err = w.Add(Event{Kind: Ready, Server: "s#1"})
	require.ErrorIs(t, err, errNoHeader)
	require.NoError(t, w.Err(), "it is not sticky")
	require.NoError(t, w.WriteHeader(whole("")))
	require.Error(t, w.WriteHeader(Header{}))
	add(t, w, Event{Kind: Ended, End: &End{Reason: "done"}})
	_, err = w.Add(Event{Kind: Ready, Server: "s#1"})
	require.ErrorIs(t, err, errEnded)
	require.NoError(t, w.Err())
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	require.NoError(t, w.Err())
	_, err = w.Add(Event{Kind: Ready, Server: "s#1"})
	require.ErrorIs(t, err, os.ErrClosed)
	run, err := Read(path)
	require.NoError(t, err)
	assert.Empty(t, run.Truncated)
	assert.Len(t, run.Events, 1)
}

func TestAnEventWithoutItsFieldsIsABugThatSticks(t *testing.T) {
	t.Parallel()
	w, _ := newRun(t)
	_, err := w.Add(Event{Kind: CensusTaken})
	require.ErrorContains(t, err, `an event of kind "census" without its census`)
	_, err = w.Add(Event{Kind: Ready, Server: "s#1"})
	require.ErrorContains(t, err, "without its census")
	require.Error(t, w.Err())
}

func TestAnEventThatIsTooLongBecomesADoubt(t *testing.T) {
	t.Parallel()
	w, path := newRun(t)
	e := add(t, w, Event{Kind: Bye, Server: "s#1", Text: strings.Repeat("x", maxLine)})
	assert.Equal(t, Doubted, e.Kind)
	assert.Equal(t, int64(2), add(t, w, Event{Kind: Ready, Server: "s#1"}).Seq)
	assert.LessOrEqual(t, w.line.Cap(), keepBuffer, "the memory of a long line is not kept")
	end(t, w)
	run, err := Read(path)
	require.NoError(t, err)
	assert.Empty(t, run.Truncated)
	require.Equal(t, Doubted, run.Events[0].Kind)
	assert.Equal(t, DoubtTooLong, run.Events[0].Doubt.Code)
	assert.Contains(t, run.Events[0].Doubt.Text, `"bye"`)
}

// The writer makes no file that the reader refuses.
func TestALargeFileIsNotWritten(t *testing.T) {
	t.Parallel()
	w, path := newRun(t)
	w.size = MaxFile - 200
	add(t, w, Event{Kind: Ready, Server: "s#1"})
	_, err := w.Add(Event{Kind: Bye, Server: "s#1", Text: strings.Repeat("x", 200)})
	require.ErrorIs(t, err, ErrWrite)
	require.ErrorIs(t, err, errTooLarge)
	require.NoError(t, w.Close())
	run, err := Read(path)
	require.NoError(t, err)
	assert.Len(t, run.Events, 1)
	assert.NotEmpty(t, run.Truncated)
}

// The longest event that the writer takes is one that the reader takes.
func TestTheLongestLineIsTheSameForWriterAndReader(t *testing.T) {
	t.Parallel()
	w, path := newRun(t)
	probe := Event{Kind: Bye, Server: "s#1", Text: "x"}
	probe = add(t, w, probe)
	overhead := w.line.Len() - 1
	text := strings.Repeat("x", maxLine-overhead-64)
	require.Equal(t, Bye, add(t, w, Event{Kind: Bye, Server: probe.Server, Text: text}).Kind)
	end(t, w)
	run, err := Read(path)
	require.NoError(t, err)
	require.Len(t, run.Events, 3)
	assert.Len(t, run.Events[1].Text, len(text))
}

func TestTimesCountFromStarted(t *testing.T) {
	t.Parallel()
	for name, started := range map[string]struct {
		at       time.Time
		min, max time.Duration
	}{
		"an hour ago, wall clock only": {time.Now().Add(-time.Hour).Round(0), time.Hour, 2 * time.Hour},
		"in the future":                {time.Now().Add(time.Hour), 0, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := Create(filepath.Join(t.TempDir(), fileName))
			require.NoError(t, err)
			defer w.Close()
			require.NoError(t, w.WriteHeader(Header{Started: started.at}))
			at := time.Duration(add(t, w, Event{Kind: Ready, Server: "s#1"}).T)
			assert.GreaterOrEqual(t, at, started.min)
			assert.Less(t, at, started.max)
		})
	}
}

func TestTimeNeverRunsBack(t *testing.T) {
	t.Parallel()
	w, _ := newRun(t)
	first := add(t, w, Event{Kind: Ready, Server: "s#1"})
	w.base = w.base.Add(time.Hour) // as if the clock had been set back
	assert.Equal(t, first.T, add(t, w, Event{Kind: Ready, Server: "s#1"}).T)
}

func BenchmarkAdd(b *testing.B) {
	event := Event{Kind: RPC, Server: "flaky#12", RPC: &RPCInfo{Method: "tools/call", ID: "17", Tool: "echo", Phase: "received"}}
	b.Run("add", func(b *testing.B) {
		w, _ := newRun(b)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = w.Add(event)
		}
		require.NoError(b, w.Err())
	})
	b.Run("add-parallel", func(b *testing.B) {
		w, _ := newRun(b)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = w.Add(event)
			}
		})
		require.NoError(b, w.Err())
	})
	b.Run("write-only", func(b *testing.B) { // the yardstick: the same line, already encoded
		w, path := newRun(b)
		add(b, w, event)
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), "yardstick"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		require.NoError(b, err)
		defer f.Close()
		for b.Loop() {
			_, err = f.Write(w.line.Bytes())
		}
		require.NoError(b, err)
	})
}
