package known_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// What became of an entry is said with what to do about it.
func TestWhatBecameOfAnEntry(t *testing.T) {
	t.Parallel()
	l := parse(t, "known:\n"+entry("storm:L1", ""))
	often := parse(t, "known:\n"+entry("storm:L1", "    sometimes: true\n"))
	for _, c := range []struct {
		list known.List
		runs []verdict.Judged
		now  time.Time
		bad  bool
		want string
	}{
		{l, []verdict.Judged{run("storm", "h", 0, print1), run("storm", "h", 0)}, today, false, "found in 1 of the runs, good until 2030-06-15"},
		{l, []verdict.Judged{run("storm", "h", 0)}, today, true, "listed, but no longer found: remove it from the list"},
		{l, []verdict.Judged{run("storm", "h", 0, print1)}, today.Add(time.Hour), true, "expired on 2030-06-15, and still found: fix it, or give it a new date"},
		{l, []verdict.Judged{run("storm", "h", 0)}, today.Add(time.Hour), true, "expired on 2030-06-15: fix it and take it out, or give it a new date"},
		{l, []verdict.Judged{run("storm", "h", 1)}, today, false, "not found, but its runs could not be decided"},
		{l, nil, today, false, "not run, good until 2030-06-15"},
		{often, []verdict.Judged{run("storm", "h", 0)}, today, false, "not found this time, good until 2030-06-15"},
	} {
		checked := c.list.Check(c.runs, c.now)
		assert.Equal(t, c.want, checked[0].Text())
		assert.Equal(t, c.bad, checked[0].Bad(), c.want)
	}
	assert.Equal(t, "1 entry", l.Size())
	two := parse(t, "known:\n"+entry("storm", "")+entry("cron", ""))
	assert.Equal(t, "2 entries", two.Size())
}

// What is stale is taken out, and nothing else: not what was not played, was in doubt, or is over.
func TestPruned(t *testing.T) {
	t.Parallel()
	l := parse(t, "known:\n"+entry("storm:L1", "")+entry("cron", "")+entry("hang", "")+entry("storm:L2", "    sometimes: true\n"))
	edited, stale, err := l.Pruned([]verdict.Judged{run("storm", "h", 0), run("hang", "h", 1)})
	require.NoError(t, err)
	require.Len(t, stale, 1)
	assert.Equal(t, "storm:L1", stale[0].Finding())
	assert.Equal(t, "known:\n"+entry("cron", "")+entry("hang", "")+entry("storm:L2", "    sometimes: true\n"), edited.Source)
	again, stale, err := edited.Pruned([]verdict.Judged{run("storm", "h", 0, print1)})
	require.NoError(t, err)
	assert.Empty(t, stale)
	assert.Equal(t, edited, again)
}

// Errors alone are added, each for its host; one that not each run of its play shows may be absent.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	warned := run("storm", "h", 0, print2)
	warned.Verdict.Findings[0].Severity = record.SeverityWarning
	l := parse(t, "known:\n"+entry("cron", ""))
	day := today.Truncate(24 * time.Hour)
	fresh := l.Unlisted([]verdict.Judged{run("storm", "h", 0, print1), warned, run("cron", "h", 0, print1), run("hang", "g", 0, print2)}, "r", day, today)
	assert.Equal(t, []known.Entry{
		{Scenario: "storm", Law: "L1", Fingerprint: print1, Host: "h", Reason: "r", Expires: day, Sometimes: true},
		{Scenario: "hang", Law: "L1", Fingerprint: print2, Host: "g", Reason: "r", Expires: day},
	}, fresh)
}

// A person may name what he wants to be added; what is named in full needs no run where no run was named.
func TestFresh(t *testing.T) {
	t.Parallel()
	seen := []verdict.Judged{run("storm", "h", 0, print1, print2), run("cron", "h", 0, print1)}
	e := known.Entry{Reason: "r", Expires: today}
	const full = "hang:L1:" + print1
	for name, c := range map[string]struct {
		list     string
		runs     []verdict.Judged
		only     string
		anywhere bool
		want     []string
		named    bool
	}{
		"all":                             {"", seen, "", false, []string{"storm:L1:" + print1, "storm:L1:" + print2, "cron:L1:" + print1}, false},
		"of a scenario":                   {"", seen, "storm", false, []string{"storm:L1:" + print1, "storm:L1:" + print2}, false},
		"not of one whose name is longer": {"", seen, "stor", false, nil, false},
		"one":                             {"", seen, "storm:L1:" + print2, true, []string{"storm:L1:" + print2}, false},
		"listed already":                  {entry("storm", "") + entry("cron", ""), seen, "", false, nil, false},
		"listed already, and named":       {entry("storm", ""), seen, "storm:L1:" + print1, true, nil, false},
		"of another machine":              {"", nil, full, true, []string{full}, true},
		"of another machine, and a run":   {"", seen, full, false, nil, false},
		"beside the newest gate":          {"", seen, full, true, []string{full}, true},
		"not named in full":               {"", nil, "hang:L1", true, nil, false},
		"nothing is named":                {"", nil, "", true, nil, false},
		"listed by its law":               {entry("hang:L1", ""), nil, full, true, nil, true},
		"another one is listed":           {entry("hang:L1:"+print2, ""), nil, full, true, []string{full}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := parse(t, "known:\n"+c.list)
			fresh, named := l.Fresh(c.runs, e, c.only, c.anywhere, today)
			var got []string
			for i := range fresh {
				got = append(got, fresh[i].Finding())
				assert.Equal(t, "r", fresh[i].Reason)
				assert.Equal(t, today, fresh[i].Expires)
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.named, named)
		})
	}
	over := parse(t, "known:\n"+entry("hang:L1", ""))
	fresh, named := over.Fresh(nil, e, full, true, today.Add(time.Hour))
	assert.Len(t, fresh, 1, "an entry whose day is over lists nothing")
	assert.True(t, named)
}

// Entries are added in the way in which those that are there are written.
func TestEntriesAreAddedAsTheOthersAreWritten(t *testing.T) {
	t.Parallel()
	fresh := known.Entry{Scenario: "hang", Reason: "r", Expires: today.Truncate(24 * time.Hour)}
	for _, indent := range []string{"", "  ", "      "} {
		l := parse(t, "known:\n"+indent+"- finding: storm\n"+indent+"  reason: r\n"+indent+"  expires: 2030-06-15\n")
		edited, err := l.With(fresh)
		require.NoError(t, err)
		assert.Equal(t, l.Source+indent+"- finding: hang\n"+indent+"  reason: \"r\"\n"+indent+"  expires: 2030-06-15\n", edited.Source)
		again, err := edited.Without(func(e *known.Entry) bool { return e.Scenario == "hang" })
		require.NoError(t, err)
		assert.Equal(t, l.Source, again.Source)
	}
	// What stands below the last entry is no part of it, but what stands in it is.
	l := parse(t, "known:\n  - {finding: cron, reason: r, expires: 2030-06-15}\n"+entry("storm", "    # sometimes: true\n")+"\n# the end\n")
	edited, err := l.Without(func(e *known.Entry) bool { return e.Scenario == "storm" })
	require.NoError(t, err)
	assert.Equal(t, "known:\n  - {finding: cron, reason: r, expires: 2030-06-15}\n\n# the end\n", edited.Source)
	// A comment as far left as the dashes is about what comes next.
	l = parse(t, "known:\n"+entry("cron", "")+entry("storm", "")+"  # more to come\n")
	edited, err = l.Without(func(e *known.Entry) bool { return e.Scenario == "storm" })
	require.NoError(t, err)
	assert.Equal(t, "known:\n"+entry("cron", "")+"  # more to come\n", edited.Source)
	l = parse(t, "known:\n")
	same, err := l.Without(func(*known.Entry) bool { return true })
	require.NoError(t, err)
	assert.Equal(t, l.Source, same.Source, "what lists nothing is left as it is written")
}

// Only entries that would list the fresh one make room for it, and a list that can't be edited is left alone.
func TestWhatMakesRoom(t *testing.T) {
	t.Parallel()
	fresh := []known.Entry{{Scenario: "storm", Law: "L1", Fingerprint: print1, Host: "h", Reason: "r", Expires: today.Truncate(24 * time.Hour)}}
	l := parse(t, "known:\n"+
		"  - {finding: cron, reason: r, expires: 2020-01-01}\n"+
		"  - {finding: storm:L2, reason: r, expires: 2020-01-01}\n"+
		"  - {finding: storm:L1:"+print2+", reason: r, expires: 2020-01-01}\n")
	_, over, err := l.Renewed(fresh, today)
	require.NoError(t, err)
	assert.Empty(t, over)
	l = parse(t, "known: [{finding: cron, reason: r, expires: 2030-06-15}, {finding: storm, reason: r, expires: 2020-01-01}]\n")
	_, _, err = l.Renewed(fresh, today)
	require.ErrorContains(t, err, "take out by hand: line 1: storm")
	same, over, err := l.Renewed(nil, today)
	require.NoError(t, err)
	assert.Empty(t, over)
	assert.Equal(t, l, same)
}

// The finding is renamed where it stands in its entry, and nowhere else.
func TestRenamedWhereItStands(t *testing.T) {
	t.Parallel()
	j := run("storm", "h", 0, print1)
	j.Verdict.Findings[0].Aliases = []string{print2}
	old, now := "storm:L1:"+print2, "storm:L1:"+print1
	text := func(print string) string {
		return "known:\n  - expires: 2030-06-15\n    # " + old + "\n    finding: " + print + "\n    reason: was " + old + "\n"
	}
	l := parse(t, text(old))
	edited, _, err := l.Reprinted([]verdict.Judged{j, run("storm", "g", 0), run("cron", "h", 0, print2)}, "", today)
	require.NoError(t, err)
	assert.Equal(t, text(now), edited.Source)
	// Where the present name has an entry whose day is over, the old one is renamed all the same.
	l = parse(t, text(old)+"  - {finding: "+now+", host: h, reason: r, expires: 2020-01-01}\n")
	edited, done, err := l.Reprinted([]verdict.Judged{j}, "", today)
	require.NoError(t, err)
	assert.Len(t, done, 1)
	assert.Equal(t, now, edited.Entries[0].Finding())
	// One for any host, whose day is over, lists the present name no more.
	l = parse(t, text(old)+"    host: h\n  - {finding: "+now+", reason: r, expires: 2020-01-01}\n")
	_, done, err = l.Reprinted([]verdict.Judged{j}, "", today)
	require.NoError(t, err)
	assert.Len(t, done, 1)
}

// TestScenariosThatThereAreNot: where all scenarios are known, one of another name is a slip, or one of one's own.
func TestScenariosThatThereAreNot(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"storm": "", "strom": `there is no scenario "strom"; did you mean storm?`, "banana": `there is no scenario "banana"; if it is one of your own`,
	} {
		_, err := known.Parse("known.yaml", []byte("known:\n"+entry(name, "")), "storm", "cron")
		if says == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, says)
		}
		_, err = known.Parse("known.yaml", []byte("known:\n"+entry(name, "")))
		require.NoError(t, err, "nobody knows which there are")
	}
}

// TestEachMistakeIsToldOnce: what can't be read is not held against what it should have been, nor against another entry.
func TestEachMistakeIsToldOnce(t *testing.T) {
	t.Parallel()
	const rest = ", reason: r, expires: 2030-06-15}\n"
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"no text":         {"  - {finding: 3" + rest, []string{"this must be a finding, scenario, scenario:law or scenario:law:fingerprint, not 3 (a number)"}},
		"two of no text":  {"  - {finding: 3" + rest + "  - {finding: 4" + rest, []string{"this must be a finding", "this must be a finding"}},
		"too many parts":  {"  - {finding: a:b:c:d" + rest, []string{`"a:b:c:d" has 4 parts`}},
		"a day of no day": {"  - {finding: storm, reason: r, expires: 5}\n", []string{"this must be a day like 2030-01-31"}},
	} {
		_, err := known.Parse("known.yaml", []byte("known:\n"+c.text))
		var all yamlfile.Errors
		require.ErrorAs(t, err, &all, name)
		if assert.Len(t, all, len(c.says), "%s: %v", name, all) {
			for i, says := range c.says {
				assert.Contains(t, all[i].Message, says, name)
			}
		}
	}
}

func TestFilesThatCannotBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := known.Load(dir, false)
	require.ErrorContains(t, err, "failed to read the known findings", "a folder is no list")
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	below := known.List{File: filepath.Join(file, "known.yaml")}
	require.ErrorContains(t, below.Save(true), "mkdir", "a file is no folder")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "known.yaml"), 0o700))
	blocked := known.List{File: filepath.Join(dir, "known.yaml")}
	require.Error(t, blocked.Save(true))
}
