package known_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile/yamltest"
)

var update = flag.Bool("update", false, "write the golden files and the schema anew")

const print1, print2 = "0123456789ab", "ba9876543210"

var today = time.Date(2030, 6, 15, 23, 59, 0, 0, time.UTC)

func run(scenario, host string, doubts int, prints ...string) verdict.Judged {
	j := verdict.Judged{
		Run:     &record.Run{Header: record.Header{Scenario: record.Scenario{Name: scenario}, Host: record.Host{Name: host}}},
		Verdict: verdict.Verdict{Outcome: verdict.Clean},
	}
	for _, p := range prints {
		j.Verdict.Findings = append(j.Verdict.Findings, verdict.Finding{Law: "L1", Fingerprint: p, Severity: record.SeverityError})
		j.Verdict.Outcome = verdict.Leak
	}
	for range doubts {
		j.Verdict.Doubts = append(j.Verdict.Doubts, record.Doubt{Code: "x"})
	}
	if doubts > 0 && len(prints) == 0 {
		j.Verdict.Outcome = verdict.Inconclusive
	}
	return j
}

func parse(t *testing.T, text string) known.List {
	t.Helper()
	l, err := known.Parse("known.yaml", []byte(text))
	require.NoError(t, err)
	return l
}

func entry(finding, more string) string {
	return "  - finding: " + finding + "\n    reason: because\n    expires: 2030-06-15\n" + more
}

func TestEntriesAreHeldAgainstRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entry string
		runs  []verdict.Judged
		want  known.State
	}{
		"found":                         {entry("storm:L1:"+print1, ""), []verdict.Judged{run("storm", "h", 0, print1)}, known.Found},
		"found by its law":              {entry("storm:L1", ""), []verdict.Judged{run("storm", "h", 0, print1)}, known.Found},
		"found by its scenario":         {entry("storm", ""), []verdict.Judged{run("storm", "h", 0, print1)}, known.Found},
		"found in one of two":           {entry("storm", ""), []verdict.Judged{run("storm", "h", 0), run("storm", "h", 0, print1)}, known.Found},
		"stale":                         {entry("storm:L1:"+print1, ""), []verdict.Judged{run("storm", "h", 0)}, known.Stale},
		"stale, another cause":          {entry("storm:L1:"+print1, ""), []verdict.Judged{run("storm", "h", 0, print2)}, known.Stale},
		"stale, another law":            {entry("storm:L2", ""), []verdict.Judged{run("storm", "h", 0, print1)}, known.Stale},
		"another scenario ran":          {entry("storm:L1", ""), []verdict.Judged{run("cron", "h", 0)}, known.NotRun},
		"another host ran":              {entry("storm:L1", "    host: other\n"), []verdict.Judged{run("storm", "h", 0)}, known.NotRun},
		"not found in doubt":            {entry("storm:L1", ""), []verdict.Judged{run("storm", "h", 1)}, known.Undecided},
		"not found, one of two a doubt": {entry("storm:L1", ""), []verdict.Judged{run("storm", "h", 0), run("storm", "h", 1)}, known.Undecided},
		"sometimes":                     {entry("storm:L1", "    sometimes: true\n"), []verdict.Judged{run("storm", "h", 0)}, known.Absent},
		"nothing ran":                   {entry("storm:L1", ""), nil, known.NotRun},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := parse(t, "known:\n"+c.entry)
			assert.Equal(t, c.want, l.Check(c.runs, today)[0].State)
			late := l.Check(c.runs, today.Add(time.Minute))[0]
			assert.Equal(t, known.Expired, late.State, "the day after its last")
			assert.True(t, late.Bad())
		})
	}
}

func TestAnEntryPardonsUntilItsDayIsOver(t *testing.T) {
	t.Parallel()
	l := parse(t, "known:\n"+entry("storm:L1:"+print1, ""))
	j := run("storm", "h", 0, print1)
	play := playOf("storm", "h")
	assert.NotNil(t, l.Lists(play, &j.Verdict.Findings[0], today))
	assert.Nil(t, l.Lists(play, &j.Verdict.Findings[0], today.Add(time.Minute)))
	assert.Nil(t, l.Lists(playOf("cron", "h"), &j.Verdict.Findings[0], today))
}

func TestErrorsShowThePlace(t *testing.T) {
	t.Parallel()
	_, err := known.Parse("known.yaml", []byte(`known:
  - finding: storm:L33
    reason: because
    expires: 2030-06-31
  - finding: storm:L1:xyz
    reson: because
  - finding: Storm
    reason: ""
    expires: 2030-06-30
    host: h
  - finding: a:L1:0123456789ab:c
    reason: because
    expires: tomorrow
  - {finding: cron, reason: r, expires: 2030-01-01}
  - {finding: cron, reason: r, expires: 2031-01-01}
`))
	require.Error(t, err)
	golden(t, "errors.golden", err.Error()+"\n")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestFilesThatListNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n\n", "# only a comment\n", "known: []\n", "known:\n"} {
		assert.Empty(t, parse(t, text).Entries)
	}
	l, err := known.Load(filepath.Join(t.TempDir(), "known.yaml"), false)
	require.NoError(t, err)
	assert.Empty(t, l.Entries)
	_, err = known.Load(filepath.Join(t.TempDir(), "known.yaml"), true)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// An edit leaves everything else as it stands, comments included.
func TestEditsKeepTheRest(t *testing.T) {
	t.Parallel()
	const text = `# ours
known:
  # asked upstream
  - finding: storm:L1:0123456789ab
    reason: "one" # soon
    expires: 2030-06-15

  # about two
  - finding: cron
    reason: two
    expires: 2030-06-15
  - finding: hang:L4
    reason: three
    expires: 2030-06-15
    sometimes: true

# the end
`
	l := parse(t, text)
	without := func(l known.List, scenario string) known.List {
		t.Helper()
		out, err := l.Without(func(e *known.Entry) bool { return e.Scenario == scenario })
		require.NoError(t, err)
		return out
	}
	assert.Equal(t, `# ours
known:
  # asked upstream
  - finding: storm:L1:0123456789ab
    reason: "one" # soon
    expires: 2030-06-15

  - finding: hang:L4
    reason: three
    expires: 2030-06-15
    sometimes: true

# the end
`, without(l, "cron").Source)
	none := without(without(without(l, "storm"), "hang"), "cron")
	assert.Empty(t, none.Entries)
	assert.Contains(t, none.Source, "known: []")

	j := run("storm", "my host", 0, print1)
	fresh := none.Unlisted([]verdict.Judged{j, run("storm", "my host", 0)}, `say "why": # this`, today.Truncate(24*time.Hour), today)
	require.Len(t, fresh, 1)
	assert.True(t, fresh[0].Sometimes)
	again, err := none.With(fresh...)
	require.NoError(t, err)
	assert.Empty(t, again.Unlisted([]verdict.Judged{j}, "r", today, today))
	assert.Contains(t, again.Source, "# ours")
	more, err := l.With(fresh...)
	require.NoError(t, err)
	assert.Len(t, more.Entries, 4)
	empty := known.List{File: "known.yaml"}
	made, err := empty.With(fresh...)
	require.NoError(t, err)
	golden(t, "fresh.golden", made.Source)
}

// A fresh entry comes in the place of those whose day is over and that listed
// the same, and of no others.
func TestRenewed(t *testing.T) {
	t.Parallel()
	const text = "known:\n" +
		"  - {finding: storm:L1:0123456789ab, host: h, reason: over, expires: 2020-01-01}\n" +
		"  - {finding: storm, reason: over and wide, expires: 2020-01-01}\n" +
		"  - {finding: storm:L1, host: other, reason: over elsewhere, expires: 2020-01-01}\n" +
		"  - {finding: storm:L1, reason: good, expires: 2999-01-01}\n"
	l := parse(t, text)
	fresh := known.Entry{Scenario: "storm", Law: "L1", Fingerprint: print1, Host: "h", Reason: "r", Expires: today.Truncate(24 * time.Hour)}
	edited, over, err := l.Renewed([]known.Entry{fresh}, today)
	require.NoError(t, err)
	assert.Equal(t, []string{"storm:L1:" + print1, "storm"}, []string{over[0].Finding(), over[1].Finding()})
	require.Len(t, edited.Entries, 3)
	assert.Equal(t, []string{"over elsewhere", "good", "r"}, []string{edited.Entries[0].Reason, edited.Entries[1].Reason, edited.Entries[2].Reason})
}

func TestNamed(t *testing.T) {
	t.Parallel()
	e, err := known.Named("storm:L1:"+print1, "r", today)
	require.NoError(t, err)
	assert.Equal(t, known.Entry{Scenario: "storm", Law: "L1", Fingerprint: print1, Reason: "r", Expires: today}, e)
	for _, text := range []string{"", "storm", "storm:L1", "storm:L99:" + print1, "storm:L1:x", "storm:L1:" + print1 + "\n  - {finding: cron, reason: r, expires: 2999-01-01}"} {
		_, err := known.Named(text, "r", today)
		assert.Error(t, err, "%q", text)
	}
}

// A list that can't be edited line by line is left alone.
func TestAnEditThatWouldBreakTheFileIsRefused(t *testing.T) {
	t.Parallel()
	l := parse(t, "known: [{finding: cron, reason: r, expires: 2030-01-01}, {finding: storm, reason: r, expires: 2030-01-01}]\n")
	_, err := l.Without(func(e *known.Entry) bool { return e.Scenario == "storm" })
	require.ErrorContains(t, err, "by hand: line 1: storm")
	_, err = l.With(known.Entry{Scenario: "hang", Reason: "r", Expires: today.Truncate(24 * time.Hour)})
	require.ErrorContains(t, err, "- finding: hang")
}

// TestSchema: the committed schema is what the reader asks, and both say the
// same of what a schema can tell.
func TestSchema(t *testing.T) {
	t.Parallel()
	const page = "../../../docs/schema/known.schema.json"
	yamltest.Schema(t, *update, page, known.Schema())
	schema, err := validator.NewCompiler().Compile(page)
	require.NoError(t, err)
	for text, right := range map[string]bool{
		"known: []\n":                       true,
		"known:\n":                          true,
		"known:\n" + entry("storm", ""):     true,
		"known:\n" + entry("a-b:L10", ""):   true,
		"known:\n" + entry("storm:L33", ""): false,
		"known:\n" + entry(`"storm:"`, ""):  false,
		"known:\n" + entry("Storm", ""):     false,
		"known:\n" + entry("storm:L1:"+print1, "    host: h\n    sometimes: true\n"): true,
		"known:\n" + entry("storm:L1:xyz", ""):                                       false,
		"known:\n" + entry("storm", "    sometimes: maybe\n"):                        false,
		"known:\n" + entry("storm", "    hots: h\n"):                                 false,
		"known:\n  - {finding: storm, reason: r}\n":                                  false,
		"known:\n  - {finding: storm, reason: r, expires: tomorrow}\n":               false,
		"known:\n  - {finding: storm, reason: \"\", expires: 2030-01-31}\n":          false,
		"known:\n  - {finding: storm, reason: r, expires: 2030-01-31}\nknowns: []\n": false,
	} {
		var v any
		require.NoError(t, yaml.Unmarshal([]byte(text), &v), text)
		_, err := known.Parse("known.yaml", []byte(text))
		assert.Equal(t, right, err == nil, "%s%v", text, err)
		err = schema.Validate(v)
		assert.Equal(t, right, err == nil, "%s%v", text, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("known:\n" + entry("storm:L1:"+print1, "")))
	f.Add([]byte("known: [{finding: a, reason: b, expires: 2030-01-01}]"))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := known.Parse("known.yaml", src)
		if err != nil {
			return
		}
		l.Check([]verdict.Judged{run("storm", "h", 0, print1)}, today)
		if out, err := l.Without(func(e *known.Entry) bool { return e.Line%2 == 0 }); err == nil && len(out.Entries) > len(l.Entries) {
			t.Fatal("taking out has added")
		}
	})
}

func playOf(scenario, host string) compare.Play { return compare.Play{Scenario: scenario, Host: host} }

func TestLastDay(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 31, 13, 0, 0, 0, time.UTC)
	day, err := known.LastDay("", now)
	require.NoError(t, err)
	assert.Equal(t, "2030-05-01", day.Format(time.DateOnly))
	day, err = known.LastDay("2030-01-31", now)
	require.NoError(t, err)
	assert.Equal(t, now.Truncate(24*time.Hour), day)
	_, err = known.LastDay("2030-01-30", now)
	require.ErrorContains(t, err, "2030-01-30 is in the past")
	_, err = known.LastDay("soon", now)
	require.ErrorContains(t, err, `"soon" is not a date`)
}

// A list that is saved reads back, also into a folder that is not there yet.
func TestSave(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "not", "there", "known.yaml")
	l, err := known.Load(file, false)
	require.NoError(t, err)
	l, over, err := l.Renewed([]known.Entry{{Scenario: "storm", Law: "L1", Reason: "r", Expires: time.Date(2999, 12, 31, 0, 0, 0, 0, time.UTC)}}, time.Now())
	require.NoError(t, err)
	assert.Empty(t, over)
	require.NoError(t, l.Save(true))
	again, err := known.Load(file, true)
	require.NoError(t, err)
	assert.Equal(t, l, again)
	entries, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing else is left")
}

// TestAnEarlierFingerprint: an entry with a finding's earlier fingerprint is
// about that finding.
func TestAnEarlierFingerprint(t *testing.T) {
	t.Parallel()
	l := parse(t, "known:\n"+entry("storm:L1:"+print2, ""))
	for alias, state := range map[string]known.State{print2: known.Found, "000000000000": known.Stale} {
		j := run("storm", "h", 0, print1)
		j.Verdict.Findings[0].Aliases = []string{alias}
		assert.Equal(t, state, l.Check([]verdict.Judged{j}, today)[0].State)
	}
}

// TestReprinted: an entry with an earlier fingerprint gets the present one, and everything else stays as it was written.
func TestReprinted(t *testing.T) {
	t.Parallel()
	const print3 = "cccccccccccc"
	renamed := func(prints ...string) verdict.Judged { // each of them was print2 once
		j := run("storm", "h", 0, prints...)
		for i := range j.Verdict.Findings {
			j.Verdict.Findings[i].Aliases = []string{print2}
		}
		return j
	}
	const end = "\n    reason: because\n    expires: 2030-06-15\n"
	line := func(print string) string { return "  - finding: storm:L1:" + print }
	for name, c := range map[string]struct {
		list string
		runs []verdict.Judged
		only string
		want string
	}{
		"rewritten": {
			"# storm:L1:" + print2 + "\n  # asked" + "\n" + line(print2) + " # soon" + end + "\n",
			[]verdict.Judged{renamed(print1)},
			"",
			"# storm:L1:" + print2 + "\n  # asked" + "\n" + line(print1) + " # soon" + end + "\n",
		},
		"the right one of two":   {line(print3) + end + line(print2) + end, []verdict.Judged{renamed(print1)}, "", line(print3) + end + line(print1) + end},
		"seen in several runs":   {line(print2) + end, []verdict.Judged{renamed(print1), renamed(print1)}, "", line(print1) + end},
		"one became two":         {line(print2) + end, []verdict.Judged{renamed(print1, print3)}, "", line(print1) + end + line(print3) + "\n    reason: \"because\"\n    expires: 2030-06-15\n"},
		"the old one is there":   {line(print2) + end, []verdict.Judged{renamed(print1), run("storm", "h", 0, print2)}, "", line(print2) + end + line(print1) + "\n    reason: \"because\"\n    expires: 2030-06-15\n"},
		"listed already":         {line(print2) + end + line(print1) + end, []verdict.Judged{renamed(print1)}, "", line(print2) + end + line(print1) + end},
		"not seen":               {line(print2) + end, []verdict.Judged{run("storm", "h", 0)}, "", line(print2) + end},
		"another scenario":       {"  - finding: cron:L1:" + print2 + end, []verdict.Judged{renamed(print1)}, "", "  - finding: cron:L1:" + print2 + end},
		"another host":           {line(print2) + "\n    host: g" + end, []verdict.Judged{renamed(print1)}, "", line(print2) + "\n    host: g" + end},
		"it has its fingerprint": {line(print1) + end, []verdict.Judged{renamed(print1)}, "", line(print1) + end},
		"a whole law":            {"  - finding: storm:L1" + end, []verdict.Judged{renamed(print1)}, "", "  - finding: storm:L1" + end},
		"its day is over":        {line(print2) + strings.Replace(end, "2030-06-15", "2030-06-14", 1), []verdict.Judged{renamed(print1)}, "", line(print2) + strings.Replace(end, "2030-06-15", "2030-06-14", 1)},
		"only its law":           {line(print2) + end, []verdict.Judged{renamed(print1)}, "storm:L1", line(print1) + end},
		"only its old name":      {line(print2) + end, []verdict.Judged{renamed(print1)}, "storm:L1:" + print2, line(print1) + end},
		"only its new name":      {line(print2) + end, []verdict.Judged{renamed(print1)}, "storm:L1:" + print1, line(print1) + end},
		"only another":           {line(print2) + end, []verdict.Judged{renamed(print1)}, "storm:L2", line(print2) + end},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := parse(t, "known:\n"+c.list)
			edited, done, err := l.Reprinted(c.runs, c.only, today)
			require.NoError(t, err)
			assert.Equal(t, "known:\n"+c.want, edited.Source)
			if c.list == c.want {
				assert.Empty(t, done)
				return
			}
			assert.Equal(t, print2, done[0].Old.Fingerprint)
			assert.Equal(t, print1, done[0].New.Fingerprint)
			assert.Empty(t, edited.Unlisted(c.runs, "r", today, today))
		})
	}
	odd := parse(t, "known:\n  - finding: \"storm:\\x4c1:"+print2+"\""+end)
	_, _, err := odd.Reprinted([]verdict.Judged{renamed(print1)}, "", today)
	require.ErrorContains(t, err, "rewrite by hand: line 2: storm:L1:"+print2+" is storm:L1:"+print1+" now")
}
