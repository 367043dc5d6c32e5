// The list of moves: two columns with numbers, one button per move.

export const STANDARD = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/**
 * Fill the list. `current` is the number of the move on show, counted from 1; `mark(entry, index)`
 * may return { text, kind } to stand behind a move; `go(ply)` is called by a click.
 */
export function showMoves(list, start, entries, current, go, mark = () => null) {
  const fields = start.split(" ");
  const offset = fields[1] === "b" ? 1 : 0;
  const firstNumber = Number(fields[5]) || 1;
  const rows = [];
  entries.forEach((entry, index) => {
    const place = index + offset;
    if (place % 2 === 0 || !rows.length) {
      const row = document.createElement("li");
      row.append(span("number", `${firstNumber + Math.floor(place / 2)}.`));
      if (place % 2 === 1) row.append(document.createElement("span"));
      rows.push(row);
    }
    const button = document.createElement("button");
    button.textContent = entry.san;
    const found = mark(entry, index);
    if (found) {
      button.append(span("mark", found.text));
      button.classList.add(found.kind);
      button.title = found.title || "";
    }
    button.setAttribute("aria-current", String(index + 1 === current));
    button.onclick = () => go(index + 1);
    rows[rows.length - 1].append(button);
  });
  list.replaceChildren(...rows);
  const chosen = list.querySelector("[aria-current=true]");
  list.scrollTop = chosen ? chosen.closest("li").offsetTop - list.offsetTop - 60 : 0;
}

function span(kind, text) {
  const element = document.createElement("span");
  element.className = kind;
  element.textContent = text;
  return element;
}

/** SAN moves with move numbers, from the position `fen` on. */
export function numbered(sans, fen) {
  const fields = fen.split(" ");
  let number = Number(fields[5]) || 1;
  let white = fields[1] === "w";
  return sans
    .map((san, index) => {
      const prefix = white ? `${number}. ` : index === 0 ? `${number}... ` : "";
      if (!white) number += 1;
      white = !white;
      return prefix + san;
    })
    .join(" ");
}
