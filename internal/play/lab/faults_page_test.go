package lab

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/lists"
)

var update = flag.Bool("update", false, "write the tables of faults anew")

const (
	repository = "../../../"
	faultsPage = repository + "docs/use/testing.md"
	tablesHead = "<!-- The tables of faults: written by go test ./internal/play/lab -run TestFaultTables -update. Do not edit. -->\n"
	tablesEnd  = "<!-- The end of the tables of faults. -->\n"
)

// written are the ways in which the kits have a fault: the long form in all languages, and the short forms of Python and Node.
var written = []struct {
	form *regexp.Regexp
	long string
}{
	{regexp.MustCompile("\\b(on=[a-z][^\\s\"'`)]*)"), "$1"},
	{regexp.MustCompile(`server\(([a-z_]+)="([a-z-]+)"\)`), "on=$2,do=$1"},
	{regexp.MustCompile(`server\(\{ ['"]?([a-z_-]+)['"]?: ['"]([a-z-]+)['"] \}\)`), "on=$2,do=$1"},
}

// TestFaultStringsOfThePages has each fault that a page, a README or a comment for users shows read as a kit has it read.
func TestFaultStringsOfThePages(t *testing.T) {
	t.Parallel()
	found := [3]int{}
	for page, least := range map[string]int{
		"docs/use/testing.md": 10, "docs/use/kit-protocol.md": 2, "integrations/python/README.md": 1, "integrations/node/leakbench/README.md": 1,
		"integrations/python/leakbench/lab.py": 1, "integrations/node/leakbench/lab.mjs": 1, "integrations/node/leakbench/index.d.mts": 1,
		"leaktest/lab.go": 1, "examples/reconnect/go/client_test.go": 1, "examples/reconnect/python/test_client.py": 1,
		"examples/reconnect/node/client.test.mjs": 1,
	} {
		text, err := os.ReadFile(repository + page)
		require.NoError(t, err)
		here := 0
		for i, w := range written {
			for _, m := range w.form.FindAllStringSubmatchIndex(string(text), -1) {
				fault := string(w.form.ExpandString(nil, w.long, string(text), m))
				_, err := Script([]string{strings.ReplaceAll(fault, "_", "-")})
				require.NoError(t, err, "%s shows %s", page, text[m[0]:m[1]])
				here++
				found[i]++
			}
		}
		assert.GreaterOrEqual(t, here, least, "%s shows faults, and this test finds none", page)
	}
	assert.NotContains(t, found, 0, "forms that no page shows")
}

// faultWith is the shortest fault string that does this then, with more fields; "" where nothing can.
func faultWith(on, do string, more ...string) string {
	fields := append([]string{"on=" + on, "do=" + do}, more...)
	action := fakeserver.Actions[slices.Index(fakeserver.Names(fakeserver.Actions), do)]
	given := func(field string) bool { return strings.HasPrefix(field, action.Needs+"=") }
	if action.Needs != "" && !slices.ContainsFunc(more, given) {
		fields = append(fields, action.Needs+"="+example(field(action.Needs), action))
	}
	fault := strings.Join(fields, ",")
	if _, err := Script([]string{fault}); err != nil {
		return ""
	}
	return fault
}

func field(name string) fakeserver.Field {
	return fakeserver.Fields[slices.IndexFunc(fakeserver.Fields, func(f fakeserver.Field) bool { return f.Name == name })]
}

// example is a value that a field may have in a fault that does this; "" where there is none.
func example(f fakeserver.Field, action fakeserver.Doc) string {
	switch f.Of(&fakeserver.Fault{}).(type) {
	case *int:
		return fmt.Sprint(max(f.Min, 1))
	case *float64:
		return "0.25"
	case *fakeserver.Duration:
		return "1.5s"
	}
	return append(append(slices.Clone(f.Words), fakeserver.Names(action.As)...), "")[0]
}

// possible are the moments, and the actions that can be had at them, for a test. A break step can have more (on: order).
func possible(docs []fakeserver.Doc, fault func(name, with string) string) (names []string, with map[string][]string) {
	with = map[string][]string{}
	for _, d := range docs {
		for _, other := range d.With {
			if fault(d.Name, other) != "" {
				with[d.Name] = append(with[d.Name], other)
			}
		}
		if len(with[d.Name]) > 0 {
			names = append(names, d.Name)
		}
	}
	return names, with
}

// goesWith says where a key is of use: the actions that take it, or the moments.
func goesWith(f fakeserver.Field) string {
	if f.Name == "on" || f.Name == "do" {
		return "every fault has it"
	}
	var actions, moments []string
	pairs := 0
	for _, a := range fakeserver.Actions {
		for _, on := range a.With {
			if faultWith(on, a.Name) == "" {
				continue
			}
			pairs++
			if value := example(f, a); value == "" || faultWith(on, a.Name, f.Name+"="+value) == "" {
				continue
			}
			pairs--
			if !slices.Contains(actions, a.Name) {
				actions = append(actions, a.Name)
			}
			if !slices.Contains(moments, on) {
				moments = append(moments, on)
			}
		}
	}
	switch {
	case pairs == 0:
		return "any"
	case f.Own:
		return "`do`: " + quoted(actions)
	}
	return "`on`: " + quoted(moments)
}

func quoted(names []string) string {
	return strings.Join(lists.Map(names, func(name string) string { return "`" + name + "`" }), ", ")
}

// valueOf says which values a key may have.
func valueOf(f fakeserver.Field) string {
	switch f.Of(&fakeserver.Fault{}).(type) {
	case *int:
		if f.Max == 0 {
			return fmt.Sprintf("%d or more", f.Min)
		}
		return fmt.Sprintf("%d to %d", f.Min, f.Max)
	case *float64:
		return "more than 0, less than 1"
	case *fakeserver.Duration:
		return "a time: `500ms`, `1.5s`"
	}
	switch f.Name {
	case "on":
		return "a moment, see below"
	case "do":
		return "an action, see below"
	case "as":
		return "a way of the action, see below"
	}
	return quoted(f.Words)
}

func needed(field string) bool {
	return slices.ContainsFunc(fakeserver.Actions, func(d fakeserver.Doc) bool { return d.Needs == field })
}

// tables are what the page has of faults.
func tables() string {
	var b strings.Builder
	b.WriteString("| key | value | | goes with |\n|---|---|---|---|\n")
	for _, f := range fakeserver.Fields {
		what := f.Text
		switch {
		case f.Name == "as":
			what = "the way in which it is done; without it, the first of the action"
		case f.Without != "" && !needed(f.Name) && !strings.Contains(f.Text, "default") && !strings.Contains(f.Text, "without"):
			what += "; without it: " + f.Without
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, valueOf(f), what, goesWith(f))
	}
	moments, _ := possible(fakeserver.Moments, func(on, do string) string { return faultWith(on, do) })
	b.WriteString("\n| `on=` | the moment |\n|---|---|\n")
	for _, d := range fakeserver.Moments {
		if slices.Contains(moments, d.Name) {
			fmt.Fprintf(&b, "| `%s` | %s |\n", d.Name, d.Text)
		}
	}
	actions, at := possible(fakeserver.Actions, func(do, on string) string { return faultWith(on, do) })
	b.WriteString("\n| `do=` | what the server does | `on=` | needs |\n|---|---|---|---|\n")
	var ways strings.Builder
	for _, d := range fakeserver.Actions {
		if !slices.Contains(actions, d.Name) {
			continue
		}
		needs := ""
		if d.Needs != "" {
			needs = "`" + d.Needs + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Text, quoted(at[d.Name]), needs)
		for _, way := range d.As {
			fmt.Fprintf(&ways, "| `%s` | `%s` | %s |\n", d.Name, way.Name, way.Text)
		}
	}
	b.WriteString("\n| `do=` | `as=` | |\n|---|---|---|\n" + ways.String())
	return b.String()
}

// TestFaultTables holds the tables of the page to the fake server.
func TestFaultTables(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(faultsPage)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), tablesHead)
	require.True(t, ok, "docs/use/testing.md has no line %q", tablesHead)
	old, after, ok := strings.Cut(rest, tablesEnd)
	require.True(t, ok, "docs/use/testing.md has no line %q", tablesEnd)
	want := "\n" + tables() + "\n"
	if *update {
		require.NoError(t, os.WriteFile(faultsPage, []byte(before+tablesHead+want+tablesEnd+after), 0o644))
		return
	}
	assert.Equal(t, want, old, "the tables of faults in docs/use/testing.md are stale: go test ./internal/play/lab -run TestFaultTables -update")
}

// TestTheTablesNameAllThatIsRead asks the reader itself which keys and values there are, and looks for a row of each.
func TestTheTablesNameAllThatIsRead(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(faultsPage)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(page), tablesHead)
	text, _, _ := strings.Cut(rest, tablesEnd)
	rows := strings.Split(text, "\n")
	has := func(start string) bool {
		return slices.ContainsFunc(rows, func(row string) bool { return strings.HasPrefix(row, start) })
	}
	for _, f := range fakeserver.Fields {
		assert.True(t, has("| `"+f.Name+"` | "), "no row of the key %s", f.Name)
	}
	_, err = Script([]string{"on=eof,do=ignore,nonsense=1"})
	for _, f := range fakeserver.Fields { // the message has the keys that the reader knows
		require.ErrorContains(t, err, f.Name)
	}
	for _, tool := range fakeserver.Tools {
		assert.NotEmpty(t, faultWith("call", "hang", "tool="+tool))
		assert.True(t, regexp.MustCompile("(?m)^\\| `tool` \\|[^|]*`"+tool+"`").MatchString(text), "the row of the key tool lacks %s", tool)
	}
	readable := 0
	for _, a := range fakeserver.Actions {
		for _, m := range fakeserver.Moments {
			row := regexp.MustCompile("(?m)^\\| `" + a.Name + "` \\|[^|]*\\|[^|]*`" + m.Name + "`")
			fault := faultWith(m.Name, a.Name)
			assert.Equal(t, fault != "", row.MatchString(text), "on=%s,do=%s: what the reader takes, and what the table of actions says", m.Name, a.Name)
			if fault == "" {
				continue
			}
			readable++
			assert.True(t, has("| `"+m.Name+"` | "), "no row of the moment %s", m.Name)
			for _, way := range a.As {
				assert.NotEmpty(t, faultWith(m.Name, a.Name, "as="+way.Name))
				assert.True(t, has("| `"+a.Name+"` | `"+way.Name+"` | "), "no row of do=%s,as=%s", a.Name, way.Name)
			}
		}
	}
	assert.Greater(t, readable, 100)
}
