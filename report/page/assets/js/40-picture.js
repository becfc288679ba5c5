// Picture paints the lifelines: what Lifelines (the next file) lays out. The
// view is a piece of the axis, in per cent: [x0, x1].
const stateLooks = { start: [4, "start"], work: [8, "work"], broken: [8, "warn-fill"], leave: [2, "leave"], over: [10, "bad-fill"], zombie: [3, "bad-fill"], seen: [3, "soft"] };
const markKinds = { init: 1, eof: 1, signal: 1, fault: 1, died: 1, lost: 1, left: 1, reaped: 1, ready: 1 };

const legendWords = [
  ["starting", "start"], ["in use", "work"], ["broken", "broken"], ["ending", "leave"], ["should be gone", "over"], ["zombie", "zombie"], ["seen in the process table", "seen"], ["ready", "ready"], ["initialized", "init"],
  ["fault", "fault"], ["EOF", "eof"], ["signal", "signal"], ["death", "died"], ["lost from sight", "lost"], ["reaped", "reaped"], ["ended by mistake", "wrong"], ["outlived the run", "left"],
];

class Picture {
  constructor(run) {
    this.run = run;
    this.view = [0, 100];
    this.cursor = null;
  }
  // px is where a place of the axis is, within the plot.
  px(x) { return this.left + ((x - this.view[0]) * this.plot) / (this.view[1] - this.view[0]); }
  place(px) { return this.view[0] + ((px - this.left) * (this.view[1] - this.view[0])) / this.plot; }
  layout(width) {
    this.width = width;
    const narrow = width < 620;
    this.left = narrow ? 104 : 206;
    this.right = narrow ? 8 : 132;
    this.plot = Math.max(40, width - this.left - this.right);
  }
  hatch(c, color) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const t = tile.getContext("2d");
    t.strokeStyle = theme[color];
    t.lineWidth = 1.8;
    for (const at of [-6, 0, 6]) { t.beginPath(); t.moveTo(at, 6); t.lineTo(at + 6, 0); t.stroke(); }
    return c.createPattern(tile, "repeat");
  }
  clip(c, height) {
    c.save();
    c.beginPath();
    c.rect(this.left - 5, 0, this.plot + 10, height);
    c.clip();
  }
  // bands lie behind: idle time, checkpoints, the time without a host, deaths by order.
  bands(c, height) {
    const run = this.run, rect = (x0, x1, fill) => {
      c.fillStyle = fill;
      c.fillRect(this.px(x0), 0, Math.max(1, this.px(x1) - this.px(x0)), height);
    };
    this.clip(c, height);
    const rain = this.hatch(c, "rain");
    for (const [a, b] of run.idle) rect(a, b, rain);
    run.lives.forEach(([, to], i) => {
      if (to >= 0) rect(run.x(to), run.lives[i + 1] ? run.x(run.lives[i + 1][0]) : 100, theme.gone);
    });
    for (const k of run.checks) {
      c.globalAlpha = k.quiet ? 1 : 0.12;
      rect(run.x(k.from), run.x(k.to), k.quiet ? theme.band : theme["bad-fill"]);
      c.globalAlpha = 1;
    }
    c.globalAlpha = 0.35;
    const t = run.columns["step.t"], cls = run.columns["step.class"];
    c.fillStyle = theme["warn-fill"];
    for (let i = 0, last = -9; i < t.length; i++) {
      const x = cls[i] === 2 ? Math.round(this.px(run.x(t[i]))) : last;
      if (x - last >= 1) { c.fillRect(x, 0, 1, height); last = x; }
    }
    c.restore();
  }
  cross(c, height) {
    if (this.cursor == null || this.cursor < this.view[0] || this.cursor > this.view[1]) return;
    c.fillStyle = theme.focus;
    c.fillRect(Math.round(this.px(this.cursor)), 0, 1, height);
  }
  // head is the axis, the checkpoints, the steps and the moments of findings.
  head(canvas) {
    const height = 74, c = fit(canvas, this.width, height), run = this.run;
    this.bands(c, height);
    c.font = "11px " + getComputedStyle(document.body).fontFamily;
    c.textBaseline = "middle";
    c.fillStyle = theme.soft;
    c.textAlign = "left";
    const words = { time: true, checkpoints: run.checks.length, steps: run.columns["step.t"].length, findings: run.findings.length };
    Object.keys(words).forEach((word, i) => words[word] && c.fillText(word, 0, [9, 27, 45, 64][i]));
    c.textAlign = "center";
    for (const k of ticksOf(run, this.view[0], this.view[1], (78 * (this.view[1] - this.view[0])) / this.plot)) {
      const x = this.px(k.x);
      c.font = (k.idle ? "italic " : "") + "11px " + getComputedStyle(document.body).fontFamily;
      c.fillText(k.text, clamp(x, this.left + 20, this.left + this.plot - 20), 9);
      if (!k.idle) c.fillRect(x, 16, 1, 4);
    }
    this.clip(c, height);
    this.names(c);
    this.stepLane(c);
    this.moments(c);
    c.restore();
    this.cross(c, height);
  }
  names(c) {
    c.textAlign = "center";
    c.font = "600 11px " + getComputedStyle(document.body).fontFamily;
    let end = -1e9;
    for (const k of this.run.checks) {
      const x0 = Math.max(this.px(this.run.x(k.from)), this.left), x1 = Math.min(this.px(this.run.x(k.to)), this.left + this.plot);
      const wide = c.measureText(k.name).width, at = clamp((x0 + x1) / 2, this.left + wide / 2, this.left + this.plot - wide / 2);
      if (x1 < this.left || x0 > this.left + this.plot || at - wide / 2 < end) continue;
      c.fillStyle = k.quiet ? theme.soft : theme.bad;
      c.fillText((k.quiet ? "✓ " : "✗ ") + k.name, at, 27);
      end = at + wide / 2 + 14;
    }
    c.textAlign = "left";
  }
  stepLane(c) {
    const run = this.run, t = run.columns["step.t"], took = run.columns["step.took"], cls = run.columns["step.class"], text = run.columns["step.text"];
    const fills = [theme.step, theme.endop, theme["warn-fill"], null, theme["bad-fill"]];
    c.font = "10.5px " + getComputedStyle(document.body).fontFamily;
    let end = -1e9;
    for (let i = 0; i < t.length; i++) {
      const x0 = this.px(run.x(t[i])), x1 = Math.max(x0 + 2, this.px(run.x(t[i] + took[i])));
      if (x1 < this.left || x0 > this.left + this.plot || (x1 < end && cls[i] !== 4)) continue;
      end = Math.max(end, x1);
      if (fills[cls[i]]) { c.fillStyle = fills[cls[i]]; c.fillRect(x0, 38, x1 - x0 - 0.6, 14); } else { c.strokeStyle = theme.soft; c.strokeRect(x0 + 0.5, 38.5, Math.max(1, x1 - x0 - 1.5), 13); }
      const from = Math.max(x0, this.left) + 3, name = run.texts[text[i]];
      if (x1 - from > 30 && c.measureText(name).width < x1 - from - 3) { c.fillStyle = cls[i] === 2 ? "#15171b" : cls[i] === 4 ? theme.paper : theme.ink; c.fillText(name, from, 45.5); }
    }
  }
  moments(c) {
    c.fillStyle = theme["bad-fill"];
    let last = -9;
    const xs = [];
    for (const f of this.run.findings) for (const t of f.times) xs.push(this.px(this.run.x(t)));
    for (const x of xs.sort((a, b) => a - b)) {
      if (x - last < 3) continue;
      last = x;
      c.beginPath(); c.moveTo(x - 4, 59); c.lineTo(x + 4, 59); c.lineTo(x, 69); c.fill();
    }
  }
  // life paints one row at a height: its states, calls and marks.
  life(c, r, y, h) {
    const run = this.run, col = run.columns, small = h < 12, x1 = this.left + this.plot;
    let t = col.born[r];
    for (let i = run.parts[r]; i < run.parts[r + 1]; i++) {
      const state = run.states[col.state[i]], [tall, color] = stateLooks[state], from = this.px(run.x(t));
      t += col.took[i];
      let to = this.px(run.x(t));
      if (state === "over" && i + 1 === run.parts[r + 1] && this.outlived(r)) to = this.px(100);
      if (to < this.left || from > x1) continue;
      const ink = state === "seen" && run.bad(r) ? "bad-fill" : color;
      const height = small ? Math.max(1, h - 1) * (tall > 4 ? 1 : 0.5) : (tall * h) / 20, wide = Math.max(to - from, state === "over" ? 2 : 1);
      c.fillStyle = state === "broken" && !small ? (this.hatched ??= this.hatch(c, "warn-fill")) : theme[ink];
      if (state === "seen" || state === "zombie") for (let x = Math.max(from, this.left); x < Math.min(to, x1); x += 6) c.fillRect(x, y + (h - height) / 2, 4, height);
      else c.fillRect(from, y + (h - height) / 2, wide, height);
    }
    if (!small) this.marks(c, r, y + h / 2);
  }
  // occurring are the states and marks that this run has.
  occurring() {
    const run = this.run, c = run.columns, there = new Set();
    for (let i = 0; i < c.state.length; i++) there.add(run.states[c.state[i]]);
    for (let r = 0; r < run.rows; r++) {
      for (let i = run.events[r + 1]; i < run.events[r + 2]; i++) {
        const kind = run.kinds[c["ev.kind"][i]];
        there.add(kind === "died" && c.class[r] === 2 ? "wrong" : kind);
      }
    }
    return there;
  }
  // legend says what those mean, as this picture paints them.
  legend() {
    const there = this.occurring(), drawn = legendWords.filter(([, kind]) => there.has(kind)).map(([word, kind]) => [el("canvas", { "aria-hidden": "true" }), word, kind]);
    const draw = () => {
      for (const [canvas, , kind] of drawn) {
        const look = stateLooks[kind], c = fit(canvas, look ? 22 : 14, 20);
        if (!look) { this.mark(c, kind, 7, 10); continue; }
        c.fillStyle = kind === "broken" ? this.hatch(c, "warn-fill") : theme[look[1]];
        const dashed = kind === "zombie" || kind === "seen";
        for (let x = 1; x < 21; x += dashed ? 6 : 20) c.fillRect(x, 10 - look[0] / 2, dashed ? 4 : 20, look[0]);
      }
    };
    draw();
    redraws.add(draw);
    return el("ul", { class: "legend", "aria-label": "Legend" }, ...drawn.map(([canvas, word]) => el("li", {}, canvas, word)));
  }
  outlived(r) { return this.run.kinds[this.run.columns["ev.kind"][this.run.events[r + 2] - 1]] === "left"; }
  marks(c, r, y) {
    const run = this.run, col = run.columns, last = {};
    for (let i = run.events[r + 1]; i < run.events[r + 2]; i++) {
      const kind = run.kinds[col["ev.kind"][i]];
      if (!markKinds[kind]) continue;
      const x = kind === "left" ? this.px(100) - 4 : this.px(run.x(col["ev.t"][i]));
      if (x < this.left - 4 || x > this.left + this.plot + 4 || x - (last[kind] ?? -9) < 3) continue;
      last[kind] = x;
      this.mark(c, kind === "died" && col.class[r] === 2 ? "wrong" : kind, x, y);
    }
  }
  mark(c, kind, x, y) {
    c.lineWidth = 1.4;
    c.strokeStyle = theme.ink;
    c.fillStyle = theme.ink;
    c.beginPath();
    switch (kind) {
      case "init": c.arc(x, y, 2.6, 0, 7); c.fillStyle = theme.paper; c.fill(); c.stroke(); return;
      case "eof": c.moveTo(x - 2.5, y - 4.5); c.lineTo(x + 1.5, y - 4.5); c.lineTo(x + 1.5, y + 4.5); c.lineTo(x - 2.5, y + 4.5); c.stroke(); return;
      case "signal": c.moveTo(x - 4, y - 7); c.lineTo(x + 4, y - 7); c.lineTo(x, y - 1); c.fill(); return;
      case "fault": c.moveTo(x, y - 5); c.lineTo(x + 5, y); c.lineTo(x, y + 5); c.lineTo(x - 5, y); c.closePath(); c.fillStyle = theme["warn-fill"]; c.fill(); c.strokeStyle = theme.paper; c.lineWidth = 1; c.stroke(); return;
      case "wrong": c.strokeStyle = theme["bad-fill"]; c.lineWidth = 2.4; c.moveTo(x - 4, y - 4); c.lineTo(x + 4, y + 4); c.moveTo(x - 4, y + 4); c.lineTo(x + 4, y - 4); c.stroke(); return;
      case "left": c.fillStyle = theme["bad-fill"]; c.moveTo(x - 4, y - 6); c.lineTo(x + 4, y); c.lineTo(x - 4, y + 6); c.fill(); return;
      case "lost": c.moveTo(x, y - 6); c.lineTo(x, y - 2); c.moveTo(x, y + 2); c.lineTo(x, y + 6); c.stroke(); return;
      case "reaped": c.moveTo(x - 3, y + 5); c.lineTo(x + 3, y + 5); c.stroke(); return;
      case "ready": c.lineWidth = 1; c.moveTo(x, y - 3); c.lineTo(x, y + 3); c.stroke(); return;
      default: c.lineWidth = 1.8; c.moveTo(x, y - 6); c.lineTo(x, y + 6); c.stroke();
    }
  }
}
