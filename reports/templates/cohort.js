"use strict";
// Sorts, filters and pages the rows that the page carries as data; draws them as `parts/rows.html` does.
(() => {
const ID = 0, CARD = 1, VERDICT = 2, LEVEL = 3, EARNED = 4, POSSIBLE = 5, WHAT = 6, LINE = 7,
  BUGS = 8, STAGES = 9, CHECKS = 10, CHOICE = 11, REVIEWER = 12, PAGE = 1000;
const byId = name => document.getElementById(name);
const data = JSON.parse(byId("cohort-data").textContent);
const table = byId("cohort");
if (!table) return;
const body = table.tBodies[0];
const filters = ["verdict", "level", "stage", "bug", "check", "decision"];
const count = (row, letter) => row[CHECKS].split(letter).length - 1;
const text = place => data.texts[place];
const spoken = words => data.words?.[words] ?? words;
const filled = (form, ...values) => values.reduce((made, value, place) => made.replace(`{${place}}`, value), spoken(form));
const letters = new Intl.Collator(undefined, {numeric: true, sensitivity: "base"});
const keys = {
  id: (a, b) => letters.compare(a[ID], b[ID]),
  verdict: (a, b) => a[VERDICT] - b[VERDICT],
  level: (a, b) => b[LEVEL] - a[LEVEL],
  score: (a, b) => (b[EARNED] ?? -1) / (b[POSSIBLE] || 1) - (a[EARNED] ?? -1) / (a[POSSIBLE] || 1),
  what: (a, b) => letters.compare(text(a[WHAT]), text(b[WHAT])),
  checks: (a, b) => count(b, "p") - count(a, "p"),
  decision: (a, b) => (a[CHOICE] + 3) % 4 - (b[CHOICE] + 3) % 4 || letters.compare(a[REVIEWER], b[REVIEWER]),
};
const state = {sort: "", down: false, page: 0};
let shown = data.rows;

const node = (name, attributes, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const vector = (name, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const runs = (all, letter) => [...all.matchAll(new RegExp(letter + "+", "g"))].map(found => [found.index, found[0].length]);
const strip = all => {
  if (!all) return [];
  const passed = runs(all, "p").map(([at, wide]) => `M${at} 3h${wide}v2h-${wide}z`).join("");
  const missed = [...all.matchAll(/f/g)].map(found => `M${found.index}.1 0h.8v8h-.8z`).join("");
  const idle = runs(all, "n").map(([at, wide]) => `M${at} 3.7h${wide}v.6h-${wide}z`).join("");
  const label = filled("{0} of {1} checks passed", count({[CHECKS]: all}, "p"), all.replaceAll("a", "").length);
  return [vector("svg", {class: "cells", role: "img", "aria-label": label, viewBox: `0 0 ${all.length} 8`, preserveAspectRatio: "none"},
    vector("path", {class: "p", d: passed}), vector("path", {class: "f", d: missed}), vector("path", {class: "n", d: idle}))];
};
const levelNodes = ([name, chinese]) => {
  const shownName = name.charAt(0).toUpperCase() + name.slice(1).toLowerCase();
  if (spoken(shownName) !== shownName) return [spoken(shownName)];
  return chinese ? [`${shownName} `, node("span", {lang: "zh-Hans"}, chinese)] : [shownName];
};
const cell = (kind, ...children) => node("td", {role: "cell", class: kind}, ...children);
const draw = row => {
  const [word, sign, tone] = data.verdicts[row[VERDICT]];
  const [choice, choiceWord, choiceSign] = data.choices[row[CHOICE]];
  const name = row[CARD] ? node("a", {href: `cards/${row[CARD]}.html`}, row[ID]) : row[ID];
  const what = [spoken(text(row[WHAT]))];
  if (row[LINE]) what.push(" ", node("span", {class: "tag"}, filled("line {0}", row[LINE])));
  for (const stage of row[STAGES]) what.push(" ", node("span", {class: "tag"}, spoken(text(stage))));
  const decided = choice === "undecided" ? [] : [
    node("span", {class: `choice ${choice}`}, `${choiceSign} ${spoken(choiceWord)}`), " ", node("span", {class: "quiet"}, row[REVIEWER])];
  return node("tr", {role: "row"},
    node("th", {role: "rowheader", scope: "row", class: "id"}, name),
    cell(`verdict-cell ${tone}`, node("span", {"aria-hidden": "true"}, sign), ` ${spoken(word)}`),
    cell("level-cell", ...(row[LEVEL] ? levelNodes(data.levels[row[LEVEL]]) : [])),
    cell("points", row[EARNED] === null ? "" : `${row[EARNED]} / ${row[POSSIBLE]}`),
    cell("what", ...what), cell("strip-cell", ...strip(row[CHECKS])), cell("decision-cell", ...decided));
};

const folded = new Map();
const haystack = row => {
  if (!folded.has(row)) {
    const words = [row[WHAT], ...row[BUGS]].map(text);
    folded.set(row, fold([row[ID], ...words, ...words.map(spoken)].join("\n")));
  }
  return folded.get(row);
};
const fold = words => words.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const matches = wanted => row =>
  (!wanted.verdict || data.verdicts[row[VERDICT]][0] === wanted.verdict) &&
  (!wanted.level || (row[EARNED] !== null && data.levels[row[LEVEL]][0] === wanted.level)) &&
  (!wanted.stage || row[STAGES].some(place => text(place) === wanted.stage)) &&
  (!wanted.bug || row[BUGS].some(place => text(place) === wanted.bug)) &&
  (!wanted.check || row[CHECKS][+wanted.check] === "f") &&
  (!wanted.decision || data.choices[row[CHOICE]][1] === wanted.decision) &&
  wanted.words.every(word => haystack(row).includes(word));

const select = () => {
  const wanted = Object.fromEntries(filters.map(name => [name, byId(name).value]));
  wanted.words = fold(byId("search").value).split(/\s+/).filter(Boolean);
  shown = data.rows.filter(matches(wanted));
  if (state.sort) shown.sort((a, b) => keys[state.sort](a, b) * (state.down ? -1 : 1));
  state.page = 0;
  remember();
  redraw();
};
const redraw = () => {
  const start = state.page * PAGE;
  body.replaceChildren(...shown.slice(start, start + PAGE).map(draw));
  tell();
};
const tell = () => {
  const said = byId("shown");
  said.textContent = said.dataset.text.replace("{shown}", shown.length.toLocaleString()).replace("{all}", data.rows.length.toLocaleString());
  byId("pager").hidden = shown.length <= PAGE;
  byId("before").disabled = state.page === 0;
  byId("after").disabled = (state.page + 1) * PAGE >= shown.length;
  for (const head of table.tHead.rows[0].cells) {
    const order = head.dataset.sort !== state.sort ? "none" : state.down ? "descending" : "ascending";
    head.setAttribute("aria-sort", order);
  }
  for (const pick of document.querySelectorAll(".pick")) {
    pick.setAttribute("aria-pressed", byId(pick.dataset.filter).value === pick.dataset.value);
  }
};

// What is chosen stands in the address, so that it is still chosen after a look at a card.
const remember = () => {
  const chosen = new URLSearchParams();
  for (const name of ["search", ...filters]) if (byId(name).value) chosen.set(name, byId(name).value);
  if (state.sort) chosen.set("sort", (state.down ? "-" : "") + state.sort);
  try { history.replaceState(null, "", "#" + chosen); } catch { /* an address that may not change */ }
};
const recall = () => {
  const chosen = new URLSearchParams(location.hash.slice(1));
  for (const name of ["search", ...filters]) if (chosen.has(name)) byId(name).value = chosen.get(name);
  const sort = chosen.get("sort") ?? "";
  if (Object.hasOwn(keys, sort.replace("-", ""))) [state.sort, state.down] = [sort.replace("-", ""), sort.startsWith("-")];
  if ([...chosen].length) select(); else tell();
};

for (const stage of [...new Set(data.rows.flatMap(row => row[STAGES]))].map(text).sort()) {
  byId("stage").append(node("option", {value: stage}, spoken(stage)));
}
for (const head of table.tHead.rows[0].cells) {
  const button = node("button", {type: "button"}, head.firstChild.textContent.trim());
  head.replaceChild(button, head.firstChild);
  button.addEventListener("click", () => {
    [state.sort, state.down] = state.sort === head.dataset.sort ? [state.sort, !state.down] : [head.dataset.sort, false];
    select();
  });
}
for (const name of filters) byId(name).addEventListener("change", select);
byId("search").addEventListener("input", select);
byId("filters").addEventListener("submit", event => event.preventDefault());
byId("filters").addEventListener("reset", () => setTimeout(() => { state.sort = ""; select(); }));
for (const pick of document.querySelectorAll(".pick")) {
  pick.disabled = false;
  pick.addEventListener("click", () => {
    const filter = byId(pick.dataset.filter);
    filter.value = filter.value === pick.dataset.value ? "" : pick.dataset.value;
    select();
  });
}
for (const [name, step] of [["before", -1], ["after", 1]]) {
  byId(name).addEventListener("click", () => { state.page += step; redraw(); table.scrollIntoView(); });
}

const move = step => {
  const links = [...body.querySelectorAll("th a")];
  const at = links.indexOf(document.activeElement?.closest?.("tr")?.querySelector("th a"));
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1)];
  next?.focus();
  next?.scrollIntoView({block: "nearest"});
};
document.addEventListener("keydown", event => {
  const typing = event.target.closest("input:not([type=checkbox]), select, textarea");
  if (event.key === "Escape" && event.target === byId("search")) { event.target.value = ""; event.target.blur(); select(); }
  if (!byId("keys").checked || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = {j: () => move(1), k: () => move(-1), "/": () => byId("search").focus()}[event.key];
  if (action) { event.preventDefault(); action(); }
});
const kept = "takehome single keys";
try { byId("keys").checked = localStorage.getItem(kept) !== "off"; } catch { /* no storage */ }
byId("keys").addEventListener("change", () => {
  try { localStorage.setItem(kept, byId("keys").checked ? "on" : "off"); } catch { /* no storage */ }
});

body.addEventListener("pointerover", event => {
  const cells = event.target.closest("svg.cells");
  if (cells) cells.parentElement.title = "";
});
body.addEventListener("pointermove", event => {
  const cells = event.target.closest("svg.cells");
  if (!cells) return;
  const box = cells.getBoundingClientRect();
  cells.parentElement.title = spoken(data.checks[Math.floor((event.clientX - box.left) / box.width * data.checks.length)] ?? "");
});
document.documentElement.classList.add("scripted");
for (const name of ["filters", "shown"]) byId(name).hidden = false;
recall();
})();
