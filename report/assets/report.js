"use strict";
// The page reads without this script: it adds a crosshair, copy buttons, and opens what a link or a printer needs to see.
for (const tl of document.querySelectorAll(".tl")) {
  const knots = tl.dataset.knots.split(" ").map((k) => k.split(":").map(Number));
  const back = tl.querySelector(".back"), cross = tl.querySelector(".cross"), now = tl.querySelector(".now");
  const time = (x) => {
    for (let i = 1; i < knots.length; i++) {
      const [x0, t0] = knots[i - 1], [x1, t1] = knots[i];
      if (x <= x1) return x1 > x0 ? t0 + ((x - x0) * (t1 - t0)) / (x1 - x0) : t0;
    }
    return knots[knots.length - 1][1];
  };
  tl.addEventListener("pointermove", (e) => {
    const box = back.getBoundingClientRect(), x = ((e.clientX - box.left) * 100) / box.width;
    const on = x >= 0 && x <= 100;
    cross.style.visibility = on ? "visible" : "hidden";
    now.textContent = on ? (time(x) / 1e9).toFixed(3) + "s" : "";
    if (on) { cross.setAttribute("x1", x + "%"); cross.setAttribute("x2", x + "%"); }
  });
  tl.addEventListener("pointerleave", () => { cross.style.visibility = "hidden"; now.textContent = ""; });
}
for (const code of document.querySelectorAll(".copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(code.textContent).then(() => {
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    }, () => { getSelection().selectAllChildren(code); });
  });
  code.after(button);
}
const reveal = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  const own = target.querySelector(":scope > details");
  if (own) own.open = true;
  target.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", reveal);
reveal();
addEventListener("beforeprint", () => {
  for (const d of document.querySelectorAll("details:not(.rows details)")) d.open = true;
});
