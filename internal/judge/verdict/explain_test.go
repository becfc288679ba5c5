package verdict

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/laws.md anew")

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"L3", "l3", " no collateral "} {
		text, err := Explain(id)
		require.NoError(t, err)
		assert.Contains(t, text, "L3 no collateral\n")
		assert.Contains(t, text, "terminated")
	}
	text, err := Explain("superseded")
	require.NoError(t, err)
	assert.Contains(t, text, "breaks L1 flat")
	assert.Contains(t, text, "NousResearch/hermes-agent#11202")
	for line := range strings.Lines(text) {
		assert.LessOrEqual(t, len(line), explainWidth+1)
	}
}

func TestExplainSuggests(t *testing.T) {
	t.Parallel()
	_, err := Explain("supersede")
	require.ErrorContains(t, err, "did you mean superseded?")
	_, err = Explain("L33\x1b[2J")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "\x1b")
	_, err = Explain("something else entirely")
	assert.EqualError(t, err, `there is no law or kind "something else entirely"`)
}

func TestTheCatalogueIsWhole(t *testing.T) {
	t.Parallel()
	kinds, laws, also := map[string]Kind{}, map[string]bool{}, 0
	for _, k := range Kinds() {
		assert.NotContains(t, kinds, k.ID)
		kinds[k.ID] = k
		also += len(k.Also)
		for name, text := range map[string]string{"class": k.Class, "title": k.Title, "signature": k.Signature, "why": k.Why, "fix": k.Fix} {
			assert.NotEmpty(t, text, "%s of %s", name, k.ID)
		}
		assert.True(t, strings.HasSuffix(k.Why, ".") && strings.HasSuffix(k.Fix, "."), k.ID)
		for _, id := range k.Reports {
			assert.NotEmpty(t, Thread(id), "%s of %s", id, k.ID)
		}
		assert.IsIncreasing(t, k.Reports, k.ID)
	}
	listed := 0
	for _, l := range Laws() {
		laws[l.ID] = true
		listed += len(l.Kinds)
		for _, id := range l.Kinds {
			assert.Contains(t, append([]string{kinds[id].Law}, kinds[id].Also...), l.ID, id)
		}
		assert.NotNil(t, judges[l.ID], l.ID)
		assert.NotNil(t, tellers[l.ID], l.ID)
	}
	assert.Equal(t, len(kinds)+also, listed, "each kind is listed by its law")
	assert.Empty(t, Thread("R999"))
}

const lawsFile = "../../../docs/laws.md"

func TestDocsAreUpToDate(t *testing.T) {
	t.Parallel()
	want := lawsPage()
	if *update {
		require.NoError(t, os.WriteFile(lawsFile, []byte(want), 0o644))
	}
	got, err := os.ReadFile(lawsFile)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "docs/laws.md is stale: go test ./internal/judge/verdict -run TestDocs -update")
}

func lawsPage() string {
	var b strings.Builder
	b.WriteString("# The laws, and the ways to break them\n\n<!-- Written by the tests of internal/judge/verdict (-update). Do not edit. -->\n\n" +
		"What a correct host obeys. The ids are stable; `leakbench explain L3` and `leakbench explain superseded` print the same.\n\n| law | | says |\n|---|---|---|\n")
	for _, l := range Laws() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", l.ID, anchor(l), l.Name, l.Says)
	}
	for _, l := range Laws() {
		fmt.Fprintf(&b, "\n## %s: %s\n\n%s\n\n%s\n", l.ID, l.Name, l.Says, l.Why)
		var elsewhere []string
		for _, id := range l.Kinds {
			if k := kindOf(id); k.Law == l.ID {
				writeKind(&b, k)
			} else {
				elsewhere = append(elsewhere, fmt.Sprintf("[%s](#%s)", id, id))
			}
		}
		if len(elsewhere) > 0 {
			fmt.Fprintf(&b, "\nAlso: %s.\n", strings.Join(elsewhere, ", "))
		}
	}
	return b.String()
}

func writeKind(b *strings.Builder, k Kind) {
	var reports []string
	for _, id := range k.Reports {
		repo, number, _ := strings.Cut(Thread(id), "#")
		reports = append(reports, fmt.Sprintf("[%s](https://github.com/%s/issues/%s)", id, repo, number))
	}
	fmt.Fprintf(b, "\n### %s\n\n%s.\n\n- **Seen as:** %s.\n- **Why:** %s\n- **Fix:** %s\n- **In the field:** %s\n",
		k.ID, capital(k.Title), k.Signature, k.Why, k.Fix, strings.Join(reports, " "))
}

func anchor(l Law) string {
	return strings.ToLower(l.ID) + "-" + strings.ReplaceAll(l.Name, " ", "-")
}
