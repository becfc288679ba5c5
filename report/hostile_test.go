package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	htmlpage "github.com/leakbench/leakbench/report/page"
	"github.com/leakbench/leakbench/report/terminal"
	"github.com/leakbench/leakbench/report/words"
)

// poison is what a hostile process would like to get into a report.
const poison = "mark7q<script>alert(1)</script></title></style></svg>\" onload=\"x' \x1b[31m\x1b]0;t\a\u202eabc\u2066\u200b\u0085\x00\x7f\xff\n::error::pwned\r\n##[error]pwned\U000e0041`${x}"

// fields visits every string below v, with the path of its field.
func fields(v reflect.Value, path string, visit func(path string, s reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		visit(path, v)
	case reflect.Pointer:
		if !v.IsNil() {
			fields(v.Elem(), path, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fields(v.Index(i), path, visit)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if v.MapIndex(k).Kind() == reflect.String {
				c := reflect.New(v.Type().Elem()).Elem()
				c.Set(v.MapIndex(k))
				visit(path, c)
				v.SetMapIndex(k, c)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fields(v.Field(i), v.Type().Name()+"."+f.Name, visit)
			}
		}
	}
}

// poisoned is the sample runs with the poison behind every string of a field,
// or of every field but those that say what a record is.
func poisoned(only string) []verdict.Judged { return poisonedBy(poison, only) }

func poisonedBy(poison, only string) []verdict.Judged {
	runs := []verdict.Judged{storm("naive", true, 2), cron()}
	for i := range runs {
		fields(reflect.ValueOf(&runs[i]), "", func(path string, s reflect.Value) {
			if path == only || only == "" && !says[path] {
				s.SetString(s.String() + poison)
			}
		})
	}
	return runs
}

// says are fields without which a record means nothing. They are poisoned one
// by one only.
var says = map[string]bool{
	"Event.Kind": true, "Step.Op": true, "Session.State": true, "RPCInfo.Method": true, "RPCInfo.Phase": true,
	"Verdict.Outcome": true, "Finding.Law": true, "Finding.Severity": true, "LawResult.Status": true, "Process.State": true, "Host.Kind": true,
}

func everyField() []string {
	seen := map[string]bool{}
	var out []string
	for _, j := range poisoned("none") {
		fields(reflect.ValueOf(&j), "", func(path string, _ reflect.Value) {
			if !seen[path] {
				seen[path] = true
				out = append(out, path)
			}
		})
	}
	return append(out, "")
}

var ownColour = regexp.MustCompile("\x1b\\[[0-9;]+m")

func TestNothingHostileComesThrough(t *testing.T) {
	t.Parallel()
	all := everyField()
	require.Greater(t, len(all), 90)
	shown := map[string]int{}
	for _, field := range all {
		runs := poisoned(field)
		var page, text, object bytes.Buffer
		require.NoError(t, htmlpage.HTML(&page, runs, baseline.Baseline{}))
		terminal.Text(&text, runs, terminal.Options{Color: true, Verbose: true})
		require.NoError(t, formats.JSON(&object, runs, formats.Exit{Reason: poison}, formats.More{}))
		name := fmt.Sprintf("field %q", field)
		harmlessPage(t, name, page.String())
		harmlessText(t, name, ownColour.ReplaceAllString(text.String(), ""))
		harmlessText(t, name, object.String())
		assert.NotContains(t, object.String(), "<script", name)
		for i, out := range []string{page.String(), text.String(), object.String()} {
			if strings.Contains(out, "mark7q") {
				shown[[]string{"html", "text", "json"}[i]]++
			}
		}
	}
	// The test means nothing where the poison does not arrive.
	assert.Greater(t, shown["html"], 70)
	assert.Greater(t, shown["text"], 35)
	assert.Greater(t, shown["json"], 15)
}

// harmlessPage asserts that the page is what it is without the poison, but for
// its text: no element, attribute or control character more.
func harmlessPage(t *testing.T, name, page string) {
	t.Helper()
	for _, r := range page {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			require.Fail(t, "a raw control character", "%s: %U", name, r)
		}
	}
	require.Equal(t, 1, strings.Count(page, pageJS), name)
	doc, err := html.Parse(strings.NewReader(strings.Replace(page, pageJS, "", 1)))
	require.NoError(t, err)
	scripts := 0
	walk(doc, func(n *html.Node) {
		if n.Data == "script" {
			scripts++
			if n.FirstChild != nil {
				assert.Equal(t, "application/octet-stream", attr(n, "type"), name)
				harmlessData(t, name, n.FirstChild.Data)
			}
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") {
				assert.Fail(t, "a handler", "%s: %s", name, a.Key)
			}
		}
	})
	assert.Equal(t, scripts, strings.Count(page, "<script"), name)
	assert.Equal(t, 1, strings.Count(page, "</style"), name)
}

func harmlessText(t *testing.T, name, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			require.Fail(t, "a raw control character", "%s: %U in %q", name, r, text)
		}
	}
	for line := range strings.Lines(text) {
		assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), "%s: a CI runner obeys %q", name, line)
	}
	if !strings.HasPrefix(text, "{") {
		assert.NotContains(t, text, "##[", name)
	}
}

// FuzzPage: whatever the strings of a run are, the page's markup is ours.
func FuzzPage(f *testing.F) {
	for _, s := range []string{poison, "</script><script>alert(1)</script>", "<!--<script>", "]]>", "\x00\xff\xfe", "javascript:alert(1)", "&lt;b&gt;", "{{.}}", "${x}`", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		runs := poisonedBy(text, "")
		var page strings.Builder
		require.NoError(t, htmlpage.HTML(&page, runs, poisonedGate(text, runs)))
		harmlessPage(t, "fuzzed", page.String())
		checkMarkup(t, strings.Replace(page.String(), pageJS, "", 1))
		for _, name := range ReporterNames() {
			switch name {
			case "html": // the page is read above
			case "text":
				harmlessText(t, "fuzzed text", output(t, name, runs...))
			case "sarif": // its schema takes a while: TestOutputsOfHostileRuns
			default:
				require.Contains(t, reads, name, "each output has its reader here")
				reads[name](t, output(t, name, runs...), runs)
			}
		}
	})
}

// unpacked is a block of data as the page's script reads it.
func unpacked(t testing.TB, block string) (meta map[string]any, columns map[string][]int64) {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(block)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	size, n := binary.Uvarint(data)
	require.Positive(t, n)
	require.NoError(t, json.Unmarshal(data[n:n+int(size)], &meta))
	rest := bytes.NewReader(data[n+int(size):])
	columns = map[string][]int64{}
	names, counts := meta["columns"].(map[string]any)["names"].([]any), meta["columns"].(map[string]any)["counts"].([]any)
	for i, name := range names {
		values, last := make([]int64, int(counts[i].(float64))), int64(0)
		for k := range values {
			step, err := binary.ReadVarint(rest)
			require.NoError(t, err)
			last += step
			values[k] = last
		}
		columns[name.(string)] = values
	}
	require.Zero(t, rest.Len(), "bytes after the last column")
	return meta, columns
}

// harmlessData: the script writes text as text, and still it is clean.
func harmlessData(t *testing.T, name, block string) {
	t.Helper()
	meta, _ := unpacked(t, block)
	for _, texts := range []string{"texts", "labels", "sessions"} {
		all, _ := meta[texts].([]any)
		for _, text := range all {
			assert.Equal(t, words.Clean(text.(string), 400), text, name)
		}
	}
}

func TestLongStringsAreCut(t *testing.T) {
	t.Parallel()
	runs := []verdict.Judged{cron()}
	fields(reflect.ValueOf(&runs[0]), "", func(path string, s reflect.Value) {
		if !says[path] {
			s.SetString(s.String() + strings.Repeat("x y", 20_000))
		}
	})
	var page, text bytes.Buffer
	require.NoError(t, htmlpage.HTML(&page, runs, baseline.Baseline{}))
	terminal.Text(&text, runs, terminal.Options{})
	assert.Less(t, page.Len(), 600<<10)
	assert.Less(t, text.Len(), 200<<10)
}
