// What the page holds, as files for other tools.
const save = (name, type, parts) => {
  const a = el("a", { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
};

const ndjson = async (run) => {
  const lines = [], put = (o) => lines.push(JSON.stringify(o) + "\n"), c = run.columns, s = await run.samples();
  put({ type: "run", scenario: run.scenario, host: run.host, end_us: run.end, findings: run.findings, checkpoints: run.checks });
  for (let r = -1; r < run.rows; r++) {
    if (r >= 0) put({ type: "process", row: r, name: run.name(r), label: run.label(r), session: run.session(r), pid: c.pid[r], ppid: c.ppid[r], born_us: c.born[r], until_us: run.until(r), outcome: run.outcome(r) });
    for (const e of run.eventsOf(r)) put({ type: "event", row: r, t_us: e.t, kind: e.kind, text: e.text });
    if (r >= 0 && s) for (let i = s.start[r]; i < s.start[r + 1]; i++) put({ type: "sample", row: r, t_us: s.columns.t[s.columns.when[i]], rss: s.columns.rss[i] * 4096, fds: s.columns.fds[i] });
  }
  for (const text of run.log) put({ type: "stderr", of: "host", text });
  return lines;
};

// trace is the run in the Trace Event Format.
const trace = (run) => {
  const c = run.columns, events = [], meta = (pid, tid, what, name) => events.push({ ph: "M", pid, tid, ts: 0, name: what, args: { name } });
  meta(1, 0, "process_name", run.scenario + " on " + run.host);
  run.labels.forEach((l, i) => meta(i + 2, 0, "process_name", l));
  for (const e of run.eventsOf(-1)) events.push({ ph: "i", s: "p", pid: 1, tid: 1, ts: e.t, name: e.kind + ": " + e.text });
  for (let r = 0; r < run.rows; r++) {
    const pid = c.label[r] + 2, tid = r + 1;
    meta(pid, tid, "thread_name", run.name(r) + " pid " + c.pid[r]);
    let t = c.born[r];
    for (let i = run.parts[r]; i < run.parts[r + 1]; t += c.took[i++]) events.push({ ph: "X", pid, tid, ts: t, dur: c.took[i], name: run.states[c.state[i]] });
    for (const e of run.eventsOf(r)) events.push({ ph: "i", s: "t", pid, tid, ts: e.t, name: e.kind + ": " + e.text });
  }
  for (const curve of run.curves) for (const l of curve.lines) run.columns[l.key + ".t"].forEach((ts, i) => events.push({ ph: "C", pid: 1, ts, name: curve.title, args: { [l.name]: run.columns[l.key + ".v"][i] } }));
  return JSON.stringify({ displayTimeUnit: "ms", traceEvents: events });
};
