// A game as PGN, written by the page itself: it has all moves, even while the server is away.

import { STANDARD } from "./moves.js";

const WIDTH = 79;

export function pgnOf(state, entries) {
  const clock = state.clock;
  const tags = [
    ["Event", "Rookery game"],
    ["Site", "?"],
    ["Date", state.date],
    ["Round", "-"],
    ["White", state.white],
    ["Black", state.black],
    ["Result", state.result],
    ["Variant", state.board === "standard" ? "" : state.board],
    ["SetUp", state.start === STANDARD ? "" : "1"],
    ["FEN", state.start === STANDARD ? "" : state.start],
    ["TimeControl", clock ? `${clock.seconds}+${clock.increment}` : ""],
    ["Termination", state.reason],
  ];
  return pgnText(tags, [...words(state.start, entries), state.result]);
}

/** A game from its tags, of which empty ones are left out, and the words of its moves. */
export function pgnText(tags, list) {
  const head = tags.filter(([, text]) => text).map(([name, text]) => `[${name} "${plain(text)}"]`);
  return `${head.join("\n")}\n\n${wrapped(list)}\n`;
}

function words(start, entries) {
  const fields = start.split(" ");
  const offset = fields[1] === "b" ? 1 : 0;
  const first = Number(fields[5]) || 1;
  return entries.flatMap((entry, index) => {
    const place = index + offset;
    const number = `${first + Math.floor(place / 2)}.`;
    if (place % 2 === 0) return [number, entry.san];
    return index === 0 ? [`${number}..`, entry.san] : [entry.san];
  });
}

function wrapped(list) {
  const lines = [""];
  for (const word of list) {
    const line = lines[lines.length - 1];
    if (line && line.length + word.length + 1 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines.join("\n");
}

/** Text that is safe in a tag: one line, without quotes and backslashes. */
function plain(text) {
  return text.replace(/[\\"]/g, "'").replace(/\s+/g, " ").trim();
}
