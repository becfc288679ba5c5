"use strict";
// The page reads without this script. It adds the copy buttons, and from the
// data behind the markup the picture of all processes, the curves and the
// messages. Text of others gets into the page as text only.

// el makes an element: el("p", {class: "note"}, "text", child...).
const el = (name, attributes = {}, ...children) => {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v === true) e.setAttribute(k, "");
    else if (v !== false && v != null) e.setAttribute(k, v);
  }
  e.append(...children.filter((c) => c != null));
  return e;
};

const seconds = (us, digits = 3) => (us / 1e6).toFixed(digits) + " s";
const span = (us) => (us < 1000 ? us + " µs" : us < 1e6 ? +(us / 1000).toPrecision(3) + " ms" : us < 1e8 ? +(us / 1e6).toPrecision(3) + " s" : Math.floor(us / 6e7) + " m " + (Math.floor(us / 1e6) % 60) + " s");
const bytes = (n) => (n < 1 << 20 ? +(n / 1024).toPrecision(3) + " KiB" : n < 1 << 30 ? +(n / (1 << 20)).toPrecision(3) + " MiB" : +(n / (1 << 30)).toPrecision(3) + " GiB");
const clamp = (v, lo, hi) => Math.max(lo, Math.min(hi, v));

// theme holds the colours of the style sheet; it is read again when they change.
const theme = {};
const readTheme = () => {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "panel", "ink", "soft", "rule", "focus", "bad", "bad-fill", "bad-bg", "warn", "warn-fill", "good", "work", "start", "leave", "alive", "step", "endop", "band", "gone", "rain"])
    theme[name] = style.getPropertyValue("--" + name).trim();
};
readTheme();
const redraws = new Set();
const themed = matchMedia("(prefers-color-scheme: dark)");
themed.addEventListener("change", () => { readTheme(); for (const draw of redraws) draw(); });

// fit sizes a canvas for the screen's pixels and returns its context.
const fit = (canvas, width, height) => {
  const ratio = devicePixelRatio || 1;
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  return c;
};

// later runs a function once before the next frame, however often it is asked.
const later = (work) => {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; work(); });
  };
};
