// inflate reads a block of data: an object, and columns of numbers.
const inflate = async (id) => {
  const block = document.getElementById(id);
  if (!block) return null;
  const text = block.textContent.trim();
  const raw = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = new Uint8Array(await new Response(stream).arrayBuffer());
  const at = { i: 0 };
  const size = varint(data, at);
  const meta = JSON.parse(new TextDecoder().decode(data.subarray(at.i, at.i + size)));
  at.i += size;
  const columns = {};
  meta.columns.names.forEach((name, n) => { columns[name] = column(data, at, meta.columns.counts[n]); });
  return { ...meta, columns };
};

const varint = (data, at) => {
  let value = 0, scale = 1;
  for (;;) {
    const b = data[at.i++];
    value += (b & 127) * scale;
    if (b < 128) return value;
    scale *= 128;
  }
};

// column is a list of numbers, written as zig-zag varints of its differences.
const column = (data, at, count) => {
  const out = new Float64Array(count);
  let i = at.i, last = 0;
  for (let n = 0; n < count; n++) {
    let b = data[i++], v = b & 127;
    for (let scale = 128; b > 127; scale *= 128) { b = data[i++]; v += (b & 127) * scale; }
    last += v % 2 ? -(v + 1) / 2 : v / 2;
    out[n] = last;
  }
  at.i = i;
  return out;
};

// starts turns how many each row has into where they begin.
const starts = (counts) => {
  const out = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) out[i + 1] = out[i] + counts[i];
  return out;
};

// Run is the data of a run with what follows from it. Its rows are processes.
class Run {
  constructor(meta) {
    Object.assign(this, meta);
    const c = this.columns;
    this.rows = c.label.length;
    this.parts = starts(c.parts);
    this.events = starts(c["ev.rows"]); // row r has events[r+1] to events[r+2]: the first are the bench's
    this.owner = new Int32Array(this.rows); // the server that a process belongs to
    for (let r = 0, last = -1; r < this.rows; r++) {
      if (!this.beside(r)) last = r;
      this.owner[r] = !this.beside(r) ? r : c.label[r] >= 0 ? last : -1;
    }
    this.found = new Map(); // row -> findings
    this.findings.forEach((f, i) => f.rows.forEach((r) => this.found.set(r, [...(this.found.get(r) || []), i])));
  }
  name(r) {
    const c = this.columns;
    return c.name[r] ? this.texts[c.name[r]] : this.labels[c.label[r]] + "#" + c.launch[r];
  }
  beside(r) { return this.columns.class[r] > 2; } // it is none of the ledger's servers
  bad(r) { return [1, 2, 4].includes(this.columns.class[r]); }
  outcome(r) { return this.texts[this.columns.outcome[r]]; }
  label(r) { return this.labels[this.columns.label[r]] ?? "of no server"; }
  session(r) { return this.sessions[this.columns.session[r]]; }
  until(r) {
    let t = this.columns.born[r];
    for (let i = this.parts[r]; i < this.parts[r + 1]; i++) t += this.columns.took[i];
    return t;
  }
  eventsOf(r) {
    const out = [], c = this.columns;
    for (let i = this.events[r + 1]; i < this.events[r + 2]; i++) out.push({ t: c["ev.t"][i], kind: this.kinds[c["ev.kind"][i]], text: this.texts[c["ev.text"][i]] });
    return out;
  }
  // x is where a time is, in per cent of the width; time is the other way.
  x(t) { return bend(this.knots, t, 0, 1); }
  time(x) { return bend(this.knots, x, 1, 0); }
  samples() { return (this.sampled ??= inflate(this.id + "samples").then((s) => s && { ...s, start: starts(s.columns.count) })); }
}

// bend maps along a line of straight pieces.
const bend = (knots, v, from, to) => {
  let lo = 0, hi = knots.length - 1;
  if (v >= knots[hi][from]) return knots[hi][to];
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (knots[mid][from] <= v) lo = mid; else hi = mid;
  }
  const a = knots[lo], b = knots[hi], width = b[from] - a[from];
  return width > 0 ? a[to] + ((v - a[from]) * (b[to] - a[to])) / width : a[to];
};

// ticksOf are round times between two places of the axis, about one for each
// stretch of room per cent.
const ticksOf = (run, x0, x1, room) => {
  const out = [], idle = run.idle.filter(([a, b]) => b > x0 && a < x1);
  const free = (x) => out.every((t) => Math.abs(t.x - x) >= room);
  for (const [a, b] of idle) {
    const mid = (Math.max(a, x0) + Math.min(b, x1)) / 2;
    if (b - a > room / 3 && free(mid)) out.push({ x: mid, idle: true, text: span(Math.round(run.time(b) - run.time(a))) + " idle" });
  }
  for (let x = x0 + room / 4; x < x1; x += room / 4) {
    if (!free(x) || idle.some(([a, b]) => x > a && x < b)) continue;
    const wide = Math.abs(run.time(x + room / 2) - run.time(x - room / 2)) || 1;
    const step = 10 ** Math.floor(Math.log10(wide / 2)), t = Math.round(run.time(x) / step) * step, at = run.x(t);
    if (at >= x0 && at <= x1 && free(at)) out.push({ x: at, text: seconds(t, clamp(6 - Math.floor(Math.log10(step)), 0, 6)) });
  }
  return out.sort((a, b) => a.x - b.x);
};
