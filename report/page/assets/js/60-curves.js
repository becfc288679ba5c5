// Curves are the numbers of a run over the axis of the lifelines: what was
// there, and the limit that it is held to. A number holds until the next look
// at it, so all lines are steps.
const lineLooks = {
  alive: ["work", 1.6, "alive"], over: ["bad-fill", 1.6, "bad-fill"], limit: ["ink", 1.4, null, [5, 4]], zombie: ["warn-fill", 1.6, null, [2, 3]],
  host: ["work", 1.8, null], servers: ["good", 1.6, null, [8, 3]], chosen: ["bad", 1.8, null, [1, 2]],
};

// pageSteps are round numbers of pages: powers of two are round in bytes too.
const pageSteps = Array.from({ length: 30 }, (_, i) => 2 ** i);

const highest = (values) => values.reduce((a, b) => Math.max(a, b), 0);

class Curves {
  constructor(run, root, changed, picture) {
    this.run = run;
    this.changed = changed;
    this.picture = picture; // whose plot these stand below
    this.plots = [];
    this.root = el("div", { class: "curves" });
    root.append(this.root);
    this.draw();
    redraws.add(() => this.draw());
    let width = this.root.clientWidth;
    new ResizeObserver(later(() => { if (this.root.clientWidth !== width) { width = this.root.clientWidth; this.draw(); } })).observe(this.root);
  }
  tall() { return this.root.clientWidth < 620 ? 130 : 150; }
  draw() {
    for (const u of this.plots) u.destroy();
    this.root.replaceChildren();
    this.plots = this.run.curves.map((curve) => this.plot(curve));
    if (this.view) this.show(this.view);
  }
  plot(curve) {
    const run = this.run, lines = curve.lines.map((l) => ({ ...l, t: run.columns[l.key + ".t"], v: run.columns[l.key + ".v"] }));
    const value = curve.unit === "pages" ? (v) => (v == null ? "–" : bytes(v * 4096)) : (v) => (v == null ? "–" : String(v));
    const figure = el("figure", { "aria-label": curve.title + ": " + lines.map((l) => l.name + " " + value(highest(l.v)) + " at most").join(", ") }, el("figcaption", {}, curve.title));
    this.root.append(figure);
    const mono = "11px " + getComputedStyle(document.body).fontFamily, grid = { stroke: theme.rule, width: 1 };
    return new uPlot({
      width: this.root.clientWidth || 800, height: this.tall(), legend: { live: true },
      padding: [6, this.picture.right, 0, 0],
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 5 }, focus: { prox: -1 } },
      scales: { x: { time: false, range: () => this.view ?? [0, 100] }, y: { range: (u, lo, hi) => [0, Math.max(1, hi * 1.08)] } },
      axes: [
        { stroke: theme.soft, grid: { show: false }, ticks: grid, font: mono, size: 28, splits: (u, i, lo, hi) => { u.marks = ticksOf(run, lo, hi, (84 * (hi - lo)) / this.picture.plot); return u.marks.map((k) => k.x); }, values: (u) => (u.marks || []).map((k) => k.text) },
        { stroke: theme.soft, grid, ticks: grid, font: mono, size: this.picture.left, incrs: curve.unit === "pages" ? pageSteps : undefined, values: (u, splits) => splits.map((v) => (curve.unit === "pages" || v === Math.round(v) ? value(v) : "")) },
      ],
      series: [{ label: "time", value: (u, x) => (x == null ? "whole run" : seconds(run.time(x))) }, ...lines.map((l) => this.series(l, value))],
      hooks: {
        setCursor: [(u) => { if (!this.told && u.cursor.left >= 0) this.changed("cursor", u.posToVal(u.cursor.left, "x")); }],
        setSelect: [(u) => { if (u.select.width > 4) { this.changed("view", [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]); u.setSelect({ width: 0, height: 0 }, false); } }],
      },
    }, this.table(lines), figure);
  }
  series(l, value) {
    const [color, width, fill, dash] = lineLooks[l.class];
    return {
      label: l.name, stroke: theme[color], width, dash, fill: fill ? theme[fill] + (fill === "alive" ? "" : "99") : undefined, spanGaps: true,
      paths: uPlot.paths.stepped({ align: 1 }), points: { show: !l.step && l.t.length < 60, size: 4 },
      value: (u, v, i, at) => (at == null ? "at most " + value(highest(l.v)) : value(v)),
    };
  }
  // table puts the lines on one list of places, each with its value from there on.
  table(lines) {
    const run = this.run, all = new Set([0, run.end]);
    for (const l of lines) for (const t of l.t) all.add(t);
    const times = Float64Array.from(all).sort(), xs = Array.from(times, (t) => run.x(t));
    return [xs, ...lines.map((l) => {
      const out = new Array(times.length).fill(null);
      let i = 0;
      times.forEach((t, n) => {
        while (i < l.t.length && l.t[i] < t) i++;
        if (l.t[i] === t) { while (i + 1 < l.t.length && l.t[i + 1] === t) i++; out[n] = l.v[i]; } else if (i > 0 && (i < l.t.length || l.step && (l.class !== "limit" || l.key === "owed"))) out[n] = l.v[i - 1];
      });
      return out;
    })];
  }
  show(view) {
    this.view = view;
    for (const u of this.plots) u.setScale("x", { min: view[0], max: view[1] });
  }
  setCursor(x) {
    this.told = true;
    for (const u of this.plots) u.setCursor(x == null ? { left: -10, top: -10 } : { left: u.valToPos(x, "x"), top: 20 }, true);
    this.told = false;
  }
}
