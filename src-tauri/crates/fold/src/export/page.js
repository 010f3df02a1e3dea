"use strict";
const steps = [...document.querySelectorAll("main > section")];
const [nav, at, where] = ["nav", "#at", "#where"].map((one) => document.querySelector(one));
for (const image of document.querySelectorAll("img[data-same]")) {
  const first = document.getElementById(image.dataset.same);
  if (first) image.src = first.src;
}
function show(to) {
  const now = Math.max(0, Math.min(steps.length - 1, to));
  steps.forEach((step, number) => { step.hidden = number !== now; });
  at.value = String(now);
  where.textContent = `${now + 1} / ${steps.length}`;
}
if (steps.length > 0) {
  nav.hidden = false;
  at.max = String(steps.length - 1);
  at.addEventListener("input", () => show(Number(at.value)));
  document.querySelector("#back").addEventListener("click", () => show(Number(at.value) - 1));
  document.querySelector("#on").addEventListener("click", () => show(Number(at.value) + 1));
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === at) return;
    const now = Number(at.value);
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to);
  });
  show(0);
}
