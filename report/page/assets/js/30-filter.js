// The filter language: words that must all hold. "key:word" looks at one thing,
// "!word" must not hold, "a b" in quotes is one word.
const filterKeys = {
  s: "what became of it: leak, overkill, zombie, clean",
  process: "who: a server, a process beside one, host, bench",
  server: "its name", session: "its session", pid: "its pid", label: "its label",
  fault: "a fault that it committed", law: "a finding that names it: L1, superseded",
  kind: "of message: rpc, fault, signal, eof, stderr, step",
};
const ofRow = new Set(["s", "process", "server", "session", "pid", "label", "fault", "law"]);
const classWords = ["ok clean", "leak bad", "overkill mistake bad", "beside", "leak bad beside"];

// wrongKeys are those that no filter knows. A word with a colon goes into quotes.
const wrongKeys = (text) =>
  [...text.toLowerCase().matchAll(/(?:^|\s)!?([a-z]+):(?=[^\s:/]|"|$)/g)].map((m) => m[1]).filter((key) => !(key in filterKeys));

const parseFilter = (text) =>
  [...text.toLowerCase().matchAll(/(!?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g)].map(([whole, not, key, quoted, word]) =>
    key && !(key in filterKeys) ? { not: !!not, key: "", word: whole.slice(not.length) } : { not: !!not, key: key || "", word: quoted ?? word });

// rowFacts is what the keys of a filter look at, in lower case.
const rowFacts = (run, r) => {
  if (run.facts?.[r]) return run.facts[r];
  run.facts ??= [];
  const c = run.columns, faults = [];
  for (let i = run.events[r + 1]; i < run.events[r + 2]; i++) if (run.kinds[c["ev.kind"][i]] === "fault") faults.push(run.texts[c["ev.text"][i]]);
  const found = (run.found.get(r) || []).map((i) => run.findings[i].law + " " + run.findings[i].kind);
  const facts = {
    s: run.outcome(r) + " " + classWords[c.class[r]], process: run.name(r) + " " + run.label(r), server: run.name(r), session: run.session(r), pid: String(c.pid[r]),
    label: run.label(r), fault: faults.join("\n"), law: found.join(" "),
  };
  for (const k in facts) facts[k] = facts[k].toLowerCase();
  facts.all = [facts.server, facts.session, facts.s, facts.fault, facts.pid].join("\n");
  return (run.facts[r] = facts);
};

const rowHolds = (run, r, terms, own) => terms.every(({ not, key, word }) => {
  if (key && !ofRow.has(key) || own && !key) return true;
  const facts = rowFacts(run, r);
  const holds = key === "pid" ? facts.pid === word : (key ? facts[key] : facts.all).includes(word);
  return holds !== not;
});

// keptRows says which rows a filter keeps: a process beside a server stays with it.
const keptRows = (run, terms) => {
  const keep = new Uint8Array(run.rows);
  if (!terms.length) return keep.fill(1);
  for (let r = 0; r < run.rows; r++) if (rowHolds(run, r, terms)) keep[r] = 1;
  for (let r = 0; r < run.rows; r++) if (run.owner[r] >= 0 && keep[run.owner[r]]) keep[r] = 1;
  return keep;
};

// keptEvents are the events that a filter keeps, in the order of time. The
// host's stderr has no times: its lines come last, each as a place in the log.
const keptEvents = (run, terms) => {
  const c = run.columns, t = c["ev.t"], out = [];
  const rowless = !terms.some(({ key }) => ofRow.has(key) && key !== "process");
  const holds = (who, kind, text, r) => terms.every(({ not, key, word }) => {
    if (key === "process" && r < 0) return who.includes(word) !== not;
    if (key && key !== "kind") return true; // of the row
    return (key ? kind : text.toLowerCase() + "\n" + kind + "\n" + who).includes(word) !== not;
  });
  for (let r = -1; r < run.rows; r++) {
    if (r < 0 ? !rowless : terms.length && !rowHolds(run, r, terms, true)) continue;
    const name = r < 0 ? "" : rowFacts(run, r).server;
    for (let i = run.events[r + 1]; i < run.events[r + 2]; i++) {
      const kind = run.kinds[c["ev.kind"][i]];
      if (!terms.length || holds(name || (kind === "host" ? "host" : "bench"), kind, run.texts[c["ev.text"][i]], r)) out.push({ i, r });
    }
  }
  out.sort((a, b) => t[a.i] - t[b.i] || a.i - b.i);
  if (rowless) run.log.forEach((text, i) => { if (holds("host", "stderr", text, -1)) out.push({ i, r: -1, text }); });
  return out;
};
