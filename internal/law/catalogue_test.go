package law

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// TestTexts: each file of texts is read, each phrase that a text names is there, and each phrase is used.
func TestTexts(t *testing.T) {
	t.Parallel()
	files, err := texts.ReadDir("texts")
	require.NoError(t, err)
	tables, used := 0, map[string]bool{}
	for _, file := range files {
		src, err := texts.ReadFile("texts/" + file.Name())
		require.NoError(t, err)
		tables += strings.Count(string(src), "\n[[") - strings.Count(string(src), "\n[[kind.findings]]")
		for _, place := range phrase.FindAllString(string(src), -1) {
			used[place] = true
			assert.NotEmpty(t, all().Phrases[strings.Trim(place, "<>")], "%s names the phrase %s", file.Name(), place)
		}
	}
	for name := range all().Phrases {
		assert.True(t, used["<<"+name+">>"], "no text has the phrase %s", name)
	}
	c := all()
	assert.Equal(t, tables, len(c.Laws)+len(c.servers)+len(c.Kinds)+len(c.Doubts)+len(c.Causes)+len(c.Duties), "a file that nobody reads")
}

// TestTheWordsOfTexts: where a text stands for a code, the code exists.
func TestTheWordsOfTexts(t *testing.T) {
	t.Parallel()
	severities := []record.Severity{"", record.SeverityError, record.SeverityWarning}
	causes := append([]record.Cause{"", record.Cause(record.OpCall)}, allCauses...)
	for _, l := range append(All(), Servers()...) {
		assert.Contains(t, severities, l.Severity, l.ID)
		assert.Contains(t, []Subject{"", Left, Harmed, Unreaped, Faulty}, l.Shows, l.ID)
	}
	for _, k := range Kinds() {
		assert.Contains(t, severities, k.Severity, k.ID)
		assert.Regexp(t, "^[A-Z]$", k.Class, k.ID)
		for _, w := range k.Findings {
			assert.Contains(t, causes, w.Cause, k.ID)
			assert.Contains(t, append(EveryID(), ""), w.Law, k.ID)
		}
	}
	for _, id := range timed {
		assert.NotEmpty(t, KindOf(id).Law, "%s is no kind", id)
	}
	for _, d := range all().Duties {
		assert.Contains(t, []record.Duty{Untold, record.DutyLibrary, record.DutyApplication, record.DutyGateway}, d.Host)
		for _, c := range d.Causes {
			assert.Contains(t, causes, c)
		}
	}
}
