// The board: chessground, the choice of a promotion, arrows, and the board in words.

import { fit, onFullBoard, sizeOf } from "./sizes.js";
import { Chessground } from "./vendor/chessground/chessground.min.js";

const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
const ORDER = "kqrbnp";
const SHOWN_ARROWS = 5;

export class Board {
  /** `onMove(uci)` is called with every move that a person makes. */
  constructor(element, chooser, onMove) {
    this.element = element;
    this.chooser = chooser;
    this.onMove = onMove;
    this.shown = null;
    this.ground = Chessground(element, {
      disableContextMenu: true,
      animation: { enabled: !matchMedia("(prefers-reduced-motion: reduce)").matches, duration: 150 },
      movable: { free: false, showDests: true, events: { after: (...move) => this.moved(...move) } },
      premovable: { enabled: true, showDests: true, castle: true },
      draggable: { showGhost: true },
      highlight: { lastMove: true, check: true },
    });
  }

  /** Show a position. `live` says whether moves can be made in it. */
  show(position) {
    const before = this.shown;
    this.shown = position;
    this.closeChooser();
    const resized = fit(this.element, position.fen);
    this.ground.set({
      fen: onFullBoard(position.fen),
      orientation: position.orientation,
      turnColor: position.turn,
      lastMove: position.last ? squares(position.last) : undefined,
      check: position.check ? position.turn : false,
      viewOnly: !position.live,
      movable: {
        color: position.live ? position.mover : undefined,
        dests: new Map(Object.entries(position.live ? position.dests : {})),
      },
      premovable: { enabled: position.live },
    });
    if (resized) this.ground.redrawAll();
    if (!position.live) this.ground.cancelPremove();
    if (position.live && position.turn === position.mover && before && before.fen !== position.fen) {
      this.ground.playPremove();
    }
  }

  /** Draw arrows; none while the board is hidden, since they would have no length. */
  arrows(shapes) {
    const { bounds } = this.ground.state.dom;
    if (!bounds().width) bounds.clear(); // kept from when the board was hidden
    this.ground.setAutoShapes(bounds().width ? shapes : []);
  }

  /** Colour squares: a map from squares to classes of the style sheet. */
  colour(classes) {
    this.ground.set({ highlight: { custom: classes } });
  }

  moved(from, to, metadata) {
    const piece = this.ground.state.pieces.get(to);
    const promotes = piece && piece.role === "pawn" && (Number(to[1]) === sizeOf(this.shown.fen).ranks || to[1] === "1");
    if (!promotes) this.onMove(from + to);
    else if (metadata && metadata.premove) this.onMove(from + to + "q");
    else this.choose(piece.color, (letter) => this.onMove(from + to + letter));
  }

  /** Ask which piece a pawn becomes; Escape or a click beside it takes the move back. */
  choose(color, done) {
    this.chooser.replaceChildren();
    for (const letter of this.shown.promotions || "qnrb") {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-label", NAMES[letter]);
      button.dataset.piece = letter;
      const wrap = document.createElement("span");
      wrap.className = "cg-wrap";
      const picture = document.createElement("piece");
      picture.className = `${NAMES[letter]} ${color}`;
      wrap.append(picture);
      button.append(wrap);
      button.onclick = (event) => {
        event.stopPropagation();
        this.chooser.hidden = true;
        done(letter);
      };
      this.chooser.append(button);
    }
    this.chooser.onclick = () => this.show(this.shown);
    this.chooser.onkeydown = (event) => event.key === "Escape" && this.show(this.shown);
    this.chooser.hidden = false;
    this.chooser.firstChild.focus();
  }

  closeChooser() {
    this.chooser.hidden = true;
  }
}

/** A small board without a person. */
export function smallBoard(element) {
  const ground = Chessground(element, { viewOnly: true, coordinates: false, animation: { duration: 200 } });
  const set = ground.set;
  ground.set = (config) => {
    const resized = fit(element, config.fen);
    set({ ...config, fen: onFullBoard(config.fen) });
    if (resized) ground.redrawAll();
  };
  return ground;
}

/** The two squares of a move in UCI notation. */
export function squares(uci) {
  return [uci.slice(0, 2), uci.slice(2, 4)];
}

/** Arrows for the best moves: as wide as they are visited, likely, or good. */
export function arrowsOf(thought) {
  const shapes = [];
  const side = thought.fen.split(" ")[1] === "w" ? 1 : -1;
  const weight = (note) => weightOf(note, side);
  const weighed = thought.notes.filter((note) => weight(note) !== null).slice(0, SHOWN_ARROWS);
  const most = Math.max(...weighed.map(weight), 1e-9);
  for (const note of weighed) {
    const [orig, dest] = squares(note.uci);
    const lineWidth = Math.round(3 + 9 * Math.max(0, weight(note) / most));
    shapes.push({ orig, dest, brush: shapes.length ? "paleBlue" : "blue", modifiers: { lineWidth } });
  }
  if (!shapes.length && thought.lines.length && thought.lines[0].moves.length) {
    const [orig, dest] = squares(thought.lines[0].moves[0]);
    shapes.push({ orig, dest, brush: "blue" });
  }
  return shapes;
}

/** How much a move counts for the side to move (1: White, whose the values are). */
function weightOf(note, side) {
  if (note.visits !== null) return note.visits;
  if (note.prior !== null) return note.prior;
  return note.value !== null ? (side * note.value + 1) / 2 : null;
}

const WORTH = { q: 9, r: 5, b: 3, n: 3, p: 1 };
const SYMBOLS = { q: "\u265b", r: "\u265c", b: "\u265d", n: "\u265e", p: "\u265f" };
const AS_TEXT = "\ufe0e"; // phones would make a coloured picture of a pawn

/** A side's material advantage: "♛♟ +4"; empty without one. */
export function advantage(fen, side) {
  const count = {};
  for (const letter of fen.split(" ")[0]) {
    const small = letter.toLowerCase();
    if (!(small in WORTH)) continue;
    const mine = (letter === small) === (side === "black");
    count[small] = (count[small] || 0) + (mine ? 1 : -1);
  }
  let total = 0;
  let text = "";
  for (const [letter, worth] of Object.entries(WORTH)) {
    total += worth * (count[letter] || 0);
    text += (SYMBOLS[letter] + AS_TEXT).repeat(Math.max(0, count[letter] || 0));
  }
  return total > 0 ? `${text} +${total}` : text;
}

/** The pieces of a position by colour, each as a small letter and its square. */
function piecesOf(fen) {
  const found = { white: [], black: [] };
  const { ranks } = sizeOf(fen);
  fen.split(" ")[0].split("/").forEach((row, index) => {
    let file = 0;
    for (const letter of row) {
      if (letter >= "1" && letter <= "8") {
        file += Number(letter);
        continue;
      }
      const small = letter.toLowerCase();
      found[letter === small ? "black" : "white"].push([small, "abcdefgh"[file] + (ranks - index)]);
      file += 1;
    }
  });
  return found;
}

/** What stands on a square: "queen d1". */
export function pieceName(fen, square) {
  const found = Object.values(piecesOf(fen)).flat().find(([, where]) => where === square);
  return found ? `${NAMES[found[0]]} ${square}` : square;
}

/** A position for screen readers: "White: king e1, ..." */
export function inWords(fen) {
  const found = piecesOf(fen);
  const text = (list) =>
    list
      .sort((a, b) => ORDER.indexOf(a[0]) - ORDER.indexOf(b[0]))
      .map(([letter, square]) => `${NAMES[letter]} ${square}`)
      .join(", ");
  return `White: ${text(found.white)}. Black: ${text(found.black)}.`;
}
