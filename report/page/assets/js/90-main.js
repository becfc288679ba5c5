// enliven puts the lifelines in the place of the table of servers.
const enliven = async (place) => {
  const meta = await inflate(place.dataset.run + "data");
  if (!meta) return;
  const run = new Run(meta), parts = [];
  const changed = (what, value) => {
    if (what === "view") { picture.show(value, true); curves.show(picture.view); }
    if (what === "cursor") { picture.setCursor(value); curves.setCursor(value); }
    if (what === "unfilter") { input.value = ""; filter(); }
    if (what === "reveal") { picture.reveal(value); picture.scroller.scrollIntoView({ block: "nearest" }); }
    if (what !== "cursor") keepState(place);
  };
  const kept = el("span", { class: "soft", role: "status" });
  const filter = () => {
    const wrong = wrongKeys(input.value);
    input.setAttribute("aria-invalid", String(wrong.length > 0));
    kept.classList.toggle("wrong", wrong.length > 0);
    if (wrong.length) { kept.textContent = "There is no key " + wrong[0] + ": (keys: " + Object.keys(filterKeys).join(", ") + ")"; return; }
    const terms = parseFilter(input.value), n = picture.setFilter(terms);
    messages?.setFilter(terms);
    kept.textContent = terms.length ? n + " of " + run.rows + " processes" : "";
    keepState(place);
  };
  const input = el("input", { type: "search", id: run.id + "filter", spellcheck: "false", autocomplete: "off", placeholder: exampleOf(run), oninput: later(() => filter()) });
  const hints = hintsOf(run).map((h) => el("button", { type: "button", class: "hint", onclick: () => { input.value = input.value.split(/\s+/).includes(h) ? input.value : (input.value + " " + h).trim(); filter(); input.focus(); } }, h));
  const still = place.parentElement.querySelector(".still"), toggle = el("button", { type: "button", "aria-pressed": "false" }, "As a list");
  toggle.addEventListener("click", () => { still.hidden = !still.hidden; toggle.setAttribute("aria-pressed", String(!still.hidden)); });
  const top = el("div", { class: "filter" }, el("label", { for: run.id + "filter" }, "Filter"), input, kept, el("span", { class: "hints" }, ...hints), el("details", { class: "fold" }, el("summary", {}, "Filter help"), el("p", { class: "note" }, "A filter is a list of words that must all hold. A word without a key is looked for everywhere."), el("dl", { class: "pairs" }, ...Object.entries(filterKeys).map(([k, v]) => el("div", {}, el("dt", {}, el("code", {}, k + ":")), el("dd", {}, v))), el("div", {}, el("dt", {}, el("code", {}, "!word")), el("dd", {}, "must not hold")), el("div", {}, el("dt", {}, el("code", {}, '"two words"')), el("dd", {}, "one word, with its blank")))));
  place.hidden = false;
  still.hidden = true;
  place.append(top);
  const picture = new Lifelines(run, place, changed), curves = new Curves(run, place, changed, picture);
  picture.bar.append(toggle);
  let messages = null;
  const list = el("div", { class: "list" });
  place.append(list);
  new IntersectionObserver((seen, o) => {
    if (!seen.some((s) => s.isIntersecting)) return;
    o.disconnect();
    messages = new Messages(run, list, changed);
    messages.setFilter(parseFilter(input.value));
  }, { rootMargin: "600px" }).observe(list);
  const raw = document.getElementById(run.id + "raw");
  raw?.append(
    el("button", { type: "button", onclick: async () => save(run.scenario + "-" + run.host + ".ndjson", "application/x-ndjson", await ndjson(run)) }, "Download NDJSON"), " ",
    el("button", { type: "button", onclick: () => save(run.scenario + "-" + run.host + ".trace.json", "application/json", [trace(run)]) }, "Download trace for Perfetto"));
  place.picture = picture; // for links to a process
  place.setFilter = (text) => { input.value = text; filter(); };
  place.dataset.ready = "true";
  performance.mark("leakbench-ready");
  if (runOf(place)?.contains(document.getElementById(location.hash.slice(1).split("?")[0]))) reveal();
};

// exampleOf is a filter that means something for this run.
const exampleOf = (run) => (hintsOf(run).slice(0, 2).join(" ") + (run.columns.pid.length ? " !pid:" + run.columns.pid[0] : "")).trim();

// hintsOf are words that say something of this run.
const hintsOf = (run) => {
  const out = [], faults = new Map();
  if (run.columns.class.includes(1)) out.push("s:leak");
  if (run.columns.class.includes(2)) out.push("s:overkill");
  if (run.labels.length > 1) for (const l of run.labels.slice(0, 4)) if (!/\s/.test(l)) out.push("server:" + l);
  const c = run.columns;
  for (let i = 0; i < c["ev.t"].length && faults.size < 3; i++) {
    if (run.kinds[c["ev.kind"][i]] !== "fault") continue;
    const word = /: ([\w-]+)/.exec(run.texts[c["ev.text"][i]]);
    if (word) faults.set("fault:" + word[1], 1);
  }
  return [...out, ...faults.keys()];
};

// A run's data is read when its section is open and near.
const near = new IntersectionObserver((seen) => {
  for (const s of seen) if (s.isIntersecting) { near.unobserve(s.target); enliven(s.target.querySelector(".live")).catch((e) => console.error(e)); }
}, { rootMargin: "4000px" });
for (const t of document.querySelectorAll(".timeline")) near.observe(t);

// copy says whether a text is in the clipboard. Browsers withhold the clipboard from a page that came over plain HTTP, but not
// what is selected.
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "quiet", readonly: true }, text), focused = document.activeElement;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    focused?.focus({ preventScroll: true });
    return copied;
  }
};

// copyButton copies what text returns. Its label is for those who do not see what it stands beside.
const copyButton = (name, label, text) => {
  const button = el("button", { type: "button" });
  const say = (shown, spoken) => { button.textContent = shown; button.setAttribute("aria-label", spoken); };
  say(name, label);
  button.addEventListener("click", async () => {
    const said = await copy(text()) ? "Copied" : "The clipboard is not allowed here";
    say(said, said);
    setTimeout(() => say(name, label), 1500);
  });
  return button;
};
for (const code of document.querySelectorAll(".copy")) code.after(copyButton("Copy", "Copy the command", () => code.textContent));

const reveal = () => {
  const [id, set] = location.hash.slice(1).split("?"), target = document.getElementById(id);
  if (!target) return;
  for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  const row = /^(r\d+-)s(\d+)$/.exec(target.id), live = row && document.querySelector('.live[data-run="' + row[1] + '"]');
  if (live?.picture) {
    const r = live.picture.run.columns.anchor.indexOf(+row[2]);
    if (r >= 0) { live.picture.reveal(r); live.scrollIntoView({ block: "start" }); return; }
  }
  if (set != null) restoreState(target, new URLSearchParams(set)); else target.scrollIntoView({ block: "center" });
};
document.addEventListener("click", (e) => {
  const link = e.target.closest?.("a[data-finding]"), live = link?.closest("article, details.run")?.querySelector(".live");
  if (!live?.picture) return;
  e.preventDefault();
  history.pushState(null, "", link.hash); // so that Back leads to the finding
  live.picture.jump(+link.dataset.finding);
  live.picture.box.scrollIntoView({ block: "start" });
  live.picture.panel.focus({ preventScroll: true });
});

// A finding as the text of an issue, in Markdown.
const issueOf = (finding) => {
  const run = finding.closest("article"), text = (selector, of = finding) => of.querySelector(selector)?.textContent.trim().replace(/\s+/g, " ") ?? "";
  const fence = "```", facts = [...finding.querySelectorAll(".versus dd")].map((dd) => dd.textContent.trim());
  const flat = (e) => [...e.childNodes].map((n) => (n.childNodes.length ? flat(n) : n.textContent)).join(" ").trim().replace(/\s+/g, " ");
  const trace = [...finding.querySelectorAll(".trace li")].slice(0, 12).map(flat);
  const all = finding.querySelector(".holds")?.textContent ?? "", rows = [...finding.querySelectorAll(".processes tbody tr")].slice(0, 12).map((tr) => [...tr.children].map((td) => td.textContent).join(", "));
  const values = [all, ...rows, ...[...finding.querySelectorAll(":scope > .values li")].map((li) => li.textContent.trim())].filter(Boolean);
  const because = [...finding.querySelectorAll(".because > div")].map((d) => "**" + text("h5", d) + ".** " + text("p", d));
  return ["### " + text("h4"), "", "Expected: " + facts[0], "Found: " + facts[1], "", fence, ...trace, "", ...values, fence, "", ...because.flatMap((b) => [b, ""]),
    "Reproduce with:", "", fence, text(".key .copy", run), fence, "", text(".meta")].join("\n") + "\n";
};
for (const finding of document.querySelectorAll(".finding"))
  (finding.querySelector(".links") ?? finding).append(" ", copyButton("Copy as an issue", "Copy as an issue", () => issueOf(finding)));

// Of many runs, those of one outcome.
for (const place of document.querySelectorAll(".choose")) {
  const all = [...document.querySelectorAll("[data-outcome]")], rows = [...document.querySelectorAll("tr[data-outcome]")];
  const count = (outcome) => rows.filter((r) => !outcome || r.dataset.outcome === outcome).length;
  const buttons = [["All", ""], ["Failed", "leak"], ["Inconclusive", "inconclusive"], ["Clean", "clean"]].map(([name, outcome]) =>
    el("button", { type: "button", "aria-pressed": String(!outcome), onclick: (e) => {
      for (const b of buttons) b.setAttribute("aria-pressed", String(b === e.currentTarget));
      for (const r of all) r.hidden = outcome && r.dataset.outcome !== outcome;
    } }, name + " " + count(outcome)));
  place.append(...buttons);
  place.hidden = false;
}
addEventListener("hashchange", reveal);
reveal();
// Paper has all of it; afterwards the page is as it was.
const unprint = [];
const printed = (e, attribute, value) => {
  const was = e[attribute];
  if (was === value) return;
  unprint.push(() => { e[attribute] = was; });
  e[attribute] = value;
};
addEventListener("beforeprint", () => {
  for (const d of document.querySelectorAll("details")) printed(d, "open", true);
  for (const live of document.querySelectorAll(".live[data-ready]")) { printed(live, "hidden", true); printed(live.parentElement.querySelector(".still"), "hidden", false); }
});
addEventListener("afterprint", () => { for (const undo of unprint.splice(0)) undo(); });
