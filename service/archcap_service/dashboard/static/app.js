// What pages do beyond reading: filter in place, take a dropped file, copy, keep the keyboard where it belongs.
// Everything here is an addition: forms and links work without it.
"use strict";

const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

// ---- matrix: rows that fit every filter stay; the address follows ------------------------------------------------
function matrix() {
  const form = document.getElementById("filters");
  if (!form || form.dataset.ready) return;
  form.dataset.ready = "yes";
  const fields = ["q", "with", "without", "family"].map((id) => document.getElementById(id)).filter(Boolean);
  const order = [...document.querySelectorAll("#with option")].map((one) => one.value).filter(Boolean);
  const bit = new Map(order.map((name, at) => [name, 1n << BigInt(at)]));
  const bits = (hex) => (hex ? BigInt("0x" + hex) : 0n);
  const rows = [...document.querySelectorAll(".matrix tbody tr")].map((row) => ({
    row,
    family: row.parentElement.dataset.f,
    text: `${row.cells[0].firstChild.textContent} ${row.parentElement.dataset.f} ${row.dataset.k || ""}`.toLowerCase(),
    has: bits(row.dataset.h),
    maybe: bits(row.dataset.m),
  }));
  const chosen = (name) => [...form.querySelectorAll(`[name=${name}]`)].map((one) => one.value).filter(Boolean);
  const mask = (names) => names.reduce((sum, name) => sum | (bit.get(name) || 0n), 0n);

  let late = 0;

  function apply() {
    const q = fields[0], has = chosen("with"), lacks = chosen("without"), family = chosen("family")[0];
    const told = words(q.value), must = mask(has), mustNot = mask(lacks);
    let shown = 0;
    const alive = new Set();
    for (const one of rows) {
      const fits = (one.has & must) === must && !((one.has | one.maybe) & mustNot)
        && (!family || one.family === family) && told.every((word) => one.text.includes(word));
      one.row.hidden = !fits;
      if (fits) { shown += 1; alive.add(one.row.parentElement); }
    }
    for (const body of new Set(rows.map((one) => one.row.parentElement))) body.hidden = !alive.has(body);
    document.getElementById("count").value = `${shown} of ${rows.length}`;
    document.getElementById("empty").hidden = shown > 0;
    clearTimeout(late);
    late = setTimeout(follow, 150);
  }

  // The address, the twin and the headings that unfold follow once the typing rests.
  function follow() {
    const q = fields[0], has = chosen("with"), lacks = chosen("without");
    const address = new URL(location.href);
    for (const [name, value] of [["q", q.value.trim()], ["with", has.join()], ["without", lacks.join()]]) {
      if (value) address.searchParams.set(name, value); else address.searchParams.delete(name);
    }
    history.replaceState(history.state, "", address);
    const twin = document.querySelector("link[rel=alternate]");
    const other = new URL(twin.href);
    for (const name of ["with", "without", "family"]) {
      const value = address.searchParams.get(name);
      if (value) other.searchParams.set(name, value); else other.searchParams.delete(name);
    }
    twin.href = other.pathname + other.search;
    for (const link of document.querySelectorAll(".matrix thead a[hx-get]")) {
      const to = new URL(link.href);
      for (const name of ["q", "with", "without"]) {
        const value = address.searchParams.get(name);
        if (value) to.searchParams.set(name, value); else to.searchParams.delete(name);
      }
      link.href = to.pathname + to.search;
      link.setAttribute("hx-get", link.getAttribute("href"));
      if (window.htmx) window.htmx.process(link);
    }
  }
  for (const field of fields) field.addEventListener("input", apply);
  const since = document.getElementById("since");
  since.addEventListener("change", () => form.requestSubmit());
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.id === "q") { event.preventDefault(); apply(); }
  });
}

// ---- any list: hide what does not hold the words -------------------------------------------------------------------
document.addEventListener("input", (event) => {
  const where = event.target.dataset && event.target.dataset.filter;
  if (!where) return;
  const told = words(event.target.value).map((word) => word.replace(/^-+/, ""));
  for (const row of document.querySelectorAll(`${where} [data-row]`)) {
    const text = `${row.textContent} ${row.dataset.k || ""}`.toLowerCase();
    row.hidden = !told.every((word) => text.includes(word) || text.includes(word.replace(/-/g, "_")));
  }
  for (const body of document.querySelectorAll(`${where} tbody`)) {
    const own = body.querySelectorAll("[data-row]");
    if (own.length) body.hidden = told.length > 0 && [...own].every((row) => row.hidden);
  }
});

// ---- launch check ----------------------------------------------------------------------------------------------------
const MOST = 2 * 1024 * 1024;
async function take(field, file) {
  if (file.size > MOST) { field.value = ""; field.placeholder = "This file is larger than 2 MiB: give config.json."; return; }
  field.value = await file.text();
}
function drops() {
  for (const field of document.querySelectorAll("textarea[data-drop]:not([data-ready])")) {
    field.dataset.ready = "yes";
    field.addEventListener("dragover", (event) => { event.preventDefault(); field.classList.add("over"); });
    field.addEventListener("dragleave", () => field.classList.remove("over"));
    field.addEventListener("drop", (event) => {
      field.classList.remove("over");
      const [file] = event.dataTransfer.files;
      if (file) { event.preventDefault(); take(field, file); }
    });
  }
  for (const hint of document.querySelectorAll("[data-drop-hint]")) hint.textContent = "pasted, or the file dropped here";
}
function copies() {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) {
    await navigator.clipboard.writeText(button.parentElement.querySelector(button.dataset.copy).textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }
  for (const open of document.querySelectorAll("details.picker[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});

// ---- keyboard ------------------------------------------------------------------------------------------------------
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest && event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const field = document.querySelector("#q") || document.querySelector("[data-key='/']");
    event.preventDefault();
    field.focus();
    field.select();
  }
  if (event.key === "Escape") {
    const open = document.querySelector("details.picker[open]");
    if (open) { open.open = false; open.querySelector("summary").focus(); }
  }
});

// An answer that is no check (too large a body, a service that is gone) is said in place, and what was typed stays.
function say(...nodes) {
  const answer = document.getElementById("answer");
  if (answer) answer.replaceChildren(...nodes);
}
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target } = event.detail;
  if (!target || !target.id || xhr.responseText.includes(`id="${target.id}"`)) return;
  event.detail.shouldSwap = false;
  if (target.id !== "check") return;
  const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
  say(page.querySelector(".problem") || "The service could not answer. Try again in a moment.");
});
document.addEventListener("htmx:sendError", (event) => {
  if (event.detail.target && event.detail.target.id === "check") say("The service cannot be reached. Try again in a moment.");
});

// ---- pages that htmx changes in place ------------------------------------------------------------------------------
function ready() { matrix(); drops(); copies(); }
document.addEventListener("DOMContentLoaded", ready);
document.addEventListener("htmx:afterSettle", (event) => {
  ready();
  const { target, elt } = event.detail;  // neither when an earlier page comes back
  if (target?.id === "check" || elt?.id === "check") {
    const verdict = document.getElementById("verdict");
    if (verdict) verdict.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
});
