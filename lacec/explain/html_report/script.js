"use strict";
// Search: whatever does not have all the words is hidden; so are headings with nothing below.
const box = document.getElementById("search");
const found = document.getElementById("found");
const items = [...document.querySelectorAll("[data-s]")].map((element) => ({
  element,
  text: element.textContent.toLowerCase(),
}));
const folders = [...document.querySelectorAll("section.facts")];

function search() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { element, text } of items) {
    const match = words.every((word) => text.includes(word));
    element.hidden = !match;
    count += match;
  }
  for (const folder of folders) {
    folder.hidden = words.length > 0 && !folder.querySelector("[data-s]:not([hidden])");
  }
  document.body.classList.toggle("searching", words.length > 0);
  found.textContent = words.length ? `${count} found` : "";
}

let waiting;
box.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(search, 80);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== box) {
    event.preventDefault();
    box.focus();
  } else if (event.key === "Escape" && document.activeElement === box) {
    box.value = "";
    search();
  }
});
// A link into what is folded or hidden shows it.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) {
    box.value = "";
    search();
  }
  for (let each = target; each; each = each.parentElement) {
    if (each.tagName === "DETAILS") each.open = true;
  }
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
if (location.hash) reveal();
