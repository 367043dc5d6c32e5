// What the engine thinks: the value bar, win/draw/loss, lines, and a table of moves.

import { numbered } from "./moves.js";

const $ = (id) => document.getElementById(id);

/** Show a thought; null empties the panel, but for the text `otherwise`. */
export function showThought(thought, otherwise) {
  showFacts(thought, otherwise);
  showValue(thought && thought.lines.length ? thought.lines[0] : null);
  showChances(thought && thought.lines.length ? thought.lines[0].wdl : null);
  showLines(thought ? thought.lines : [], thought);
  showNotes(thought ? thought.notes : []);
}

function showFacts(thought, otherwise) {
  if (!thought) {
    $("thought-facts").textContent = otherwise;
    return;
  }
  const facts = [thought.kind === "hint" ? `Hint from ${thought.who}` : thought.who];
  if (thought.lines.length) facts.push(score(thought.lines[0], " for White"));
  if (thought.depth) facts.push(`depth ${thought.depth}`);
  if (thought.nodes) facts.push(`${thought.nodes.toLocaleString("en")} nodes`);
  if (thought.seconds) facts.push(`${thought.seconds.toFixed(1)} s`);
  $("thought-facts").textContent = facts.join(" · ");
}

/** A score from White's point of view; `whose` follows a number of pawns. */
export function score(line, whose = "") {
  if (line.mate !== null) return line.mate > 0 ? `White mates in ${line.mate}` : `Black mates in ${-line.mate}`;
  if (line.centipawns !== null) return `${line.centipawns >= 0 ? "+" : "−"}${(Math.abs(line.centipawns) / 100).toFixed(2)}${whose}`;
  return `${Math.round(50 + 50 * line.value)} % for White`;
}

/** The bar beside the board: the part of White is its expected score, all of it for a mate. */
export function showValue(line) {
  if (line === null) return fillBar(50, "", "Value unknown", true);
  if (line.mate !== null) return fillBar(line.mate > 0 ? 100 : 0, `#${Math.abs(line.mate)}`, score(line));
  const share = 50 + 50 * line.value;
  fillBar(share, String(Math.round(share)), `White is expected to score ${Math.round(share)} %`);
}

/** The bar of a finished game. */
export function showResult(result) {
  const share = { "1-0": 100, "0-1": 0 }[result] ?? 50;
  fillBar(share, "", `The game is over: ${result}`);
}

function fillBar(share, number, label, unknown = false) {
  const bar = $("value");
  bar.classList.toggle("unknown", unknown);
  bar.querySelector(".white-part").style.height = `${share}%`;
  bar.querySelector(".number").textContent = number;
  bar.classList.toggle("dark-number", share < 8);
  bar.setAttribute("aria-label", label);
}

function showChances(wdl) {
  $("wdl").hidden = !wdl;
  if (!wdl) return;
  const words = ["White wins", "draw", "Black wins"];
  ["win", "draw", "loss"].forEach((name, index) => {
    const part = $("wdl").querySelector(`.${name}`);
    part.style.width = `${wdl[index] / 10}%`;
    part.textContent = wdl[index] >= 120 ? `${Math.round(wdl[index] / 10)} %` : "";
    part.title = `${words[index]} ${(wdl[index] / 10).toFixed(1)} %`;
  });
}

function showLines(lines, thought) {
  $("lines").replaceChildren(
    ...lines.map((line) => {
      const item = document.createElement("li");
      item.textContent = `${score(line)}: ${numbered(line.sans, thought.fen)}`;
      return item;
    }),
  );
}

const COLUMNS = [
  ["Move", "san", (value) => value],
  ["Visits", "visits", (value) => value.toLocaleString("en")],
  ["Prior", "prior", (value) => `${(100 * value).toFixed(1)} %`],
  ["Value for White", "value", (value) => value.toFixed(3)],
  ["", "text", (value) => value],
];

function showNotes(notes) {
  const table = $("notes");
  table.hidden = notes.length === 0;
  if (!notes.length) return;
  const columns = COLUMNS.filter(([, key]) => notes.some((note) => note[key] !== null && note[key] !== ""));
  table.querySelector("thead tr").replaceChildren(...columns.map(([title]) => cell("th", title)));
  table.querySelector("tbody").replaceChildren(
    ...notes.map((note) => {
      const row = document.createElement("tr");
      row.append(
        ...columns.map(([, key, format]) => cell("td", note[key] === null ? "" : format(note[key]))),
      );
      return row;
    }),
  );
}

/** A cell with plain text. */
export function cell(kind, text) {
  const element = document.createElement(kind);
  element.textContent = text;
  return element;
}
