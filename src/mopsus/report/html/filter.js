"use strict";
const search = document.querySelector("input[type=search]");
const boxes = [...document.querySelectorAll("input[data-severity]")];
const findings = [...document.querySelectorAll(".finding")];
function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hidden = new Set(boxes.filter((box) => !box.checked).map((box) => box.dataset.severity));
  for (const finding of findings) {
    const text = finding.textContent.toLowerCase();
    finding.hidden = hidden.has(finding.dataset.severity) || !words.every((word) => text.includes(word));
  }
}
for (const input of [search, ...boxes]) if (input) input.addEventListener("input", filter);
