// The position editor: put pieces on the board, or paste a FEN or a PGN game.

import { Chessground } from "./vendor/chessground/chessground.min.js";
import { STANDARD } from "./moves.js";

const $ = (id) => document.getElementById(id);
const ROLES = ["king", "queen", "rook", "bishop", "knight", "pawn"];
const EMPTY = "8/8/8/8/8/8/8/8";

export class Editor {
  /** `use(text)` loads a FEN or PGN; it may throw the server's text. */
  constructor(use) {
    this.use = use;
    this.piece = null; // what a click puts down; "" removes
    this.wire();
  }

  wire() {
    const palette = [];
    for (const color of ["white", "black"]) {
      for (const role of ROLES) palette.push(this.tool(`${color} ${role}`, { color, role }));
    }
    palette.push(this.tool("remove", ""));
    $("editor-pieces").replaceChildren(...palette);
    $("editor-clear").onclick = () => this.ground.set({ fen: EMPTY });
    $("editor-standard").onclick = () => this.ground.set({ fen: STANDARD.split(" ")[0] });
    $("editor-cancel").onclick = () => $("editor").close();
    $("editor-use").onclick = () => this.finish(this.fen());
    $("editor-load").onclick = () => this.finish($("editor-text").value);
  }

  tool(name, piece) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-label", name);
    button.setAttribute("aria-pressed", "false");
    const wrap = document.createElement("span");
    wrap.className = "cg-wrap";
    if (piece) {
      const picture = document.createElement("piece");
      picture.className = `${piece.role} ${piece.color}`;
      wrap.append(picture);
    } else wrap.textContent = "✕";
    button.append(wrap);
    button.onclick = () => {
      this.piece = piece;
      for (const other of $("editor-pieces").children) other.setAttribute("aria-pressed", String(other === button));
    };
    return button;
  }

  open(fen) {
    $("editor").showModal();
    $("editor-error").textContent = "";
    this.ground ??= Chessground($("editor-board"), {
      coordinates: false,
      movable: { free: true, color: "both" },
      premovable: { enabled: false },
      draggable: { deleteOnDropOff: true },
      animation: { enabled: false },
      events: { select: (square) => this.put(square) },
    });
    const fields = fen.split(" ");
    this.ground.set({ fen: fields[0], lastMove: undefined });
    this.ground.redrawAll();
    $("editor-turn").value = fields[1];
    for (const right of "KQkq") $(`castle-${right}`).checked = fields[2].includes(right);
  }

  put(square) {
    if (this.piece === null) return;
    this.ground.setPieces(new Map([[square, this.piece || undefined]]));
    this.ground.selectSquare(null);
  }

  fen() {
    const castling = [..."KQkq"].filter((right) => $(`castle-${right}`).checked).join("") || "-";
    return `${this.ground.getFen()} ${$("editor-turn").value} ${castling} - 0 1`;
  }

  async finish(text) {
    try {
      await this.use(text);
      $("editor").close();
    } catch (error) {
      $("editor-error").textContent = error.message;
    }
  }
}
