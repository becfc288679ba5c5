package law

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

var update = flag.Bool("update", false, "write docs/understand/laws.md anew")

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
	assert.EqualError(t, err, `there is no law, kind or doubt "something else entirely"`)
}

// slots are what the judge fills in: for all laws, and for one.
var slots = map[string][]string{
	"":   {"label", "comm", "name", "cause", "value", "settle", "fast", "checkpoint"},
	"L3": {"pid", "server", "group", "how", "at"},
	"L1": {"alive", "seen", "slowest", "wanted"}, "L6": {"limit"}, "L7": {"limit"}, "L8": {"limit", "of"}, "L9": {"grace", "ladder"},
}

func TestTheCatalogueIsWhole(t *testing.T) {
	t.Parallel()
	kinds, also := map[string]Kind{}, 0
	for _, k := range Kinds() {
		assert.NotContains(t, kinds, k.ID)
		kinds[k.ID] = k
		also += len(k.Also)
		whole(t, "kind "+k.ID, k, "Also", "Busy", "Early", "Severity", "Windows")
		assert.True(t, strings.HasSuffix(k.Why, ".") && strings.HasSuffix(k.Fix, "."), k.ID)
		for _, id := range k.Reports {
			assert.NotEmpty(t, Thread(id), "%s of %s", id, k.ID)
		}
		assert.IsIncreasing(t, k.Reports, k.ID)
		for _, law := range append([]string{k.Law}, k.Also...) {
			assert.Contains(t, Of(law).Kinds, k.ID, "%s does not list its kind", law)
			wording(t, k, law)
		}
	}
	listed := 0
	for _, l := range append(All(), Servers()...) {
		listed += len(l.Kinds)
		whole(t, "law "+l.ID, l, "Shows", "Expected", "Found") // those may be the kinds'
		assert.Equal(t, l.Name, Of(l.ID).Name)
		for _, id := range l.Kinds {
			assert.Contains(t, append([]string{kinds[id].Law}, kinds[id].Also...), l.ID, "%s lists %s, which is no kind of it", l.ID, id)
		}
	}
	assert.Equal(t, len(kinds)+also, listed, "each kind is listed by its law")
	assert.Empty(t, Thread("R999"))
	assert.Equal(t, Law{ID: "L0"}, Of("L0"))
	assert.Equal(t, Kind{ID: "of tomorrow"}, KindOf("of tomorrow"))
}

// whole asks for each field of an entry, and names the one that is not there.
func whole(t *testing.T, name string, entry any, optional ...string) {
	t.Helper()
	v := reflect.ValueOf(entry)
	for i := range v.NumField() {
		if field := v.Type().Field(i).Name; !slices.Contains(optional, field) {
			assert.False(t, v.Field(i).IsZero(), "%s has no %s", name, field)
		}
	}
}

// wording asks for what a finding of the kind says under a law, for each cause
// that has words of its own, with slots that somebody fills.
func wording(t *testing.T, k Kind, law string) {
	t.Helper()
	for _, own := range append(k.Findings, Wording{}) {
		w := k.Wording(law, own.Cause)
		whole(t, "the wording of "+k.ID+" under "+law, w, "Law", "Cause", "Value", "Narrative")
		for _, m := range regexp.MustCompile(`\{([^}|]*)\}`).FindAllStringSubmatch(w.Title+w.Expected+w.Found+w.Value+w.Narrative, -1) {
			if !strings.HasPrefix(m[1], "n ") {
				assert.Contains(t, append(slots[""], slots[law]...), m[1], "%s under %s has a slot that nobody fills", k.ID, law)
			}
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	const template = "{n process} of {label} {was|were} left{of}"
	assert.Equal(t, "1 process of a was left", Fill(template, 1, Values{"label": "a"}))
	assert.Equal(t, "2 processes of a{b} were left, of c", Fill(template, 2, Values{"label": "a{b}", "of": ", of c"}))
}

// What a title shows of a cause is in the catalogue, but for what has a part of
// the run in it; what is only hashed has no text.
func TestCauses(t *testing.T) {
	t.Parallel()
	for _, c := range allCauses {
		assert.Equal(t, CauseOf(c) != Cause{}, !slices.Contains(hashedAlone, c), "%q", c)
	}
	assert.Len(t, all().Causes, len(allCauses)-len(hashedAlone), "a cause that record does not know")
}

// allCauses are those that have no part of the run in them.
var allCauses = []record.Cause{
	record.CauseSessionUnknown, record.CauseSessionOpen, record.CauseSessionClosed, record.CauseSessionForgotten, record.CauseCloseFailed, record.CauseOpenFailed,
	record.CauseCallCancelled, record.CauseCallTimedOut, record.CauseJobDone, record.CauseReconnect, record.CauseReload, record.CauseSideBySide, record.CauseNoFault,
	record.CauseHostKilled, record.CauseHostAsked, record.CauseHostEnded, record.CauseHostAtWork, record.CauseHostEnding, record.CauseAfterHost, record.CauseSessionInUse,
	record.CauseSessionAtWork, record.CauseAtCheckpoint, record.CausePerCycle, record.CauseHost, record.CauseServer, record.CausePerSession, record.CausePerMinute, record.CausePerRequest,
	record.CauseNoWord, record.CauseTooEarly, record.CauseHeldByEnded, record.CauseHeldByPrevious,
	record.CauseIdle, record.CauseBeforeInitialize, record.CauseLauncherGone, record.CauseWatched,
}

var hashedAlone = []record.Cause{
	record.CauseHostEnded, record.CauseAtCheckpoint, record.CausePerCycle, record.CauseHost, record.CauseServer,
	record.CausePerSession, record.CausePerMinute, record.CausePerRequest, record.CauseNoWord, record.CauseTooEarly,
}

// TestDoubts holds the catalogue to the codes of package record: each has a row, in the same order.
func TestDoubts(t *testing.T) {
	t.Parallel()
	source, err := parser.ParseFile(token.NewFileSet(), "../record/doubt.go", nil, 0)
	require.NoError(t, err)
	var want, got []string
	ast.Inspect(source, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			want = append(want, code)
		}
		return true
	})
	for _, d := range Doubts() {
		got = append(got, string(d.Code))
		whole(t, "the doubt "+string(d.Code), d, "Launched")
		text, err := Explain(string(d.Code))
		require.NoError(t, err)
		assert.Contains(t, text, "inconclusive")
		assert.Equal(t, d, DoubtOf(d.Code))
	}
	assert.NotEmpty(t, want)
	assert.Equal(t, want, got)
	assert.Equal(t, Doubt{Code: "later"}, DoubtOf("later"))
	short := DoubtOf(record.DoubtNotLaunched)
	assert.Contains(t, short.Advice(false), "configuration")
	assert.NotContains(t, short.Advice(true), "configuration", "it was right")
	assert.Contains(t, short.Advice(true), "already there")
	assert.Equal(t, DoubtOf(record.DoubtSweep).Do, DoubtOf(record.DoubtSweep).Advice(true))
}

const lawsFile = "../../docs/understand/laws.md"

func TestDocsAreUpToDate(t *testing.T) {
	t.Parallel()
	want := lawsPage()
	if *update {
		require.NoError(t, os.WriteFile(lawsFile, []byte(want), 0o644))
	}
	got, err := os.ReadFile(lawsFile)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "docs/understand/laws.md is stale: go test ./internal/law -run TestDocs -update")
}

func lawsPage() string {
	var b strings.Builder
	b.WriteString("# The laws, and the ways to break them\n\n<!-- Written by the tests of internal/law (-update). Do not edit. -->\n\n" +
		"What a correct host obeys. The ids are stable; `leakbench explain L3` and `leakbench explain superseded` print the same.\n\n| law | | says |\n|---|---|---|\n")
	writeLaws(&b, All())
	b.WriteString("\n## The laws for servers\n\nWhat a correct server obeys: [`leakbench server`](../use/servers.md) judges it.\n\n| law | | says |\n|---|---|---|\n")
	writeLaws(&b, Servers())
	b.WriteString("\n## Doubts\n\nA doubt is something that leakbench could not do, see or decide. A run without findings that has one is *inconclusive*, " +
		"never clean.\n`leakbench explain starved` prints the same.\n\n| doubt | means | what to do |\n|---|---|---|\n")
	for _, d := range Doubts() {
		do := d.Do
		if d.Launched != "" {
			do += " Where each server was launched at least once: " + d.Launched
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d.Code, d.Means, do)
	}
	return b.String()
}

func writeLaws(b *strings.Builder, laws []Law) {
	for _, l := range laws {
		fmt.Fprintf(b, "| [%s](#%s) | %s | %s |\n", l.ID, anchor(l), l.Name, l.Says)
	}
	for _, l := range laws {
		fmt.Fprintf(b, "\n## %s: %s\n\n%s\n\n%s\n", l.ID, l.Name, l.Says, l.Why)
		var elsewhere []string
		for _, id := range l.Kinds {
			if k := KindOf(id); k.Law == l.ID {
				writeKind(b, k)
			} else {
				elsewhere = append(elsewhere, fmt.Sprintf("[%s](#%s)", id, id))
			}
		}
		if len(elsewhere) > 0 {
			fmt.Fprintf(b, "\nAlso: %s.\n", strings.Join(elsewhere, ", "))
		}
	}
}

func writeKind(b *strings.Builder, k Kind) {
	var reports []string
	for _, id := range k.Reports {
		repo, number, _ := strings.Cut(Thread(id), "#")
		reports = append(reports, fmt.Sprintf("[%s](https://github.com/%s/issues/%s)", id, repo, number))
	}
	onWindows := ""
	if fix := k.FixOn(record.Windows); fix != k.Fix {
		onWindows = "- **Fix on Windows:** " + fix + "\n"
	}
	fmt.Fprintf(b, "\n### %s\n\n%s.\n\n- **Seen as:** %s.\n- **Why:** %s\n- **Fix:** %s\n%s- **In the field:** %s\n",
		k.ID, strings.ToUpper(k.Title[:1])+k.Title[1:], k.Signature, k.Why, k.Fix, onWindows, strings.Join(reports, " "))
}

func anchor(l Law) string {
	return strings.ToLower(l.ID + "-" + strings.ReplaceAll(l.Name, " ", "-"))
}

// neverThere is what Windows does not have. A fix must not tell anybody there to use it.
var neverThere = regexp.MustCompile(`SIG[A-Z]{3,}|killpg|setsid|waitpid|pidfd|process group|signal|cgroup|PR_SET|/dev/`)

// unfound are the kinds that no run on Windows can show.
var unfound = []string{"zombie", "late-reaped", "bystander", "signal-first"}

func TestFixesOnWindows(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		if strings.HasPrefix(k.Law, "S") || slices.Contains(unfound, k.ID) {
			continue
		}
		for _, w := range k.Findings {
			said := Fill(w.Title+w.Expected+w.Found+w.Value+w.Narrative, 1, Values{"ladder": LadderOn(record.Windows)})
			if k.ID != "terminated" && k.ID != "recycled" {
				assert.Empty(t, neverThere.FindString(said), "%s: %s", k.ID, said)
			}
		}
		assert.Empty(t, neverThere.FindString(k.FixOn(record.Windows)), k.ID)
	}
}
