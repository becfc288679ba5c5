package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/words"
)

var (
	//go:embed assets/page.tmpl
	pageSource string
	//go:embed assets/report.css
	ownCSS string
	//go:embed assets/live.css
	liveCSS string
	//go:embed assets/vendor/uPlot.min.css
	plotCSS string
	//go:embed assets/js
	scripts embed.FS
	//go:embed assets/vendor/uPlot.min.js
	plotJS string

	pageCSS = plotCSS + "\n" + ownCSS + liveCSS
)

// ownScript is the page's script: its files in the order of their names.
func ownScript() string {
	entries, err := scripts.ReadDir("assets/js")
	if err != nil {
		panic(err) // it is part of the program
	}
	var b strings.Builder
	for _, e := range entries {
		text, err := scripts.ReadFile("assets/js/" + e.Name())
		if err != nil {
			panic(err)
		}
		b.Write(text)
	}
	return b.String()
}

// Both are made by the first page: each process of a run, which is this program too, would wait for them at its start.
var (
	pageJS       = sync.OnceValue(func() string { return plotJS + "\n" + ownScript() })
	pageTemplate = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("page").Funcs(template.FuncMap{"thread": newThread}).Parse(pageSource))
	})
)

var threadName = regexp.MustCompile(`^([A-Za-z0-9-]+/[A-Za-z0-9._-]+)#([0-9]+)$`)

// threadLink is a public report: its name, and its address, which is "" for what is no thread.
type threadLink struct{ Name, URL string }

func newThread(report string) threadLink {
	l := threadLink{Name: cmp.Or(law.Thread(report), report)}
	if m := threadName.FindStringSubmatch(l.Name); m != nil {
		l.URL = "https://github.com/" + m[1] + "/issues/" + m[2]
	}
	return l
}

// HTML writes one page on all runs, and where there is a baseline which findings are new, known or fixed. It needs
// nothing besides itself: no network, no other file, and its policy forbids any. It reads without its script, which
// draws the lifelines. The error is w's.
func HTML(w io.Writer, runs []verdict.Judged, a baseline.Baseline) error {
	page, err := newPage(runs, a)
	if err != nil {
		return fmt.Errorf("rendering the page: %w", err)
	}
	words.Scrub(page)
	page.CSS, page.JS = template.CSS(pageCSS), template.JS(pageJS()) //nolint:gosec // both are ours
	page.Policy = Policy(pageCSS, pageJS())
	var buf bytes.Buffer
	if err := pageTemplate().Execute(&buf, page); err != nil {
		return fmt.Errorf("rendering the page: %w", err)
	}
	_, err = w.Write(buf.Bytes())
	return err
}

// Policy allows a page its own style and script ("": it has none), by what they
// hash to, and nothing else: whatever got past the escaping would still not run.
func Policy(css, js string) string {
	script := ""
	if js != "" {
		script = "script-src '" + hash(js) + "'; "
	}
	return fmt.Sprintf("default-src 'none'; style-src '%s'; %sbase-uri 'none'; form-action 'none'", hash(css), script)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
