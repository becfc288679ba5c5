package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const headerLine = `{"format":"leakbench-run","version":1,"id":"abc","scenario":{"name":"storm"},"host":{"kind":"driver"},` +
	`"limits":{"settle":"1s","confirm":"1s"},"plan":{"labels":[{"label":"s","launches":1}],"checkpoints":["end"]}}` + "\n"

// whole is a header that lacks nothing which judging needs.
func whole(id string) Header {
	return Header{
		ID: id, Scenario: Scenario{Name: "storm"}, Host: Host{Kind: KindDriver}, Limits: Limits{Settle: Duration(time.Second), Confirm: Duration(time.Second)},
		Plan: Plan{Labels: []PlanLabel{{Label: "s", Launches: 1}}, Checkpoints: []string{"end"}},
	}
}

// TestAHeaderThatLacksWhatJudgingNeeds is refused, as nothing would be asked for where nothing is planned.
func TestAHeaderThatLacksWhatJudgingNeeds(t *testing.T) {
	t.Parallel()
	_, err := decode(headerLine)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"scenario": "scenario.name", "host": "host.kind", "limits": "limits.settle", "plan": "plan.checkpoints",
		"scenario.name": "scenario.name", "host.kind": "host.kind", "limits.settle": "limits.settle", "limits.confirm": "limits.confirm",
		"plan.checkpoints": "plan.checkpoints", "plan.labels": "plan.labels",
	} {
		var header map[string]any
		require.NoError(t, json.Unmarshal([]byte(headerLine), &header))
		if object, field, inside := strings.Cut(name, "."); inside {
			delete(header[object].(map[string]any), field) //nolint:forcetypeassert // headerLine has it
		} else {
			delete(header, name)
		}
		line, err := json.Marshal(header)
		require.NoError(t, err)
		_, err = decode(string(line) + "\n")
		require.ErrorContains(t, err, "line 1: a header without its "+want, name)
	}
	_, err = decode(`{"format":"leakbench-run","version":1,"id":"abc"}` + "\n")
	require.ErrorContains(t, err, "line 1: a header without its scenario.name")
	empty := whole("abc")
	empty.Plan = Plan{}
	line, err := json.Marshal(empty)
	require.NoError(t, err)
	_, err = decode(strings.Replace(string(line), `"format":"","version":0`, `"format":"leakbench-run","version":1`, 1) + "\n")
	require.NoError(t, err, "nothing is planned, and the header says so")
	_, err = decode(strings.Replace(headerLine, `"driver"`, `"comet"`, 1))
	require.ErrorContains(t, err, "line 1: a header without its host.kind")
}

func decode(text string) (*Run, error) { return Decode(strings.NewReader(text)) }

func TestAFileTornAnywhereIsTruncated(t *testing.T) {
	t.Parallel()
	w, path := newRun(t)
	for range 3 {
		add(t, w, Event{Kind: Bye, Server: "s#1", Text: "größer"})
	}
	end(t, w)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	afterHeader := bytes.IndexByte(data, '\n') + 1
	for cut := afterHeader; cut < len(data); cut++ {
		for _, tail := range []string{"", "\x00\x00\x00"} {
			run, err := Decode(strings.NewReader(string(data[:cut]) + tail))
			require.NoError(t, err, "cut at %d", cut)
			require.NotEmpty(t, run.Truncated, "cut at %d", cut)
			require.Len(t, run.Events, bytes.Count(data[:cut], []byte("\n"))-1, "cut at %d", cut)
			atLineEnd := data[cut-1] == '\n' && tail == ""
			require.Equal(t, !atLineEnd, strings.Contains(run.Truncated, "torn"), "cut at %d: %s", cut, run.Truncated)
		}
	}
	for cut := range afterHeader {
		_, err := Decode(bytes.NewReader(data[:cut]))
		require.ErrorIs(t, err, errNotARun, "cut at %d", cut)
	}
}

func TestWhyAFileIsTruncated(t *testing.T) {
	t.Parallel()
	const first, third, ended = `{"seq":1,"t":5,"kind":"ready","server":"s#1"}` + "\n", `{"seq":3,"t":5,"kind":"ready","server":"s#1"}` + "\n",
		`{"seq":7,"t":9,"kind":"end","end":{"reason":"done"}}` + "\n"
	for name, tt := range map[string]struct{ events, want string }{
		"only a header":      {"", "there is nothing after the header"},
		"no end":             {first, "there is no end event after event 1"},
		"torn":               {first + `{"seq":2`, "line 3, the last one, is torn"},
		"an event is out":    {first + third, "event 2 is missing, and what follows it is not judged"},
		"the first of gaps":  {third + ended, "events 1 to 2 are missing, and what follows them is not judged"},
		"a gap, then torn":   {third + "{", "events 1 to 2 are missing, and what follows them is not judged"},
		"a whole line, torn": {strings.TrimSuffix(first, "\n"), "line 2, the last one, is torn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, err := decode(headerLine + tt.events)
			require.NoError(t, err)
			assert.Equal(t, tt.want, run.Truncated)
			assert.Equal(t, "abc", run.Header.ID)
		})
	}
}

func TestWhatIsNoRunFile(t *testing.T) {
	t.Parallel()
	const event, ended = `{"seq":1,"t":5,"kind":"ready","server":"s#1"}` + "\n", `{"seq":2,"t":9,"kind":"end","end":{"reason":"done"}}` + "\n"
	for name, tt := range map[string]struct{ text, want string }{
		"garbage in the middle": {headerLine + event + "hello\n" + ended, "line 3: not an event"},
		"an empty line":         {headerLine + "\n" + event, "line 2: not an event"},
		"zeros and a newline":   {headerLine + event + "\x00\x00\n", "line 3: not an event"},
		"a line cut, then more": {headerLine + `{"seq":1,"t"` + "\n" + ended, "line 2: not an event"},
		"another type":          {headerLine + `{"seq":"1","t":5,"kind":"ready"}` + "\n", "line 2: not an event"},
		"two runs in one file":  {headerLine + event + ended + headerLine + event + ended, "line 4: an event without a kind (or the header of a second run)"},
		"no kind":               {headerLine + `{"seq":1,"t":5}` + "\n", "line 2: an event without a kind (or the header of a second run)"},
		"no payload":            {headerLine + `{"seq":1,"t":5,"kind":"census"}` + "\n", `line 2: an event of kind "census" without its census`},
		"no evidence":           {headerLine + `{"seq":1,"t":5,"kind":"evidence"}` + "\n", `line 2: an event of kind "evidence" without its evidence`},
		"no host":               {headerLine + `{"seq":1,"t":5,"kind":"host-exited","exit":{"code":0}}` + "\n", `line 2: an event of kind "host-exited" without its process`},
		"no server":             {headerLine + `{"seq":1,"t":5,"kind":"died"}` + "\n", `line 2: an event of kind "died" without its server`},
		"an event twice":        {headerLine + event + event, "line 3: event 1 after event 1"},
		"seq zero":              {headerLine + `{"seq":0,"t":5,"kind":"ready","server":"s#1"}` + "\n", "line 2: event 0 after event 0"},
		"time runs back":        {headerLine + event + `{"seq":2,"t":4,"kind":"ready","server":"s#1"}` + "\n", "line 3: event 2 is earlier"},
		"time before the start": {headerLine + `{"seq":1,"t":-1,"kind":"ready","server":"s#1"}` + "\n", "line 2: event 1 is earlier"},
		"an unknown kind":       {headerLine + `{"seq":1,"t":5,"kind":"comet","tail":3}` + "\n" + ended, `line 2: an event of kind "comet", which this version does not know`},
		"no time on earth":      {headerLine + event + `{"seq":2,"t":9223372036854775807,"kind":"end","end":{"reason":"done"}}` + "\n", "line 3: event 2 is more than a year after the start"},
		"after the end":         {headerLine + event + ended + `{"seq":3,"t":9,"kind":"ready","server":"s#1"}` + "\n", "line 4: an event after the end event"},
		"a broken header":       {`{"format":"leakbench-run","version":1,"id":7}` + "\n", "line 1: a broken header"},
		"a line too long":       {headerLine + event + strings.Repeat("x", maxLine+1), "line 3: longer than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decode(tt.text)
			require.ErrorContains(t, err, tt.want)
			require.NotErrorIs(t, err, errNotARun)
			require.NotErrorIs(t, err, ErrNewerFormat)
		})
	}
}

// TestALargeFileIsNotRead: it would fill the memory long before anything could be said of it.
func TestALargeFileIsNotRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), fileName)
	require.NoError(t, os.WriteFile(path, []byte(headerLine), 0o600))
	require.NoError(t, os.Truncate(path, MaxFile+1))
	for _, name := range []string{path, filepath.Dir(path)} {
		_, err := Read(name)
		require.EqualError(t, err, path+": larger than 256 MiB, the most that a run file may have")
	}
}

func TestForeignFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"empty":           {"", "the file is empty"},
		"text":            {"hello\nworld\n", "the first line is not the header of one"},
		"other JSON":      {`{"format":"har"}` + "\n", "the first line is not the header of one"},
		"a list":          {"[]\n", "the first line is not the header of one"},
		"no version":      {`{"format":"leakbench-run"}` + "\n", "the header has no version"},
		"version 0":       {`{"format":"leakbench-run","version":0}` + "\n", "the header has no version"},
		"a torn header":   {`{"format":"leakbench-run","version":1`, "the first line is not a whole header"},
		"one endless one": {strings.Repeat("x", maxLine+1), "the first line is longer than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decode(tt.text)
			require.ErrorIs(t, err, errNotARun)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestANewerFormatSaysSo(t *testing.T) {
	t.Parallel()
	_, err := decode(`{"format":"leakbench-run","version":3,"id":{"of":"another type"},"tool":{"version":"v9.1"}}` + "\n")
	require.ErrorIs(t, err, ErrNewerFormat)
	require.EqualError(t, err, `written in a newer format: the file has version 3 (written by leakbench "v9.1"), this leakbench reads up to 2; a newer leakbench reads it`)
}

func TestUnknownFieldsAreRead(t *testing.T) {
	t.Parallel()
	run, err := decode(headerLine + `{"seq":1,"t":5,"kind":"ready","server":"s#1","tail":3}` + "\r\n" + `{"seq":2,"t":5,"kind":"end","end":{"reason":"done"}}` + "\n")
	require.NoError(t, err)
	assert.Empty(t, run.Truncated)
	assert.Len(t, run.Events, 2)
}

// TestNothingBehindAGapIsKept: what is missing may have changed what it means.
func TestNothingBehindAGapIsKept(t *testing.T) {
	t.Parallel()
	run, err := decode(headerLine + `{"seq":1,"t":5,"kind":"ready","server":"s#1"}` + "\n" + `{"seq":3,"t":5,"kind":"died","server":"s#1"}` + "\n" + `{"seq":4,"t":5,"kind":"end","end":{"reason":"done"}}` + "\n")
	require.NoError(t, err)
	assert.NotEmpty(t, run.Truncated)
	assert.Len(t, run.Events, 1)
	_, err = decode(headerLine + `{"seq":3,"t":5,"kind":"ready","server":"s#1"}` + "\n" + "hello\n")
	require.ErrorContains(t, err, "line 3: not an event", "it is read to its end")
}

func TestReadNamesTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Read(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Read(dir)
	require.ErrorIs(t, err, errNotARun)
	require.ErrorContains(t, err, dir)
	assert.NotContains(t, err.Error(), "did you mean")

	latest := filepath.Join(dir, "latest")
	require.NoError(t, os.Mkdir(latest, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(latest, fileName), []byte("hello\n"), 0o644))
	_, err = Read(dir)
	require.ErrorContains(t, err, "did you mean "+latest+"?")
	_, err = Read(latest)
	require.ErrorIs(t, err, errNotARun)
	require.ErrorContains(t, err, filepath.Join(latest, fileName))
}

// TestNewest: where the link to the newest run could not be made, the path of the link leads to that run all the same.
func TestNewest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "latest")
	assert.Equal(t, link, Newest(link))
	for name, began := range map[string]string{"20261122-130145-storm": "13:01:45.1", "20261122-130145-cron": "13:01:45.8", "kept": "13:01:44", "no-run": ""} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		if began != "" {
			header := strings.Replace(headerLine, `"id"`, `"started":"2026-11-22T`+began+`Z","id"`, 1)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name, fileName), []byte(header), 0o644))
		}
	}
	newest := filepath.Join(dir, "20261122-130145-cron")
	assert.Equal(t, newest, Newest(link))
	_, err := Read(link)
	require.NoError(t, err)
	_, err = Read(dir)
	require.ErrorContains(t, err, "did you mean "+link+"?")
	assert.Equal(t, filepath.Join(dir, "later"), Newest(filepath.Join(dir, "later")))
	require.NoError(t, os.Mkdir(link, 0o755))
	assert.Equal(t, link, Newest(link), "what is there is what is meant")
}

func TestAReadThatFailsIsNoTruncation(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is broken")
	for _, before := range []string{"", headerLine, headerLine + `{"seq":1`} {
		_, err := Decode(io.MultiReader(strings.NewReader(before), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken, "after %q", before)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(headerLine + `{"seq":1,"t":5,"kind":"ready","server":"s#1"}` + "\n" + `{"seq":2,"t":9,"kind":"end","end":{"reason":"done"}}` + "\n"))
	f.Add([]byte(headerLine + `{"seq":2,"t":5,"kind":"born","server":"s#1","birth":{"pid":1,"start":2,"label":"s","launch":1}}` + "\n{"))
	f.Add([]byte(`{"format":"leakbench-run","version":3}` + "\n"))
	f.Add([]byte(headerLine + `{"seq":1,"t":5,"kind":"census","census":{"processes":[{"pid":1,"cpu":"1s"}]}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		ended := false
		for i, e := range run.Events {
			require.NoError(t, e.Check())
			if i > 0 {
				require.Equal(t, run.Events[i-1].Seq+1, e.Seq)
				require.GreaterOrEqual(t, e.T, run.Events[i-1].T)
			}
			ended = e.Kind == Ended
		}
		whole := ended && bytes.HasSuffix(data, []byte("\n"))
		require.Equal(t, whole, run.Truncated == "", run.Truncated)
	})
}
