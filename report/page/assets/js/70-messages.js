// Messages lists every event of a run, as many lines at a time as are seen.
class Messages {
  constructor(run, root, changed) {
    this.run = run;
    this.changed = changed;
    this.high = 24;
    this.count = el("p", { class: "note", role: "status" });
    this.body = el("div", { role: "rowgroup", class: "tall" });
    this.scroller = el("div", { class: "scroller messages", tabindex: "0", role: "table", "aria-label": "Messages" }, this.body);
    this.more = el("p", { class: "note more" });
    root.append(el("h4", {}, "Messages"), this.count, this.scroller, this.more);
    this.draw = later(() => this.paint());
    this.scroller.addEventListener("scroll", this.draw);
    this.setFilter([]);
  }
  setFilter(terms) {
    this.kept = keptEvents(this.run, terms);
    const all = this.run.columns["ev.t"].length + this.run.log.length;
    this.count.textContent = this.kept.length === all ? all + " messages" : this.kept.length + " of " + all + " messages";
    this.body.style.height = this.kept.length * this.high + "px";
    this.scroller.style.height = clamp(this.kept.length * this.high, 44, 330) + "px";
    this.scroller.scrollTop = 0;
    this.scroller.setAttribute("aria-rowcount", this.kept.length);
    this.draw();
  }
  paint() {
    const at = this.body.contains(document.activeElement) ? document.activeElement.closest(".message").getAttribute("aria-rowindex") : null;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / this.high) - 8), c = this.run.columns, lines = [];
    for (let n = first; n < Math.min(this.kept.length, first + 40); n++) {
      const { i, r, text } = this.kept[n], logged = text !== undefined, kind = logged ? "stderr" : this.run.kinds[c["ev.kind"][i]], t = logged ? null : c["ev.t"][i];
      const who = r < 0 ? el("span", { role: "cell" }, kind === "host" || logged ? "host" : "bench") : el("span", { role: "cell" }, el("button", { type: "button", class: "plainlink", onclick: () => this.changed("reveal", r) }, this.run.name(r)));
      const line = el("div", { role: "row", "aria-rowindex": n + 1, class: "message " + kind }, el("span", { role: "cell", title: logged ? "the host's stderr has no times" : null }, logged ? "–" : seconds(t)), who, el("span", { role: "cell" }, kind), el("span", { role: "cell" }, logged ? text : this.run.texts[c["ev.text"][i]]));
      line.style.transform = "translateY(" + n * this.high + "px)";
      if (!logged) line.addEventListener("pointerenter", () => this.changed("cursor", this.run.x(t)));
      lines.push(line);
    }
    this.body.replaceChildren(...lines);
    const cut = this.kept.length - Math.round((this.scroller.scrollTop + this.scroller.clientHeight) / this.high);
    this.more.textContent = cut > 0 ? cut + " more below" : "";
    if (at) (lines.find((l) => l.getAttribute("aria-rowindex") === at)?.querySelector("button") ?? this.scroller).focus({ preventScroll: true }); // the new line of the one in focus
  }
}
