// The lines of the analysis engine: every move can be pointed at (a small board) and clicked.

import { squares, smallBoard } from "./board.js";
import { cell, score } from "./thought.js";

const $ = (id) => document.getElementById(id);
let preview = null;

/** Show what the engine thinks about the position on show; null empties the panel. */
export function showLines(board, thought) {
  if (!thought) {
    const waits = !board.socket ? "Waits for the server." : board.review.pending ? "Thinks again when the review is done." : "Thinking …";
    $("engine-facts").textContent = $("engine-on").checked ? waits : "The engine is off: a serious game.";
    $("engine-list").replaceChildren();
    board.board.arrows([]);
    hide();
    return;
  }
  const facts = [thought.who, `depth ${thought.depth}`, `${thought.nodes.toLocaleString("en")} nodes`];
  $("engine-facts").textContent = `${facts.join(" · ")} · scores for White`;
  if ($("engine-list").matches(":hover, :focus-within")) return; // do not move what is pointed at
  $("engine-list").replaceChildren(...thought.lines.map((line) => item(board, thought, line)));
  board.board.arrows(
    thought.lines.map((line, index) => {
      const [orig, dest] = squares(line.moves[0]);
      return { orig, dest, brush: index ? "paleBlue" : "blue", modifiers: { lineWidth: index ? 6 : 10 } };
    }),
  );
}

function item(board, thought, line) {
  const element = document.createElement("li");
  element.append(cell("strong", score(line)));
  const fields = thought.fen.split(" ");
  let number = Number(fields[5]) || 1;
  let white = fields[1] === "w";
  line.sans.forEach((san, index) => {
    if (white) element.append(cell("span", `${number}.`));
    else if (index === 0) element.append(cell("span", `${number}…`));
    if (!white) number += 1;
    white = !white;
    const button = cell("button", san);
    button.onclick = () => {
      hide();
      button.blur();
      board.addLine(board.current, line, index + 1);
    };
    button.onmouseenter = button.onfocus = () => show(button, line.fens[index], line.moves[index], board.flipped);
    button.onmouseleave = button.onblur = hide;
    element.append(button);
  });
  return element;
}

function show(button, fen, uci, flipped) {
  preview ??= smallBoard($("preview-board"));
  $("preview").hidden = false;
  preview.set({ fen, lastMove: squares(uci), orientation: flipped ? "black" : "white" });
  const box = button.getBoundingClientRect();
  const size = $("preview").offsetWidth;
  const below = box.bottom + size + 8 < innerHeight;
  $("preview").style.left = `${Math.max(4, Math.min(box.left, innerWidth - size - 4))}px`;
  $("preview").style.top = `${below ? box.bottom + 4 : box.top - size - 4}px`;
  preview.redrawAll();
}

function hide() {
  $("preview").hidden = true;
}
