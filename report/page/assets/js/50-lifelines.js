// What the keyboard and the pointer do in the lifelines.
const keyHelp = [
  ["↑ ↓", "choose a process"], ["← →", "move in time"], ["+ −", "zoom in and out"], ["Home", "show the whole run"], ["F", "go to the next finding"],
  ["G", "fold or unfold the group of the chosen process"], ["U", "unfold all groups"], ["Enter", "go to the history of the chosen process"], ["Esc", "close that history, or this list"], ["?", "show or hide this list"],
  ["click", "a process: show its history; a group: fold or unfold it"], ["drag", "move in time"], ["double click", "zoom in there"],
  ["Ctrl + wheel", "zoom; a pinch on a touchpad does the same"], ["drag on a curve", "zoom to that part"],
];

// Lifelines shows every process of a run: grouped, filtered, zoomed and walked
// through with the keyboard.
class Lifelines extends Picture {
  constructor(run, root, changed) {
    super(run);
    this.changed = changed; // told of a new view, cursor or selection
    this.group = "label";
    this.dense = run.rows > 400;
    this.folded = new Set();
    this.selected = -1;
    this.terms = [];
    this.keep = keptRows(run, []);
    this.draw = later(() => this.paint());
    this.build(root);
    this.arrange();
    redraws.add(() => { this.hatched = null; this.draw(); });
    new ResizeObserver(() => { this.layout(this.box.clientWidth); this.arrange(); }).observe(this.box);
  }
  build(root) {
    const button = (text, label, onclick) => el("button", { type: "button", title: label, "aria-label": /\w/.test(text) ? null : label, onclick }, text);
    const choose = (label, options, onchange) => el("label", {}, label + " ", el("select", { onchange: (e) => onchange(e.target.value) }, ...options.map(([v, t, on]) => el("option", { value: v, selected: !!on }, t))));
    this.bar = el("div", { class: "bar" },
      choose("Group by", [["label", "label"], ["outcome", "outcome"], ["session", "session"], ["", "nothing"]], (v) => { this.group = v; this.folded.clear(); this.arrange(); }),
      choose("Rows", [["tall", "tall", !this.dense], ["dense", "dense", this.dense], ["all", "all at once"]], (v) => { this.dense = v === "dense"; this.whole = v === "all"; this.arrange(); }),
      el("span", { class: "keys" },
        button("−", "Zoom out", () => this.zoom(2)), button("+", "Zoom in", () => this.zoom(0.5)), button("Fit", "Show the whole run", () => this.show([0, 100]))),
      this.run.findings.length ? button("First finding", "Jump to the first finding", () => this.jump(0)) : null,
      this.help = el("button", { type: "button", "aria-expanded": "false", title: "Keys and gestures", "aria-label": "Keys and gestures", onclick: () => this.explain() }, "?"));
    this.keys = el("dl", { class: "pairs keyhelp", hidden: true }, ...keyHelp.map(([key, what]) => el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, what))));
    this.headCanvas = el("canvas", { "aria-hidden": "true" });
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.tall = el("div", { class: "tall" }, this.canvas);
    this.scroller = el("div", { class: "scroller", tabindex: "0", role: "application", "aria-roledescription": "lifelines", "aria-label": this.about() }, this.tall);
    this.tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.said = el("p", { class: "quiet", role: "status" });
    this.box = el("div", { class: "lifebox" }, this.headCanvas, this.scroller, this.tip);
    this.more = el("p", { class: "note more" });
    this.panel = el("div", { class: "panel", hidden: true, tabindex: "0", role: "region", "aria-label": "What was chosen" });
    root.append(this.legend(), this.bar, this.keys, this.box, this.more, this.said, this.panel);
    root.addEventListener("keydown", (e) => { if (e.key === "Escape" && e.target.tagName !== "INPUT") this.escape(e); });
    this.listen();
  }
  about() {
    return this.run.rows + " processes. Up and down choose one, left and right move in time, plus and minus zoom, Home shows all, F jumps to the next finding, G folds or unfolds the group of the chosen one, U unfolds all, Enter goes to the history of the chosen one, the question mark lists the keys.";
  }
  explain() {
    this.keys.hidden = !this.keys.hidden;
    this.help.setAttribute("aria-expanded", String(!this.keys.hidden));
  }
  listen() {
    this.scroller.addEventListener("scroll", this.draw);
    for (const target of [this.scroller, this.headCanvas]) {
      target.addEventListener("pointermove", (e) => this.point(e, target));
      target.addEventListener("pointerleave", () => { this.tip.hidden = true; this.setCursor(null, true); });
      target.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
      target.addEventListener("pointerdown", (e) => this.press(e, target));
      target.addEventListener("dblclick", (e) => this.zoom(0.4, this.place(this.at(e).x)));
    }
    this.scroller.addEventListener("keydown", (e) => this.key(e));
    this.layout(this.box.clientWidth || 900);
  }
  at(e) {
    const box = this.scroller.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top + this.scroller.scrollTop };
  }
  // arrange decides which rows stand where.
  arrange() {
    const run = this.run, groups = new Map();
    for (let r = 0; r < run.rows; r++) {
      if (!this.keep[r]) continue;
      const o = run.owner[r], name = this.group === "" ? "" : o < 0 ? run.label(r) : this.group === "label" ? run.label(o) : this.group === "session" ? run.session(o) || "no session" : this.word(run.outcome(o));
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(r);
    }
    let names = [...groups.keys()];
    if (this.group === "outcome") names.sort((a, b) => this.badness(groups.get(b)) - this.badness(groups.get(a)));
    this.items = [];
    for (const name of names) {
      const rows = groups.get(name);
      if (this.group !== "") this.items.push({ name, rows, bad: this.wrongs(rows) });
      if (!this.folded.has(name)) for (const r of rows) this.items.push({ r });
    }
    const most = clamp(innerHeight * 0.7, 240, 620);
    const heads = this.items.filter((i) => i.name != null).length;
    this.rowHeight = this.whole ? Math.max((most - heads * 20) / Math.max(1, this.items.length - heads), 0.02) : this.dense ? 7 : 20;
    this.tops = new Float64Array(this.items.length + 1);
    this.items.forEach((item, i) => { this.tops[i + 1] = this.tops[i] + (item.name != null ? 20 : Math.min(this.rowHeight, 20)); });
    const total = this.tops[this.items.length];
    this.height = clamp(total, 60, most);
    this.scroller.style.height = this.height + "px";
    this.tall.style.height = Math.max(total, this.height) + "px";
    this.draw();
  }
  // word groups outcomes that differ in a time only: "2.51 s too long".
  word(outcome) { return outcome.replace(/^([0-9.]+ (ns|µs|ms|s|m|h) )+/, ""); }
  badness(rows) { return Math.max(...rows.slice(0, 50).map((r) => [0, 2, 3, -1, 1][this.run.columns.class[r]])); }
  // wrongs says how many rows have a finding, and how many are left without one, as in a run that is inconclusive.
  wrongs(rows) {
    const found = rows.filter((r) => this.run.found.has(r)).length, left = rows.filter((r) => this.run.bad(r) && !this.run.found.has(r)).length;
    return [found ? found + " with a finding" : "", left ? left + " left without a finding" : ""].filter(Boolean).join(", ");
  }
  index(y) {
    let lo = 0, hi = this.items.length;
    while (hi - lo > 1) { const mid = (lo + hi) >> 1; if (this.tops[mid] <= y) lo = mid; else hi = mid; }
    return this.items.length && y < this.tops[this.items.length] ? lo : -1;
  }
  paint() {
    if (!this.box.isConnected || !this.width) return;
    this.head(this.headCanvas);
    const c = fit(this.canvas, this.width, this.height), top = this.scroller.scrollTop, bottom = top + this.height;
    this.bands(c, this.height);
    c.textBaseline = "middle";
    const font = getComputedStyle(document.body).fontFamily, late = [];
    for (let i = Math.max(0, this.index(top)); i < this.items.length && this.tops[i] < bottom; i++) {
      const item = this.items[i], y = this.tops[i] - top;
      if (item.name != null) { this.title(c, item, y, font); continue; }
      const h = this.tops[i + 1] - this.tops[i];
      if (h < 4 && this.run.bad(item.r)) late.push([item.r, y, h]); else this.row(c, item.r, y, h, font);
    }
    for (const [r, y, h] of late) this.row(c, r, y, Math.max(h, 1), font); // what is wrong stays visible
    this.cross(c, this.height);
    const cut = this.items.reduce((n, item, i) => n + (item.name == null && this.tops[i] >= bottom - 4), 0);
    this.more.textContent = cut ? cut + " more below" : "";
  }
  title(c, item, y, font) {
    c.fillStyle = theme.panel;
    c.fillRect(0, y, this.width, 20);
    c.font = "600 12px " + font;
    c.fillStyle = theme.ink;
    c.fillText((this.folded.has(item.name) ? "▸ " : "▾ ") + item.name, 2, y + 10, this.left - 8);
    c.font = "11.5px " + font;
    c.fillStyle = item.bad ? theme.bad : theme.soft;
    c.fillText(item.rows.length + (item.rows.length === 1 ? " process" : " processes") + (item.bad ? ", ✗ " + item.bad : ""), this.left + 4, y + 10);
  }
  row(c, r, y, h, font) {
    const run = this.run, cls = run.columns.class[r], bad = run.bad(r), beside = run.beside(r);
    if (r === this.selected) { c.fillStyle = theme["bad-bg"]; c.fillRect(0, y, this.width, h); c.strokeStyle = theme.focus; c.strokeRect(0.5, y + 0.5, this.width - 1, h - 1); }
    this.clip(c, this.height);
    this.life(c, r, y, h);
    c.restore();
    if (h < 12) return;
    c.font = (bad ? "600 " : "") + "11.5px ui-monospace, Menlo, Consolas, monospace";
    c.fillStyle = bad ? theme.bad : beside ? theme.soft : theme.ink;
    const name = (beside ? "  └ " : "") + run.name(r).slice(0, 40), room = this.left - 10;
    c.fillText(name, 2, y + h / 2, room);
    const used = c.measureText(name).width, session = run.session(r);
    c.font = "11.5px " + font;
    if (session && used + 40 < room) { c.fillStyle = theme.soft; c.fillText(session.slice(0, 24), used + 10, y + h / 2, room - used - 10); }
    if (this.right < 60) return;
    c.fillStyle = bad ? theme.bad : theme.soft;
    c.fillText((cls === 2 ? "⚠ " : bad ? "✗ " : "") + run.outcome(r), this.left + this.plot + 8, y + h / 2, this.right - 8);
  }
  // setFilter keeps what holds.
  setFilter(terms) {
    this.terms = terms;
    this.keep = keptRows(this.run, terms);
    this.arrange();
    return this.keep.reduce((n, k) => n + k, 0);
  }
  show(view, quiet) {
    const wide = clamp(view[1] - view[0], 1e-4, 100), from = clamp(view[0], 0, 100 - wide);
    this.view = [from, from + wide];
    this.draw();
    if (!quiet) this.changed("view", this.view);
  }
  zoom(by, around) {
    const [a, b] = this.view, at = around ?? this.cursor ?? (a + b) / 2;
    this.show([at - (at - a) * by, at + (b - at) * by]);
  }
  setCursor(x, tell) {
    if (this.cursor === x) return;
    this.cursor = x;
    this.draw();
    if (tell) this.changed("cursor", x);
  }
  wheel(e) {
    if (e.ctrlKey || e.metaKey) { e.preventDefault(); this.zoom(Math.exp(e.deltaY / 240), this.place(this.at(e).x)); } else if (Math.abs(e.deltaX) > Math.abs(e.deltaY) && this.view[1] - this.view[0] < 100) {
      e.preventDefault();
      const by = (e.deltaX * (this.view[1] - this.view[0])) / this.plot;
      this.show([this.view[0] + by, this.view[1] + by]);
    }
  }
  press(e, target) {
    const begun = this.at(e), view = this.view.slice();
    let moved = false;
    const move = (m) => {
      const dx = this.at(m).x - begun.x;
      if (Math.abs(dx) < 4 && !moved) return;
      moved = true;
      if (m.pointerType === "mouse" || view[1] - view[0] < 100) this.show([view[0] - (dx * (view[1] - view[0])) / this.plot, view[1] - (dx * (view[1] - view[0])) / this.plot]);
    };
    const up = (u) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", up);
      if (u.type === "pointerup" && !moved && target === this.scroller) this.choose(this.index(this.at(u).y));
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", up); // a finger that scrolls the page
  }
  choose(i) {
    const item = this.items[i];
    if (!item) return;
    if (item.name != null) { if (!this.folded.delete(item.name)) this.folded.add(item.name); this.arrange(); return; }
    this.select(item.r);
  }
  select(r) {
    this.selected = r;
    this.said.textContent = this.run.name(r) + ", pid " + this.run.columns.pid[r] + ": " + this.run.outcome(r);
    this.tell(r);
    this.draw();
    this.changed("select", r);
  }
  reveal(r) {
    if (!this.keep[r]) this.changed("unfilter");
    let i = this.items.findIndex((item) => item.r === r);
    if (i < 0) { this.folded.clear(); this.arrange(); i = this.items.findIndex((item) => item.r === r); }
    if (i >= 0) this.scroller.scrollTop = this.tops[i] - this.height / 3;
    this.select(r);
  }
  // jump shows a finding: the process that it names, around its moment.
  jump(n) {
    const f = this.run.findings[n];
    if (!f) return;
    this.finding = n;
    if (f.rows.length) this.reveal(f.rows[0]); else this.tellFinding(f);
    const t = f.rows.length ? this.run.columns.born[f.rows[0]] : f.times[0];
    const x = this.run.x(f.times[0] ?? t ?? 0);
    this.show([x - 6, Math.max(x + 14, f.rows.length ? this.run.x(this.run.until(f.rows[0])) + 2 : 0)]);
    this.said.textContent = f.law + " " + f.kind + ": " + f.title;
  }
  // escape closes what was opened last on top of the picture.
  escape(e) {
    if (!this.keys.hidden) { this.explain(); this.help.focus({ preventScroll: true }); } else if (!this.panel.hidden) this.close(); else return;
    e.preventDefault();
  }
  close() {
    this.panel.hidden = true;
    this.selected = -1;
    this.draw();
    this.changed("select", -1);
    this.scroller.focus();
  }
  key(e) {
    const wide = this.view[1] - this.view[0], step = { ArrowLeft: -0.2, ArrowRight: 0.2 }[e.key];
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (step) this.show([this.view[0] + step * wide, this.view[1] + step * wide]);
    else if (e.key === "+" || e.key === "=") this.zoom(0.5);
    else if (e.key === "-") this.zoom(2);
    else if (e.key === "Home") this.show([0, 100]);
    else if (e.key === "f" || e.key === "F") this.jump(((this.finding ?? -1) + 1) % (this.run.findings.length || 1));
    else if (e.key === "g" || e.key === "G") this.foldGroup();
    else if (e.key === "u" || e.key === "U") { this.folded.clear(); this.arrange(); }
    else if (e.key === "?") this.explain();
    else if (e.key === "Enter" && !this.panel.hidden) this.panel.focus();
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") this.walk(e.key === "ArrowDown" ? 1 : -1);
    else return;
    e.preventDefault();
  }
  walk(by) {
    let i = this.items.findIndex((item) => item.r === this.selected);
    if (i < 0) i = this.groupOf(this.selected);
    if (i < 0) i = by > 0 ? -1 : this.items.length;
    do i += by; while (this.items[i] && this.items[i].name != null);
    if (!this.items[i]) return;
    const top = this.tops[i];
    if (top < this.scroller.scrollTop || top + 20 > this.scroller.scrollTop + this.height) this.scroller.scrollTop = top - this.height / 2;
    this.select(this.items[i].r);
  }
  // groupOf is where the heading over a process stands, which may be folded, or -1.
  groupOf(r) {
    return this.items.findIndex((item) => item.name != null && item.rows.includes(r));
  }
  foldGroup() {
    const i = Math.max(this.groupOf(this.selected), 0), head = this.items[i];
    if (head?.name == null) return;
    this.choose(i);
    this.scroller.scrollTop = Math.min(this.scroller.scrollTop, this.tops[i]);
    this.said.textContent = (this.folded.has(head.name) ? "Folded " : "Unfolded ") + head.name + ", " + head.rows.length + " processes";
  }
  point(e, target) {
    const { x, y } = this.at(e);
    const on = x >= this.left && x <= this.left + this.plot;
    this.setCursor(on ? this.place(x) : null, true);
    const item = target === this.scroller ? this.items[this.index(y)] : null;
    this.tip.hidden = !on;
    if (!on) return;
    this.tip.textContent = seconds(this.run.time(this.place(x))) + (item?.r != null ? "  " + this.run.name(item.r) + ": " + this.run.outcome(item.r) : target === this.headCanvas ? this.stepAt(x) : "");
    const box = this.box.getBoundingClientRect();
    this.tip.style.transform = "translate(" + clamp(e.clientX - box.left + 12, 0, Math.max(0, this.width - this.tip.offsetWidth)) + "px," + (e.clientY - box.top + 16) + "px)";
  }
  stepAt(px) {
    const run = this.run, t = run.columns["step.t"], took = run.columns["step.took"];
    for (let i = 0; i < t.length; i++) if (px >= this.px(run.x(t[i])) - 1 && px <= Math.max(this.px(run.x(t[i] + took[i])), this.px(run.x(t[i])) + 2)) return "  " + run.texts[run.columns["step.text"][i]] + " (" + span(took[i]) + ")";
    return "";
  }
  // tell fills the panel with the history of a process.
  tell(r) {
    const run = this.run, c = run.columns, all = run.eventsOf(r).sort((a, b) => a.t - b.t), found = (run.found.get(r) || []).map((i) => run.findings[i]);
    const shown = all.slice(0, 400);
    this.panel.hidden = false;
    this.panel.replaceChildren(
      el("p", { class: "panelhead" }, el("b", {}, run.name(r)), " pid " + c.pid[r] + ", parent " + c.ppid[r] + (run.session(r) ? ", session " + run.session(r) : "") + ": ",
        el("span", { class: run.bad(r) ? "badtext" : "" }, run.outcome(r)), " ",
        this.closer()),
      found.length ? el("p", {}, "Findings: ", ...found.flatMap((f) => [el("a", { href: "#" + f.id }, f.law + " " + f.kind), " "])) : "",
      el("ol", { class: "events", tabindex: "0", "aria-label": "Events of " + this.run.name(r) }, ...shown.map((e) => el("li", { class: { fault: "fault", over: "bad", left: "bad", lost: "bad" }[e.kind] || "" }, el("b", {}, seconds(e.t)), " " + e.kind + ": " + e.text)),
        all.length > shown.length ? el("li", {}, "and " + (all.length - shown.length) + " more: see the messages") : null),
      el("p", { class: "soft measured" }));
    run.samples().then((s) => this.measured(r, s));
  }
  // tellFinding fills the panel with a finding that names no process of the picture.
  tellFinding(f) {
    this.selected = -1;
    this.panel.hidden = false;
    this.panel.replaceChildren(el("p", { class: "panelhead" }, el("a", { href: "#" + f.id }, f.law + " " + f.kind), " ", el("b", {}, f.title), " ", this.closer()),
      el("p", { class: "soft" }, f.times.length ? "At " + seconds(f.times[0]) + ". It names no process." : "It names no process and no time."));
    this.draw();
  }
  closer() {
    return el("button", { type: "button", onclick: () => this.close() }, "Close");
  }
  measured(r, s) {
    if (!s || r !== this.selected) return;
    const from = s.start[r], to = s.start[r + 1], place = this.panel.querySelector(".measured");
    if (to === from || !place) return;
    const rss = s.columns.rss.subarray(from, to), fds = s.columns.fds.subarray(from, to);
    let peak = 0;
    for (const v of rss) peak = Math.max(peak, v);
    place.textContent = "Looked at " + (to - from) + " times: " + bytes(rss[0] * 4096) + " at first, " + bytes(peak * 4096) + " at most, " + bytes(rss[rss.length - 1] * 4096) + " at last; descriptors " + fds[0] + " to " + fds[fds.length - 1] + ".";
  }
}
