package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	htmlpage "github.com/leakbench/leakbench/report/page"
	"github.com/leakbench/leakbench/report/terminal"
)

var update = flag.Bool("update", false, "write the golden files anew")

func inconclusive() verdict.Judged {
	j := storm("exact", false, 4)
	j.Verdict.Outcome = verdict.Inconclusive
	j.Verdict.Doubts = []verdict.Doubt{{Code: "fault-unfired", Text: "initialize: reject of flaky was to fire at launch 2 and was not seen"}}
	return j
}

func render(t *testing.T, runs ...verdict.Judged) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, htmlpage.HTML(&b, runs, baseline.Baseline{}))
	return b.String()
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test ./report -update writes it")
	if string(want) != got {
		was, is := firstDifference(string(want), got)
		t.Errorf("%s differs; go test ./report -update accepts it\nwas: %s\nis:  %s", name, was, is)
	}
}

// firstDifference is where two texts part, with a little of what follows.
func firstDifference(a, b string) (string, string) {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-80)
	return fmt.Sprintf("%.300q", a[from:]), fmt.Sprintf("%.300q", b[from:])
}

// pageCSS and pageJS are the style and the script of every page.
var pageCSS, pageJS = func() (css, js string) {
	var b strings.Builder
	if err := htmlpage.HTML(&b, nil, baseline.Baseline{}); err != nil {
		panic(err)
	}
	between := func(from, to string) string {
		_, rest, _ := strings.Cut(b.String(), from)
		text, _, _ := strings.Cut(rest, to)
		return text
	}
	return between("<style>", "</style>"), between("<script>", "</script>")
}()

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// content is a page without what is the same on every page.
func content(page string) string {
	page = dataBlock.ReplaceAllString(page, "$1")
	return strings.NewReplacer(pageCSS, "", pageJS, "", escapedPolicy(page), "").Replace(page)
}

// dataBlock is not the same with every version of the compressor.
var dataBlock = regexp.MustCompile(`(<script type="application/octet-stream" id="[a-z0-9-]+">)[A-Za-z0-9+/=]+`)

func escapedPolicy(page string) string {
	m := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		return "\x00"
	}
	return m[1]
}

func TestPageGolden(t *testing.T) {
	t.Parallel()
	empty := &record.Run{Truncated: "no end event"}
	for name, runs := range map[string][]verdict.Judged{
		"storm-naive.html":   {storm("naive", true, 20)},
		"cron-reap-all.html": {cron()},
		"three-runs.html":    {storm("naive", true, 2), storm("exact", false, 2), inconclusive()},
		"no-run.html":        nil,
		"empty-run.html":     {{Run: empty, History: history.Of(empty), Verdict: verdict.Verdict{Outcome: verdict.Inconclusive}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, content(render(t, runs...)))
		})
	}
}

var void = map[string]bool{"meta": true, "br": true, "link": true, "hr": true, "img": true, "input": true}

// checkMarkup asserts that every tag is closed in order, ids are unique, links
// lead to ids of the page, and nothing refers to anything outside of it.
func checkMarkup(t *testing.T, page string) {
	t.Helper()
	var open []string
	ids, links := map[string]bool{}, []string{}
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			require.Empty(t, open, "tags left open")
			for _, l := range links {
				inside := strings.HasPrefix(l, "#") && ids[l[1:]]
				assert.True(t, inside || threadURL.MatchString(l), "link to %q", l)
			}
			return
		case html.StartTagToken:
			tok := z.Token()
			if !void[tok.Data] {
				open = append(open, tok.Data)
			}
			links = append(links, checkAttributes(t, tok, ids)...)
		case html.SelfClosingTagToken:
			links = append(links, checkAttributes(t, z.Token(), ids)...)
		case html.EndTagToken:
			name := z.Token().Data
			require.NotEmpty(t, open, "</%s> closes nothing", name)
			require.Equal(t, open[len(open)-1], name, "closing tag")
			open = open[:len(open)-1]
		}
	}
}

// threadURL are the links that lead out of a page: public reports, and the explanation of a kind, built from parts that
// can hold nothing else.
var threadURL = regexp.MustCompile(`^https://github\.com/([A-Za-z0-9-]+/[A-Za-z0-9._-]+/issues/[0-9]+|leakbench/leakbench/blob/main/docs/understand/laws\.md#[a-z-]*)$`)

var mayHold = regexp.MustCompile(`^[a-z0-9:-]+$`)

func checkAttributes(t *testing.T, tok html.Token, ids map[string]bool) (links []string) {
	t.Helper()
	assert.NotContains(t, []string{"iframe", "object", "embed", "img", "link", "base", "form", "foreignobject", "image"}, tok.Data)
	for _, a := range tok.Attr {
		name := strings.ToLower(a.Key)
		assert.Regexp(t, mayHold, name)
		assert.False(t, strings.HasPrefix(name, "on"), "handler %s", name)
		assert.NotContains(t, []string{"src", "srcset", "style", "action", "formaction", "ping", "background", "poster"}, name)
		switch name {
		case "href", "xlink:href":
			links = append(links, a.Val)
		case "id":
			assert.False(t, ids[a.Val], "id %q twice", a.Val)
			assert.Regexp(t, mayHold, a.Val)
			ids[a.Val] = true
		case "fill", "stroke", "clip-path", "mask", "filter", "d":
			assert.NotContains(t, a.Val, "url(")
		}
	}
	return links
}

func TestPageIsWellFormedAndAlone(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string][]verdict.Judged{
		"leak": {storm("naive", true, 20)}, "clean": {storm("exact", false, 20)}, "cron": {cron()}, "none": nil,
		"many": {storm("naive", true, 3), cron(), inconclusive()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkMarkup(t, render(t, runs...))
		})
	}
	for _, m := range regexp.MustCompile(`url\([^)]*\)|@import|https?:|//`).FindAllString(pageCSS, -1) {
		assert.True(t, strings.HasPrefix(m, "url(#"), "the style refers to %q", m)
	}
	const banner = "/*! https://github.com/leeoniya/uPlot"
	require.Equal(t, 1, strings.Count(pageJS, banner))
	assert.NotRegexp(t, `fetch\(|XMLHttpRequest|import\(|eval\(|innerHTML|outerHTML|insertAdjacentHTML|new Function|https?:`, strings.Replace(pageJS, banner, "", 1))
}

// The policy holds hashes: a style or a script that is not ours is dead.
func TestPolicyMatchesWhatIsInThePage(t *testing.T) {
	t.Parallel()
	page := render(t, storm("naive", true, 2))
	doc, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	var found []string
	var csp string
	walk(doc, func(n *html.Node) {
		switch n.Data {
		case "style", "script":
			if attr(n, "type") != "" { // data, which no browser runs
				assert.Equal(t, "application/octet-stream", attr(n, "type"))
				assert.Regexp(t, `^[A-Za-z0-9+/=]+$`, n.FirstChild.Data)
				return
			}
			found = append(found, "'"+hashOf(n.FirstChild.Data)+"'")
		case "meta":
			if attr(n, "http-equiv") == "Content-Security-Policy" {
				csp = attr(n, "content")
			}
		}
	})
	require.Len(t, found, 2)
	assert.Equal(t, "default-src 'none'; style-src "+found[0]+"; script-src "+found[1]+"; base-uri 'none'; form-action 'none'", csp)
}

func walk(n *html.Node, visit func(*html.Node)) {
	if n.Type == html.ElementNode {
		visit(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// Each picture has a name, each table has column heads, headings do not skip
// a level.
func TestPageIsAccessible(t *testing.T) {
	t.Parallel()
	for _, runs := range [][]verdict.Judged{{storm("naive", true, 4)}, {cron()}, {cron(), inconclusive()}} {
		doc, err := html.Parse(strings.NewReader(render(t, runs...)))
		require.NoError(t, err)
		level := 0
		walk(doc, func(n *html.Node) {
			switch {
			case n.Data == "svg" && attr(n, "role") == "img":
				require.NotNil(t, n.FirstChild)
				assert.Equal(t, "title", n.FirstChild.Data)
				assert.NotEmpty(t, n.FirstChild.FirstChild.Data)
			case n.Data == "svg" && attr(n, "aria-hidden") == "":
				assert.Equal(t, "svg", n.Parent.Data, "a picture without a name")
			case n.Data == "table":
				heads := 0
				walk(n, func(c *html.Node) {
					if c.Data == "th" {
						assert.NotEmpty(t, attr(c, "scope"))
						heads++
					}
				})
				assert.Positive(t, heads)
			case len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6':
				now := int(n.Data[1] - '0')
				assert.LessOrEqual(t, now, level+2, "heading %s after h%d", n.Data, level)
				level = now
			}
		})
	}
}

func TestPageSize(t *testing.T) {
	t.Parallel()
	assert.Less(t, len(render(t, storm("naive", true, 48))), 300<<10, "a storm of 50 servers")

	big := render(t, storm("naive", true, 1500))
	assert.Less(t, len(big), 600<<10, "thousands of servers")
	assert.Contains(t, big, "80 of 1503 servers are listed")
	assert.Equal(t, 80, strings.Count(big, `<tr id="r1-s`))
	assert.Contains(t, big, `id="r1-s3"`, "a leaking one")
	assert.Contains(t, big, `id="r1-s1"`, "each label has one")

	var runs []verdict.Judged
	for range 90 {
		runs = append(runs, storm("naive", true, 3))
	}
	many := render(t, runs...)
	assert.Less(t, len(many), 3<<20)
	assert.Contains(t, many, "60 of 90 runs are shown in full")
}

func TestSameRunsSameBytes(t *testing.T) {
	t.Parallel()
	var page, text, object [2]bytes.Buffer
	for i := range 2 {
		runs := []verdict.Judged{storm("naive", true, 20), cron(), inconclusive()}
		for range 2 { // rendering must not change what it renders
			page[i].Reset()
			text[i].Reset()
			object[i].Reset()
			require.NoError(t, htmlpage.HTML(&page[i], runs, baseline.Baseline{}))
			terminal.Text(&text[i], runs, terminal.Options{Color: true, Verbose: true})
			require.NoError(t, formats.JSON(&object[i], runs, formats.Exit{Code: 1}, formats.More{}))
		}
		assert.Equal(t, []verdict.Judged{storm("naive", true, 20), cron(), inconclusive()}, runs, "the runs were changed")
	}
	assert.Equal(t, page[0].String(), page[1].String())
	assert.Equal(t, text[0].String(), text[1].String())
	assert.Equal(t, object[0].String(), object[1].String())
}

type brokenWriter struct{}

var errFull = errors.New("no space left on device")

func (brokenWriter) Write([]byte) (int, error) { return 0, errFull }

func TestWriterErrorsAreReturned(t *testing.T) {
	t.Parallel()
	runs := []verdict.Judged{cron()}
	require.ErrorIs(t, htmlpage.HTML(brokenWriter{}, runs, baseline.Baseline{}), errFull)
	for _, r := range Reporters() {
		require.ErrorIs(t, r.Write(brokenWriter{}, Subject{Runs: runs}, Options{}), errFull, r.Name)
	}
	require.ErrorIs(t, formats.JSON(brokenWriter{}, runs, formats.Exit{}, formats.More{}), errFull)
}

// A run that could not be decided says so first, whatever was found besides.
func TestUndecidedIsSaidFirst(t *testing.T) {
	t.Parallel()
	j := slowRun(1)
	j.Verdict = verdict.Verdict{
		Outcome: verdict.Inconclusive, Doubts: []record.Doubt{{Code: "fault-not-fired", Text: "the fault never fired"}, {Code: "x", Text: "y"}},
		Findings: []verdict.Finding{{Law: "L9", Severity: record.SeverityWarning, Title: "1 server was sent a signal", Found: "1 server"}},
	}
	page := render(t, j)
	assert.Contains(t, page, `<p class="sentence">Inconclusive: the fault never fired, and 1 doubt more. Also: 1 server was sent a signal.</p>`)
	assert.Contains(t, page, `<dt>Whose fault</dt><dd>Undecided: leakbench has no proof either way.</dd>`)
}
