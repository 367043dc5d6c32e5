// Boards of blind chess, and a finished game with what both sides knew. Used by the page of
// `rookery play`, and as part of the single file that `rookery blind view` writes.

const SIGNS = { P: "♙", N: "♘", B: "♗", R: "♖", Q: "♕", K: "♔", p: "♟", n: "♞", b: "♝", r: "♜", q: "♛", k: "♚" };
const ROLES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

export function squareName(square) {
  return "abcdefgh"[square % 8] + (Math.floor(square / 8) + 1);
}

/** The piece of a FEN letter in words: "white knight". */
export function pieceName(letter) {
  return `${letter === letter.toUpperCase() ? "white" : "black"} ${ROLES[letter.toLowerCase()]}`;
}

/** A piece as a sign, or as the picture of the page's piece set. */
function pieceElement(letter, pictures) {
  const element = document.createElement("span");
  if (!pictures) {
    element.className = "piece";
    element.textContent = SIGNS[letter] + "\ufe0e";
    return element;
  }
  element.className = "cg-wrap";
  const picture = document.createElement("piece");
  const [color, role] = pieceName(letter).split(" ");
  picture.className = `${role} ${color}`;
  element.append(picture);
  return element;
}

/** The 64 squares of a board, from its upper left corner. */
function order(flipped) {
  const squares = [...Array(64).keys()].map((i) => 8 * (7 - Math.floor(i / 8)) + (i % 8));
  return flipped ? squares.reverse() : squares;
}

/**
 * Draw a board: `pieces` by square; with a `view` also what its side thinks of all other squares.
 * `make(square)` returns the element of a square (default: an empty div).
 */
export function drawBoard(board, { pieces, view, flipped = false, pictures = false, make }) {
  board.classList.add("blind-board");
  board.replaceChildren(...order(flipped).map((square) => {
    const cell = make ? make(square) : document.createElement("div");
    const light = (Math.floor(square / 8) + square) % 2;
    cell.classList.add("blind-square", light ? "light" : "dark");
    cell.dataset.square = squareName(square);
    const own = pieces[square];
    const [guess, share] = (!own && view && view.others[square]) || ["", 0];
    if (view) {
      const seen = view.window.includes(square);
      cell.classList.toggle("window", seen);
      cell.classList.toggle("fog", !seen && !own);
    }
    if (share) {
      const heat = document.createElement("span");
      heat.className = "heat";
      heat.style.opacity = 0.65 * share;
      cell.append(heat);
      cell.title = `${pieceName(guess)}? ${Math.round(100 * share)} % of the possible boards have a piece here`;
    }
    if (own || guess) {
      const piece = pieceElement(own || guess, pictures);
      piece.classList.toggle("guess", !own);
      cell.append(piece);
    }
    return cell;
  }));
}

/** How many boards a side thinks possible, in words. */
export function countWords(view) {
  const kind = view.complete ? "" : " (a sample)";
  return `${view.boards.toLocaleString("en")} possible ${view.boards === 1 ? "board" : "boards"}${kind}`;
}

/** A finished game: the true board between what White and Black knew, turn by turn. */
export class GameViewer {
  constructor(root, game, options = {}) {
    this.game = game;
    this.options = options;
    root.replaceChildren();
    root.classList.add("blind-steps");
    this.words = add(root, "p");
    this.words.setAttribute("aria-live", "polite");
    this.slider = add(root, "input");
    Object.assign(this.slider, { type: "range", min: 0, max: game.steps.length - 1 });
    this.slider.setAttribute("aria-label", "Turn");
    this.slider.oninput = () => this.show(+this.slider.value);
    const buttons = add(root, "p");
    for (const [text, by] of [["Back", -1], ["On", 1]]) {
      const button = add(buttons, "button", text);
      button.type = "button";
      button.onclick = () => this.step(by);
      buttons.append(" ");
    }
    buttons.append("Red: the share of the boards this side still thinks possible that have an opponent's piece there, with the likeliest one. Blue: sensed.");
    const boards = add(root, "div");
    boards.className = "blind-boards";
    this.boards = [`White: ${game.white}`, "The true board", `Black: ${game.black}`].map((title) => {
      const section = add(boards, "section");
      add(section, "h3", title);
      return { board: add(section, "div"), count: add(section, "p") };
    });
    this.show(0);
  }

  show(number) {
    const step = this.game.steps[number];
    const { pictures } = this.options;
    this.slider.value = number;
    this.words.textContent = `${number + 1}. ${step.words}`;
    drawBoard(this.boards[1].board, { pieces: step.truth, pictures });
    step.views.forEach((view, side) => {
      const { board, count } = this.boards[2 * side];
      drawBoard(board, { pieces: view.own, view, pictures });
      count.textContent = countWords(view);
    });
  }

  step(by) {
    this.show(Math.min(Math.max(+this.slider.value + by, 0), this.game.steps.length - 1));
  }
}

function add(parent, tag, text = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
}
