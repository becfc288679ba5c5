package attach_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestSavedWatches judges watches of real hosts, as they stood at each quarter of the time and at the end: a host with one process of each
// kind (zoo), one that launches a server every 1.4 s and uses the newest (even), and one that ends (ends).
func TestSavedWatches(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.jsonl")
	require.NoError(t, err)
	assert.Len(t, files, 3)
	for _, file := range files {
		run, err := record.Read(file)
		require.NoError(t, err)
		var b strings.Builder
		for quarter := 1; quarter <= 4; quarter++ {
			part := record.Run{Header: run.Header, Events: run.Events[:len(run.Events)*quarter/4]}
			fmt.Fprintf(&b, "--- after %d of 4\n", quarter)
			describe(t, &b, attach.Of(&part))
		}
		golden := strings.TrimSuffix(file, ".jsonl") + ".golden"
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), b.String(), file)
	}
}

// describe writes what a view shows, one line for each thing.
func describe(t *testing.T, b *strings.Builder, v *attach.View) {
	t.Helper()
	line := func(what string, of any) {
		text, err := json.Marshal(of)
		require.NoError(t, err)
		fmt.Fprintf(b, "%s %s\n", what, text)
	}
	fmt.Fprintf(b, "looks %d, from %d to %d, exited %v, with servers %v\n", v.Looks, v.From, v.To, v.Host.Exited, v.WithServers)
	for _, ch := range v.Children {
		holder := ""
		if ch.StdinHolder != nil {
			holder = fmt.Sprintf(" (%d fd %d)", ch.StdinHolder.PID, ch.StdinHolder.FD)
		}
		quiet := "?"
		if ch.QuietFor != nil {
			quiet = ch.QuietFor.D().String()
		}
		fmt.Fprintf(b, "child %d %s of %d %s, below %v, age %v, quiet %s, facts %v, stdin %s%s, in %s, %s %q\n", ch.PID, ch.Comm, ch.PPID, ch.Role, ch.Below,
			ch.Age.D(), quiet, ch.FactsAge.D(), ch.Stdin, holder, ch.Syscall+ch.Wchan, ch.Kind, ch.Note)
	}
	for _, u := range v.Units {
		line("launch", u)
	}
	for _, g := range v.Groups {
		line("line", g)
	}
	for _, trend := range v.Trends {
		line("trend", trend)
	}
	for i := range v.Breaches {
		breach := v.Breaches[i]
		fmt.Fprintf(b, "breach %s %s of %q by %s %s %d: %s | %s | evidence %v, at %d\n", breach.Law, breach.Kind, breach.Label, breach.Cause, breach.Comm,
			breach.Process.PID, breach.Value, breach.Narrative, breach.Evidence != nil, breach.At[0])
	}
	for _, open := range v.Open {
		line("open", open)
	}
	for _, unread := range v.Unread {
		line("unread", unread)
	}
}
