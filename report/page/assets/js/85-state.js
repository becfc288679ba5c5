// State is what somebody has set on the page: the open findings, the filter, the
// chosen process and the zoom. It stands in the address, so that a link shows the
// same: "#r1?finding=2&filter=s%3Aleak&process=12&from=10&to=40", where a process
// is its row, and from and to are per cent of the axis.
const runOf = (e) => e.closest("article.run, details.run");
const numbers = (params, name) => (params.get(name) ?? "").split(",").filter(Boolean).map(Number);

// openFindings are their numbers, the one that was opened last first.
const openFindings = (run) => {
  const open = [...run.querySelectorAll(".finding")].flatMap((f, i) => (f.open ? [i + 1] : []));
  return open.sort((a, b) => (b === run.opened) - (a === run.opened)).join(",");
};

const stateOf = (run) => {
  const params = new URLSearchParams(), live = run.querySelector(".live"), picture = live?.picture, open = openFindings(run);
  if (run.querySelector(".finding") && open !== "1") params.set("finding", open);
  const filter = live?.querySelector(".filter input")?.value.trim();
  if (filter) params.set("filter", filter);
  if (picture?.selected >= 0) params.set("process", picture.selected);
  if (picture && picture.view[1] - picture.view[0] < 99.99) { params.set("from", +picture.view[0].toFixed(4)); params.set("to", +picture.view[1].toFixed(4)); }
  return params.toString();
};

// keepState writes the state of a run into the address, once nothing has changed for a moment.
let keeping = 0;
const keepState = (e) => {
  clearTimeout(keeping);
  keeping = setTimeout(() => {
    const run = runOf(e), state = run && stateOf(run), mine = run && location.hash.startsWith("#" + run.id + "?");
    if (!run || mine && !run.querySelector(".live")?.picture) return; // it is still to be restored
    if (state) history.replaceState(null, "", "#" + run.id + "?" + state);
    else if (mine) history.replaceState(null, "", "#" + run.id);
  }, 200);
};
document.addEventListener("toggle", (e) => {
  if (!e.target.matches?.(".finding")) return;
  const run = runOf(e.target);
  if (e.target.open) run.opened = [...run.querySelectorAll(".finding")].indexOf(e.target) + 1;
  keepState(run);
}, true);

// restoreState sets a run as the address says: the findings at once, and the picture when it is there.
const restoreState = (target, params) => {
  const run = runOf(target), live = run?.querySelector(".live"), picture = live?.picture;
  if (!run) return;
  const findings = [...run.querySelectorAll(".finding")], open = numbers(params, "finding");
  if (params.has("finding")) findings.forEach((f, i) => { f.open = open.includes(i + 1); });
  const first = findings[open[0] - 1];
  if (!picture) { (first ?? live)?.scrollIntoView({ block: "start" }); return; }
  const [row] = numbers(params, "process"), [from] = numbers(params, "from"), [to] = numbers(params, "to");
  live.setFilter(params.get("filter") ?? "");
  if (from >= 0 && to > from && to <= 100) picture.show([from, to]);
  if (row >= 0 && row < picture.run.rows && Number.isInteger(row)) picture.reveal(row);
  if (row >= 0 || from >= 0 || params.has("filter") || !first) picture.box.scrollIntoView({ block: "start" }); else first.scrollIntoView({ block: "start" });
};
