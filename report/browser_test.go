package report

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/report/baseline/baselinetest"
	htmlpage "github.com/leakbench/leakbench/report/page"
)

// TestInBrowser opens pages in a real one, from a file, and uses them: one at a
// time, since a window that is not in front is not drawn.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Browser)
	if raced {
		t.Skip("without the race detector")
	}
	browser := newBrowser(t)
	for name, runs := range map[string][]verdict.Judged{
		"leaking": {realRun(t, "storm-naive")}, "clean": {realRun(t, "storm-exact")}, "overkill": {realRun(t, "cron-reap-all")},
		"crash": {realRun(t, "crash-naive")}, "inconclusive": {realRun(t, "torn")}, "hostile": poisoned(""), "suite": allReal(t), "none": nil,
		"watched": {watchedRun(t, "zoo")}, "watched-host-ended": {watchedRun(t, "ends")},
	} {
		t.Run(name, func(t *testing.T) {
			b := openTab(t, browser, runs)
			if len(runs) > 0 {
				b.ready()
			}
			b.shoot(name)
			b.axe()
			b.run(scheme("dark"))
			b.axe()
			b.quiet()
		})
	}
	for _, use := range []struct {
		name string
		play func(*testing.T, context.Context)
	}{
		{"filter", filters},
		{"zoom", zooms},
		{"findings", jumps},
		{"keyboard", walks},
		{"state", keepsState},
		{"keys", helps},
		{"copy", copies},
		{"copy from plain HTTP", copiesSelected},
		{"dark", darkens},
		{"raw", downloads},
		{"no script", still},
		{"print", prints},
		{"printed", unprints},
		{"tabs", tabs},
		{"touched", touched},
		{"back", goesBack},
		{"phone", phone},
		{"suite opens", suite},
		{"huge", opens},
		{"compared", compared},
		{"gated", gated},
	} {
		t.Run(use.name, func(t *testing.T) { use.play(t, browser) })
	}
}

const picture = `document.querySelector(".live").picture`

func filters(t *testing.T, browser context.Context) {
	j := realRun(t, "storm-naive")
	j.HostLog = "a line of the host\n\nanother: <b>flaky#2</b> is gone\n"
	j.Run.Events = slices.Clone(j.Run.Events)
	for i := range j.Run.Events {
		if e := &j.Run.Events[i]; e.Kind == record.Bye && e.Server == "steady#1" {
			e.Kind, e.Text = record.WroteStderr, "<i>one</i>\ntwo"
		}
	}
	j.History = history.Of(j.Run)
	b := openTab(t, browser, []verdict.Judged{j}).ready()
	b.run(chromedp.ScrollIntoView(".list", chromedp.ByQuery))
	b.becomes(`document.querySelector(".messages .message") !== null`)
	all := eval[string](b, `document.querySelector(".list .note").textContent`)
	for _, one := range []struct {
		filter      string
		rows        float64
		fewerEvents bool
	}{
		{"", 24, false},
		{"s:leak", 22, true},
		{"!s:leak", 2, true},
		{"server:steady", 1, true},
		{"fault:reject", 1, true},
		{"fault:close-stdout s:\"too long\"", 10, true},
		{"law:L4", 10, true},
		{"kind:signal", 24, true},
		{"flaky#2", 4, true}, // and 20, 21, 22 ...
		{"server:nothing", 0, true},
		{"process:steady", 1, true},
		{"process:host", 0, true},
	} {
		b.run(chromedp.Evaluate(fmt.Sprintf(`{ const box = document.querySelector("#r1-filter"); box.value = %q; box.dispatchEvent(new Event("input")); }`, one.filter), nil))
		eval[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
		kept := eval[float64](b, picture+`.keep.reduce((n, k) => n + k, 0)`)
		if one.filter == "flaky#2" {
			one.rows = eval[float64](b, `Array.from({length: 24}, (_, r) => `+picture+`.run.name(r)).filter((n) => n.includes("flaky#2")).length`)
		}
		assert.InDelta(t, one.rows, kept, 0, "rows that %q keeps", one.filter)
		now := eval[string](b, `document.querySelector(".list .note").textContent`)
		assert.Equal(t, one.fewerEvents, now != all, "messages that %q keeps: %s", one.filter, now)
	}
	for filter, want := range map[string]string{
		"kind:stderr":                "steady#1 <i>one</i>|steady#1 two|host a line of the host|host another: <b>flaky#2</b> is gone",
		"kind:stderr process:host":   "host a line of the host|host another: <b>flaky#2</b> is gone",
		"kind:stderr server:steady":  "steady#1 <i>one</i>|steady#1 two",
		"kind:stderr !process:host":  "steady#1 <i>one</i>|steady#1 two",
		"kind:stderr process:bench":  "",
		"kind:stderr gone":           "host another: <b>flaky#2</b> is gone",
		"process:host kind:host end": "host ended: exit 0, as asked",
	} {
		b.run(chromedp.Evaluate(fmt.Sprintf(`{ const box = document.querySelector("#r1-filter"); box.value = %q; box.dispatchEvent(new Event("input")); }`, filter), nil))
		b.becomes(fmt.Sprintf(`[...document.querySelectorAll(".message")].map((m) => m.children[1].textContent + " " + m.children[3].textContent).join("|") === %q`, want))
	}
	b.run(chromedp.Evaluate(`{ const box = document.querySelector("#r1-filter"); box.value = "sever:flaky"; box.dispatchEvent(new Event("input")); }`, nil))
	b.becomes(`document.querySelector(".filter .wrong")?.textContent.startsWith("There is no key sever:")`)
	b.axe()
	b.quiet()
}

func zooms(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	const wide = picture + `.view[1] - ` + picture + `.view[0]`
	assert.InDelta(t, 100, eval[float64](b, wide), 0)
	b.click("+")
	b.click("+")
	assert.InDelta(t, 25, eval[float64](b, wide), 0.01)
	same := eval[bool](b, `Object.values(document.querySelectorAll(".uplot")).length === 3`)
	assert.True(t, same, "three curves")
	b.click("Fit")
	assert.InDelta(t, 100, eval[float64](b, wide), 0)
	b.run(chromedp.ScrollIntoView(".scroller", chromedp.ByQuery))
	b.run(chromedp.Evaluate(`document.querySelector(".scroller").dispatchEvent(new WheelEvent("wheel", {deltaY: -240, ctrlKey: true, clientX: 640, bubbles: true, cancelable: true}))`, nil))
	assert.Less(t, eval[float64](b, wide), 50.0, "zoomed by the wheel")
	// The head and the picture are painted.
	assert.Greater(t, eval[float64](b, painted), 200.0)
	b.quiet()
}

// painted counts the red pixels of the picture.
const painted = `(() => { const c = document.querySelector(".tall > canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let n = 0;
  for (let i = 0; i < d.length; i += 4) if (d[i] > 190 && d[i + 1] < 110 && d[i + 2] < 120 && d[i + 3] > 200) n++; return n; })()`

func jumps(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	b.click("First finding")
	first := eval[string](b, picture+`.run.name(`+picture+`.selected)`)
	assert.Equal(t, "flaky#4", first, "the first server of the gravest finding")
	b.run(chromedp.WaitVisible(".panel", chromedp.ByQuery))
	text := eval[string](b, `document.querySelector(".panel").textContent`)
	assert.Contains(t, text, "should be gone from here on")
	assert.Contains(t, text, "close-stdout")
	b.becomes(`document.querySelector(".measured").textContent.startsWith("Looked at")`)

	b.run(chromedp.Evaluate(`location.hash = "#r1-s3"`, nil)) // a link of a finding
	b.becomes(picture + `.run.name(` + picture + `.selected) === "flaky#2"`)
	b.run(chromedp.Click(`a.jump`, chromedp.ByQuery))
	b.becomes(picture + `.run.name(` + picture + `.selected) === "flaky#4"`)
	assert.Equal(t, "panel", eval[string](b, `document.activeElement.className`), "the focus is in the history of the process")
	assert.True(t, eval[bool](b, `(() => { const box = document.querySelector(".lifebox").getBoundingClientRect(); return box.top >= 0 && box.top < innerHeight; })()`))
	b.quiet()
}

// keepsState: what somebody has set stands in the address, and a page that is opened there shows it.
func keepsState(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	assert.Empty(t, eval[string](b, `location.hash`))
	b.run(evaluate(`document.querySelectorAll(".finding")[1].open = true`))
	b.becomes(`location.hash === "#r1?finding=2%2C1"`)
	b.run(evaluate(`{ const box = document.querySelector("#r1-filter"); box.value = "s:leak fault:reject"; box.dispatchEvent(new Event("input")); }`))
	b.run(evaluate(picture + `.show([20, 60]), ` + picture + `.reveal(2)`))
	const full = "#r1?finding=2%2C1&filter=s%3Aleak+fault%3Areject&process=2&from=20&to=60"
	b.becomes(`location.hash === ` + strconv.Quote(full))

	const shown = `JSON.stringify([[...document.querySelectorAll(".finding")].map((f) => f.open), document.querySelector("#r1-filter").value, ` +
		picture + `.selected, ` + picture + `.view, document.querySelector(".panel").hidden, ` + picture + `.keep.reduce((n, k) => n + k, 0)])`
	before := eval[string](b, shown)
	assert.Equal(t, `[[true,true,false,false],"s:leak fault:reject",2,[20,60],false,1]`, before)
	b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(b.file+full))
	b.ready()
	assert.Equal(t, before, eval[string](b, shown))
	b.becomes(`location.hash === ` + strconv.Quote(full)) // opening it changes nothing

	b.run(evaluate(`location.hash = "#r1?process=4"`)) // a link to another state
	b.becomes(picture + `.selected === 4`)
	assert.Empty(t, eval[string](b, `document.querySelector("#r1-filter").value`))
	b.click("Close")
	b.run(evaluate(`document.querySelectorAll(".finding").forEach((f, i) => { f.open = i === 0; }), ` + picture + `.show([0, 100])`))
	b.becomes(`location.hash === "#r1"`)
	for _, odd := range []string{"process=99999", "process=-1&from=90&to=10", "finding=0,77,x&filter=%3Cb%3E", "from=NaN&to=", "=&&=%%%"} {
		b.run(evaluate(`location.hash = "#r1?` + odd + `"`))
		eval[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	}
	b.quiet()
}

// helps: keys and gestures are on the page, and its legend has what occurs.
func helps(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	const list = `document.querySelector(".keyhelp")`
	assert.True(t, eval[bool](b, list+`.hidden`))
	b.click("?")
	assert.Contains(t, eval[string](b, list+`.innerText`), "go to the next finding")
	b.axe()
	b.run(chromedp.Focus(".scroller", chromedp.ByQuery), chromedp.KeyEvent("?"))
	assert.True(t, eval[bool](b, list+`.hidden`))
	legend := eval[string](b, `document.querySelector(".legend").textContent`)
	assert.Contains(t, legend, "zombie")
	assert.NotContains(t, legend, "ended by mistake", "no server of this run was")
	assert.Equal(t, "at most 14", eval[string](b, `document.querySelectorAll(".u-legend .u-series")[1].querySelector(".u-value").textContent`))
	b.quiet()

	b = openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}, emulation.SetDeviceMetricsOverride(1280, 400, 1, false)).ready()
	b.becomes(`/^[0-9]+ more below$/.test(document.querySelector(".lifebox + .more").textContent)`)
	b.run(evaluate(`document.querySelector(".scroller").scrollTop = 10000`))
	b.becomes(`document.querySelector(".lifebox + .more").textContent === ""`)
	b.quiet()
}

func walks(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	b.run(chromedp.Focus(".scroller", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	said := `document.querySelector(".live > .quiet[role=status]").textContent`
	assert.Contains(t, eval[string](b, said), "flaky#1, pid ")
	b.run(chromedp.KeyEvent("+"), chromedp.KeyEvent(kb.ArrowRight))
	assert.InDelta(t, 50, eval[float64](b, picture+`.view[1] - `+picture+`.view[0]`), 0.01)
	b.run(chromedp.KeyEvent("f"))
	assert.Contains(t, eval[string](b, said), "L1 superseded: 10 superseded servers")
	rows := eval[int](b, picture+`.items.length`)
	b.run(chromedp.KeyEvent("g"))
	assert.Contains(t, eval[string](b, said), "Folded flaky, ")
	assert.Less(t, eval[int](b, picture+`.items.length`), rows)
	b.run(chromedp.KeyEvent("g"))
	assert.Equal(t, rows, eval[int](b, picture+`.items.length`))
	b.run(chromedp.KeyEvent("g"), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent("g"))
	assert.Contains(t, eval[string](b, said), "Folded steady, ", "the next one that is in sight is of the next group")
	b.run(chromedp.KeyEvent("u"))
	assert.Equal(t, rows, eval[int](b, picture+`.items.length`))
	b.run(chromedp.KeyEvent(kb.Home))
	assert.InDelta(t, 100, eval[float64](b, picture+`.view[1]`), 0.01)
	// Nothing that can be focused hides that it is.
	assert.Empty(t, eval[[]string](b, `[...document.querySelectorAll("button, a, summary, input, select, [tabindex]")].filter((e) => e.tabIndex < 0).map((e) => e.outerHTML)`))
	b.quiet()
}

func copies(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	// The clipboard of a headless browser needs a focused page: what was given to it is looked at.
	b.run(evaluate(`window.given = ""; navigator.clipboard.writeText = (text) => { window.given = text; return Promise.resolve(); }`))
	copyBoth(b, func() string { return eval[string](b, `window.given`) })
	b.quiet()
}

// copiesSelected: a page that came over plain HTTP has no navigator.clipboard. What a user would paste is looked at.
func copiesSelected(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	b.run(evaluate(`Object.defineProperty(navigator, "clipboard", {value: undefined})`))
	paste := func() string {
		b.run(evaluate(`document.body.append(el("textarea", {id: "pasted"}))`), chromedp.Focus("#pasted", chromedp.ByQuery),
			input.DispatchKeyEvent(input.KeyDown).WithKey("v").WithModifiers(input.ModifierCtrl).WithCommands([]string{"paste"}))
		text := eval[string](b, `document.querySelector("#pasted").value`)
		b.run(evaluate(`document.querySelector("#pasted").remove()`))
		return text
	}
	copyBoth(b, paste)
	assert.Zero(t, eval[int](b, `document.querySelectorAll("textarea").length`), "what was selected is gone again")
	b.quiet()
}

// copyBoth copies the command and a finding; copied is what is in the clipboard.
func copyBoth(b *tab, copied func() string) {
	// A button says so for 1.5 s: here it does until it was looked at.
	b.run(evaluate(`{ const timeout = setTimeout; window.setTimeout = (f, ms) => ms === 1500 ? 0 : timeout(f, ms); }`))
	b.run(chromedp.Click(`.again button`, chromedp.ByQuery))
	b.becomes(`document.querySelector(".again button").textContent === "Copied"`)
	assert.Equal(b.t, "Copied", eval[string](b, `document.querySelector(".again button").getAttribute("aria-label")`), "who does not see it is told, too")
	assert.Equal(b.t, "leakbench run storm --seed 7 --host naive", copied())
	b.click("Copy as an issue")
	b.becomes(`document.querySelector("#r1-f1 .links button").textContent === "Copied"`)
	issue := copied()
	for _, part := range []string{"### 10 superseded servers", "Expected: 1 server of flaky", "holds the write end", "All of them: still running", "flaky#4, ", "✗ should be gone flaky#4", "**Fix.** End the old server", "leakbench run storm --seed 7 --host naive"} {
		assert.Contains(b.t, issue, part)
	}
}

func darkens(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}, scheme("light")).ready()
	light := eval[string](b, `getComputedStyle(document.body).backgroundColor`)
	paper := eval[string](b, `theme.paper`)
	b.run(scheme("dark"))
	b.becomes(`theme.paper !== "` + paper + `"`)
	assert.NotEqual(t, light, eval[string](b, `getComputedStyle(document.body).backgroundColor`))
	b.quiet()
}

func downloads(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	lines := eval[[]string](b, `ndjson(`+picture+`.run)`)
	kinds := map[string]int{}
	for _, l := range lines {
		var o struct{ Type, Name string }
		require.NoError(t, json.Unmarshal([]byte(l), &o))
		kinds[o.Type]++
	}
	assert.Equal(t, 1, kinds["run"])
	assert.Equal(t, 24, kinds["process"])
	assert.Greater(t, kinds["event"], 300)
	assert.Greater(t, kinds["sample"], 50)
	out := eval[string](b, `trace(`+picture+`.run)`)
	var made struct{ TraceEvents []traceEvent }
	require.NoError(t, json.Unmarshal([]byte(out), &made))
	assert.Greater(t, len(made.TraceEvents), 300)
	b.run(chromedp.Click(`//button[.="Download NDJSON"]`, chromedp.BySearch))
	b.quiet()
}

// still: without its script the page says what there is to say.
func still(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}, emulation.SetScriptExecutionDisabled(true))
	b.run(chromedp.WaitVisible(".still .servers", chromedp.ByQuery), chromedp.WaitVisible(".trace", chromedp.ByQuery), chromedp.WaitNotVisible(".live", chromedp.ByQuery))
	var text string
	b.run(chromedp.Text("main", &text, chromedp.ByQuery))
	for _, want := range []string{
		"10 superseded servers of flaky are still running", "it holds the write end of their stdin and has not closed it",
		"leakbench run storm --seed 7 --host naive", "blocked in read(0)", "should be gone",
	} {
		assert.Contains(t, text, want)
	}
	b.run(emulation.SetScriptExecutionDisabled(false)) // which comes too late for the page's own
	b.shoot("no-script")
	b.quiet()
}

func prints(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	b.run(scheme("dark"), emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	assert.Equal(t, "rgb(253, 253, 252)", eval[string](b, `getComputedStyle(document.body).backgroundColor`), "paper is white")
	b.run(emulation.SetEmulatedMedia())
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		pdf, _, err := page.PrintToPDF().Do(ctx)
		assert.Greater(t, len(pdf), 50_000)
		return err
	}))
	b.quiet()
}

// printed and closed: the page is as it was.
func unprints(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	b.click("As a list")
	const state = `JSON.stringify([[...document.querySelectorAll("details")].map((d) => d.open), document.querySelector(".live").hidden, document.querySelector(".still").hidden])`
	before := eval[string](b, state)
	eval[bool](b, `dispatchEvent(new Event("beforeprint"))`)
	assert.Equal(t, 0, eval[int](b, `[...document.querySelectorAll("details")].filter((d) => !d.open).length`))
	assert.NotEqual(t, before, eval[string](b, state))
	eval[bool](b, `dispatchEvent(new Event("afterprint"))`)
	assert.Equal(t, before, eval[string](b, state))
	b.quiet()
}

// tabs: the list of messages is drawn anew as it scrolls, and who walks through
// it with the keyboard keeps their place.
func tabs(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	b.run(chromedp.ScrollIntoView(".list", chromedp.ByQuery))
	b.becomes(`document.querySelector(".messages .message button") !== null`)
	const here = `document.activeElement.closest(".message")?.getAttribute("aria-rowindex") ?? ""`
	was := eval[string](b, `[...document.querySelectorAll(".messages .message button")].at(-1).focus({preventScroll: true}), `+here)
	b.run(chromedp.Evaluate(`document.querySelector(".messages").scrollTop = 300`, nil))
	b.becomes(`document.querySelector(".messages .message").getAttribute("aria-rowindex") !== "1"`)
	assert.NotEmpty(t, was)
	assert.Equal(t, was, eval[string](b, here))
	b.run(chromedp.Evaluate(`document.querySelector(".messages").scrollTop = 5000`, nil))
	b.becomes(`document.activeElement.className.includes("messages")`) // gone from sight: the list has it
	b.quiet()
}

// touched: a finger that scrolls is taken over by the browser, and what comes
// after it is a touch of its own.
func touched(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	b.run(chromedp.ScrollIntoView(".scroller", chromedp.ByQuery))
	b.run(evaluate(`window.finger = (type, x, y) => { const s = document.querySelector(".scroller"), box = s.getBoundingClientRect();
		s.dispatchEvent(new PointerEvent(type, {pointerType: "touch", pointerId: 7, bubbles: true, clientX: box.left + x, clientY: box.top + y})); }`))
	b.run(evaluate(`finger("pointerdown", 300, 100); finger("pointercancel", 300, 60); finger("pointerdown", 20, 10); finger("pointerup", 20, 10)`))
	assert.Equal(t, 1, eval[int](b, picture+`.folded.size`), "a touch of a group folds it")
	b.click("+")
	view := eval[string](b, `String(`+picture+`.view)`)
	b.run(evaluate(`finger("pointerdown", 300, 100); finger("pointercancel", 300, 60); finger("pointermove", 500, 60)`))
	assert.Equal(t, view, eval[string](b, `String(`+picture+`.view)`))
	b.quiet()
}

// goesBack: Back leads from the picture to the finding that led there, not away from the page, and Escape closes what was opened.
func goesBack(t *testing.T, browser context.Context) {
	b := openTab(t, browser, []verdict.Judged{realRun(t, "storm-naive")}).ready()
	b.run(chromedp.ScrollIntoView("a.jump", chromedp.ByQuery))
	was := eval[float64](b, `scrollY`)
	b.run(chromedp.Click("a.jump", chromedp.ByQuery))
	b.becomes(`location.hash.includes("process=")`)
	b.run(evaluate(`history.back()`))
	b.becomes(`location.hash === ""`)
	b.becomes(fmt.Sprintf(`Math.abs(scrollY - %f) < 50`, was))
	b.run(evaluate(`history.forward()`))
	b.becomes(`location.hash.includes("process=")`)
	assert.False(t, eval[bool](b, `document.querySelector(".panel").hidden`))

	b.click("?")
	b.run(chromedp.KeyEvent(kb.Escape))
	assert.True(t, eval[bool](b, `document.querySelector(".keyhelp").hidden`))
	assert.Equal(t, "?", eval[string](b, `document.activeElement.textContent`))
	assert.False(t, eval[bool](b, `document.querySelector(".panel").hidden`), "one thing at a time")
	b.run(chromedp.KeyEvent(kb.Escape))
	assert.True(t, eval[bool](b, `document.querySelector(".panel").hidden`))
	assert.Contains(t, eval[string](b, `document.activeElement.className`), "scroller")
	b.becomes(`!location.hash.includes("process=")`)
	b.quiet()
}

// phone: nothing is wider than the screen.
func phone(t *testing.T, browser context.Context) {
	for name, runs := range map[string][]verdict.Judged{
		"storm-naive": {realRun(t, "storm-naive")}, "cron-reap-all": {realRun(t, "cron-reap-all")}, "suite": allReal(t),
	} {
		b := openTab(t, browser, runs, emulation.SetDeviceMetricsOverride(360, 780, 2, true))
		if name != "suite" { // where the first picture is far below, and drawn when it comes near
			b.ready()
		}
		assert.LessOrEqual(t, eval[float64](b, `document.documentElement.scrollWidth`), 360.0, name)
		told := `[...document.querySelectorAll(".overview td.wide")].every((e) => e.getBoundingClientRect().right <= 360 && e.offsetWidth > 200)`
		assert.True(t, eval[bool](b, told), "what happened in each run is on the screen: %s", name)
		b.axe()
		b.quiet()
	}
}

func suite(t *testing.T, browser context.Context) {
	b := openTab(t, browser, allReal(t)).ready()
	open := `document.querySelectorAll(".live[data-ready]").length`
	before := eval[float64](b, open)
	b.run(chromedp.Evaluate(`location.hash = "#r2"`, nil)) // a clean run, closed so far
	b.becomes(open + ` > ` + strconv.Itoa(int(before)-1))
	assert.True(t, eval[bool](b, `document.getElementById("r2").open`))
	shown := `[...document.querySelectorAll("tr[data-outcome]")].filter((r) => !r.hidden).map((r) => r.dataset.outcome).join(" ")`
	assert.Equal(t, "leak leak leak inconclusive clean", eval[string](b, shown), "failures first")
	for _, choice := range []struct{ name, rows string }{{"Failed", "leak leak leak"}, {"Inconclusive", "inconclusive"}, {"Clean", "clean"}, {"All", "leak leak leak inconclusive clean"}} {
		b.run(chromedp.Evaluate(fmt.Sprintf(`[...document.querySelectorAll(".choose button")].find((e) => e.textContent.startsWith(%q)).click()`, choice.name), nil))
		assert.Equal(t, choice.rows, eval[string](b, shown), choice.name)
	}
	b.becomes(`document.querySelector("#r2 .live[data-ready]") !== null`)
	b.quiet()
}

func compared(t *testing.T, browser context.Context) {
	var out strings.Builder
	base, head := []verdict.Judged{realRun(t, "storm-naive"), realRun(t, "crash-naive")}, []verdict.Judged{realRun(t, "storm-exact")}
	out.Reset()
	require.NoError(t, htmlpage.HTML(&out, head, baselinetest.Against(head, base, "")))
	checkMarkup(t, out.String())
	b := openPage(t, browser, out.String()).ready()
	assert.Equal(t, "✗ 0 new|≡ 0 known|✓ 4 fixed|against 2 runs of the base, of host naive", eval[string](b, standingText))
	assert.Equal(t, 4, eval[int](b, `document.querySelectorAll(".compare tr.good").length`))
	b.shoot("compared")
	b.axe()
	b.quiet()
}

const standingText = `[...document.querySelectorAll(".standing > li")].map((e) => e.textContent).join("|")`

// gated: the page of a gate says what is new, and leads with it.
func gated(t *testing.T, browser context.Context) {
	runs := []verdict.Judged{realRun(t, "storm-naive")}
	var out strings.Builder
	asked := baselinetest.Listed(runs, "storm:L1", "storm:L2")
	asked.Answer = true
	require.NoError(t, htmlpage.HTML(&out, runs, asked))
	checkMarkup(t, out.String())
	b := openPage(t, browser, out.String()).ready()
	assert.Equal(t, "✗ gate: fail|✗ 1 new|≡ 3 known|✓ 0 fixed|! 1 stale|against known.yaml (2 listed)", eval[string](b, standingText))
	assert.Contains(t, eval[string](b, `document.querySelector(".outcome").textContent`), "left 10 zombies")
	assert.Equal(t, "The gate failed: 1 new finding, 1 stale entry.", eval[string](b, `document.querySelector(".sentence").textContent`))
	assert.Equal(t, "leakbench known --known known.yaml update --reason WHY|leakbench known --known known.yaml prune",
		eval[string](b, `[...document.querySelectorAll(".verdict .key + .key .copy")].map((e) => e.textContent).join("|")`))
	assert.Equal(t, "✗ new|≡ known|≡ known|≡ known", eval[string](b, `[...document.querySelectorAll(".finding .tag")].map((e) => e.textContent).join("|")`))
	b.click("First finding")
	assert.Equal(t, "flaky#1", eval[string](b, picture+`.run.name(`+picture+`.selected)`), "the zombie, which is new")
	b.shoot("gated")
	b.axe()
	b.run(emulation.SetDeviceMetricsOverride(360, 780, 2, true))
	b.becomes(`document.documentElement.scrollWidth <= 360`)
	b.axe()
	b.quiet()
}
