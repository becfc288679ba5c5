package report

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/baseline"
	htmlpage "github.com/leakbench/leakbench/report/page"
)

// browserNames are what Chromium is called.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"}

// newBrowser starts one for all subtests of t. It skips where there is none.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	found := ""
	for _, name := range browserNames {
		if path, err := exec.LookPath(name); err == nil {
			found = path
			break
		}
	}
	if found == "" {
		if os.Getenv("LEAKBENCH_REQUIRE") == "all" {
			t.Fatal("LEAKBENCH_REQUIRE=all, and there is no Chromium")
		}
		t.Skip("no Chromium here")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), chromedp.WSURLReadTimeout(time.Minute), chromedp.UserDataDir(t.TempDir()))
	alloc, free := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(alloc)
	require.NoError(t, chromedp.Run(ctx), "starting %s", found)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for its end
		end()
		free()
	})
	return ctx
}

// tab is a page in the browser, with all that went wrong on it.
type tab struct {
	t    *testing.T
	ctx  context.Context
	mu   sync.Mutex
	odd  []string
	file string
}

func (b *tab) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.odd = append(b.odd, fmt.Sprintf(format, args...))
}

// openTab renders runs, and loads the page from a file, as a user would. Before
// it does, actions may shape the browser.
func openTab(t *testing.T, browser context.Context, runs []verdict.Judged, before ...chromedp.Action) *tab {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, htmlpage.HTML(&out, runs, baseline.Baseline{}))
	return openPage(t, browser, out.String(), before...)
}

func openPage(t *testing.T, browser context.Context, text string, before ...chromedp.Action) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	// A window of its own: what is behind another one is not drawn.
	id, err := target.CreateTarget("about:blank").WithNewWindow(true).Do(cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser))
	require.NoError(t, err)
	ctx, end := chromedp.NewContext(browser, chromedp.WithTargetID(id))
	t.Cleanup(end)
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute) // of a crowded machine
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx, file: (&url.URL{Scheme: "file", Path: file}).String()}
	chromedp.ListenTarget(ctx, b.listen)
	b.run(append([]chromedp.Action{network.Enable(), cdplog.Enable(), emulation.SetDeviceMetricsOverride(1280, 900, 1, false), scheme("light")}, before...)...)
	b.run(chromedp.Navigate(b.file))
	return b
}

func (b *tab) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type != runtime.APITypeLog {
			for _, a := range e.Args {
				b.note("console: %s %s %s", e.Type, a.Description, a.Value)
			}
		}
	case *runtime.EventExceptionThrown:
		b.note("exception: %s", e.ExceptionDetails.Error())
	case *cdplog.EventEntryAdded:
		b.note("log: %s %s", e.Entry.Level, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; u != b.file && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") && !strings.HasPrefix(u, b.file+"#") {
			b.note("request: %s", u)
		}
	case *page.EventJavascriptDialogOpening:
		b.note("dialog: %s", e.Message)
		go func() { _ = chromedp.Run(b.ctx, page.HandleJavaScriptDialog(false)) }()
	}
}

func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		require.NoError(b.t, err, "on the page: %q", b.odd)
	}
}

// ready waits for the script to have done its part.
func (b *tab) ready() *tab {
	b.t.Helper()
	b.run(chromedp.WaitReady(".live[data-ready]", chromedp.ByQuery))
	return b
}

func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.odd)
}

// eval is the value of an expression; a promise is waited for.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	var v T
	b.run(chromedp.Evaluate(expression, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return v
}

// becomes waits until an expression is true.
func (b *tab) becomes(expression string) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Run(b.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(30*time.Second))), expression)
}

func (b *tab) click(text string) {
	b.t.Helper()
	b.run(chromedp.Click(fmt.Sprintf(`//button[normalize-space()=%q]`, text), chromedp.BySearch))
}

var axeSource = sync.OnceValues(func() (string, error) {
	f, err := os.Open("testdata/axe/axe.min.js.gz")
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(z)
	return string(text), err
})

// axe asserts that axe-core finds nothing to complain of.
func (b *tab) axe() {
	b.t.Helper()
	source, err := axeSource()
	require.NoError(b.t, err)
	if !eval[bool](b, `typeof axe === "object"`) {
		b.run(chromedp.Evaluate(source, nil))
	}
	found := eval[[]string](b, `axe.run(document, {resultTypes: ["violations"], selectors: false, rules: {"target-size": {enabled: innerWidth < 500}}}).then((r) => r.violations.map((v) => v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + (n.failureSummary || "").slice(0, 200)).join(" | ")))`)
	require.Empty(b.t, found, "axe-core %s", b.t.Name())
}

// scheme is a browser that likes a colour scheme, and no motion: a click on a
// page that is still scrolling meets something else.
func scheme(name string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	})
}

// shoot saves pictures of the whole page where LEAKBENCH_SHOTS names a folder:
// wide and narrow, light and dark.
func (b *tab) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("LEAKBENCH_SHOTS")
	if dir == "" {
		return
	}
	for _, width := range []int64{1600, 390} {
		for _, theme := range []string{"light", "dark"} {
			var png []byte
			b.run(scheme(theme), emulation.SetDeviceMetricsOverride(width, 900, 1, width < 500),
				chromedp.Evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(1), 150))))`, nil,
					func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }),
				chromedp.FullScreenshot(&png, 100))
			require.NoError(b.t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, theme)), png, 0o644))
		}
	}
	b.run(scheme("light"), emulation.SetDeviceMetricsOverride(1280, 900, 1, false))
}

// evaluate runs an expression for what it does.
func evaluate(expression string) chromedp.Action { return chromedp.Evaluate(expression+"; 0", nil) }
