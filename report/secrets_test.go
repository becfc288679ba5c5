package report

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/redact/redacttest"
)

// secretTexts are what processes say with a secret in it. HIDDEN stands for it.
func secretTexts(t testing.TB) []string {
	t.Helper()
	file, err := os.ReadFile("../internal/redact/testdata/shapes.txt")
	require.NoError(t, err)
	texts := strings.Split(strings.TrimSpace(string(file)), "\n")
	for i, line := range texts {
		texts[i] = strings.ReplaceAll(line, `\n`, "\n")
	}
	return texts
}

// planted is a run in which all that foreign processes say of themselves is a text.
func planted(t testing.TB, said string) verdict.Judged {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "host.log")
	require.NoError(t, os.WriteFile(log, []byte("starting\n"+said+"\n"), 0o600))
	args := []string{"host", "--verbose", said}
	run := realRun(t, "crash-naive").Run
	run.Header.Command, run.Header.Host.Command = args, args
	run.Header.Host.Version, run.Header.Host.About, run.Header.Host.Profile.Ladder = said, said, said
	path := filepath.Join(dir, "run.jsonl")
	file, err := record.Create(path)
	require.NoError(t, err)
	require.NoError(t, file.WriteHeader(run.Header))
	for _, e := range run.Events {
		_, err := file.Add(spoken(e, said, log, args))
		require.NoError(t, err)
	}
	require.NoError(t, file.Close())
	read, err := record.Read(path)
	require.NoError(t, err)
	return verdict.NewJudged(read, "crash-naive")
}

// spoken is an event in which each foreign text is another one, made as the stage makes it: from the host's log, the process table, the
// driver's hello, its errors, and the messages of its servers.
func spoken(e record.Event, said, log string, args []string) record.Event {
	switch {
	case e.Hello != nil:
		e.Hello.Host, e.Hello.Version, e.Hello.NotApplicable = said, said, map[string]string{"tick": said}
		e.Hello.Profile = &record.Profile{Ladder: said, Scale: said}
	case e.Process != nil:
		e.Process.Args = redact.Args(args)
	case e.RPC != nil:
		id, _ := json.Marshal(said)
		e.RPC.Tool, e.RPC.ID = said, string(id)
	case e.Fault != nil:
		e.Fault.Detail = said
	case e.Step != nil && e.Step.Error != "":
		e.Step.Error = said
	case e.Doubt != nil:
		e.Doubt.Text = said
	}
	if e.Kind == record.HostExited || e.Kind == record.WroteStderr || e.Kind == record.Bye {
		e.Text = observe.LogTail(log) + said
	}
	if e.Census != nil {
		for i := range e.Census.Processes {
			e.Census.Processes[i].Args = redact.Args(args)
		}
	}
	for i := range e.Evidence {
		e.Evidence[i].Args = redact.Args(args)
	}
	return e
}

// hidesFrom asserts that no output of a run, nor its file, has a secret.
func hidesFrom(t testing.TB, run verdict.Judged, secret string) {
	t.Helper()
	file, err := json.Marshal(run.Run)
	require.NoError(t, err)
	require.NotContains(t, string(file), secret, "the run file")
	for _, name := range ReporterNames() {
		require.NotContains(t, output(t, name, run), secret, name)
	}
}

// FuzzSecrets: whatever a host, its driver and its servers say with a secret in it, no output shows the secret. What stands before and
// behind the text is the fuzzer's, as is the choice of the text and of the secret.
func FuzzSecrets(f *testing.F) {
	shapes, texts := redacttest.Shapes(f, "../internal/redact/testdata/services.tsv"), secretTexts(f)
	f.Add(uint64(1), uint16(0), uint16(0), "", "")
	f.Add(uint64(2), uint16(7), uint16(20), "12:00 INFO got ", " from it\n{}")
	f.Add(uint64(3), uint16(100), uint16(60), "it's \"a\\\" ", "'")
	f.Add(uint64(4), uint16(300), uint16(33), "token: a\n\x1b[31m", "=[")
	f.Fuzz(func(t *testing.T, seed uint64, shape, text uint16, before, behind string) {
		if len(before)+len(behind) > 300 {
			return
		}
		row := shapes[int(shape)%len(shapes)]
		secret := row.Value(rand.New(rand.NewPCG(seed, 0))) //nolint:gosec // no secret is made
		if strings.ContainsAny(secret, " &,;)}]\"'%") || len(secret) > 200 || len(secret) < 16 {
			return // where such a value ends is another question
		}
		around := " got HIDDEN from it"
		if !row.Bare { // letters before its name make another name of it, and so does the middle of a line
			around = "\n" + texts[int(text)%len(texts)]
		}
		if strings.Contains(around, "://") && strings.ContainsAny(secret, "/?#") {
			return // each of these ends the part of a URL that may hold a password (RFC 3986, 3.2)
		}
		said := before + strings.ReplaceAll(around, "HIDDEN", secret) + " " + behind
		hidesFrom(t, planted(t, said), secret)
	})
}
