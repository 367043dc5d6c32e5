// The review of a game on the analysis board: graph, errors with better moves, accuracy.

import { showGraph } from "./graph.js";
import { numbered } from "./moves.js";
import { cell, score } from "./thought.js";

const $ = (id) => document.getElementById(id);
const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??", "missed win": "✗" };

export class Review {
  /** `board` is the analysis board, `go(index)` shows a node. */
  constructor(board) {
    this.board = board;
    this.clear();
  }

  clear() {
    this.line = []; // nodes of the reviewed line, without the start
    this.verdicts = []; // by ply, from the start on
    this.judged = []; // by move
    this.accuracy = null;
    this.again = null; // [done, of] of the second looks
    $("review").hidden = true;
  }

  /** Whether a review has begun and not ended. */
  get pending() {
    return this.line.length > 0 && !this.accuracy;
  }

  /** Begin a review of the line through the position on show. */
  begin(tree, line) {
    this.clear();
    this.line = line;
    this.verdicts = new Array(line.length + 1).fill(null);
    $("review").hidden = false;
    this.render();
  }

  takeVerdict(message) {
    if (message.of !== this.verdicts.length) return;
    this.verdicts[message.ply] = message;
    this.again = message.again;
    this.render();
  }

  takeEnd(message) {
    if (message.moves.length !== this.line.length) return;
    this.judged = message.moves;
    this.accuracy = message.accuracy;
    this.engine = `${message.engine}, ${message.nodes.toLocaleString("en")} nodes a position`;
    this.render();
    this.board.render();
  }

  /** The sign behind a move of the tree. */
  mark(index) {
    const ply = this.line.indexOf(index);
    const judgement = ply >= 0 ? this.judged[ply] : null;
    if (!judgement || !judgement.kind) return null;
    const kind = judgement.kind.replace(" ", "-");
    return { text: SIGNS[judgement.kind], kind, title: this.words(ply) };
  }

  /** The node before a move, 0 for the first one. */
  before(ply) {
    return ply ? this.line[ply - 1] : 0;
  }

  words(ply) {
    const { kind, loss } = this.judged[ply];
    const best = this.verdicts[ply].sans[0];
    return `${kind}, costs ${loss.toFixed(1)} points of 100; better ${best}`;
  }

  render() {
    const done = this.verdicts.filter((verdict) => verdict !== null).length;
    const whole = this.verdicts.length;
    const [looked, doubtful] = this.again || [done, whole];
    $("review-progress").hidden = !this.pending;
    $("review-progress").max = doubtful;
    $("review-progress").value = looked;
    const current = this.line.indexOf(this.board.current) + 1;
    const marks = ["", ...this.judged.map((judgement) => judgement.kind.replace(" ", "-"))];
    const values = this.verdicts.map((verdict) => verdict && verdict.chance);
    showGraph($("graph"), values, marks, current, (ply) => this.board.go(ply ? this.line[ply - 1] : 0));
    this.renderAccuracy();
    this.renderErrors();
  }

  renderAccuracy() {
    if (!this.accuracy) {
      const again = this.again ? `, a longer look where it is in doubt: ${this.again.join(" of ")}` : "";
      $("accuracy").textContent = `Reviewing …${again}`;
      return;
    }
    const of = (side) => (this.accuracy[side] === null ? "–" : `${this.accuracy[side].toFixed(1)} %`);
    $("accuracy").textContent = `Accuracy: White ${of("white")}, Black ${of("black")}. By ${this.engine}.`;
  }

  renderErrors() {
    const errors = this.judged
      .map((judgement, ply) => ({ ...judgement, ply }))
      .filter((judgement) => judgement.kind && judgement.kind !== "inaccuracy");
    if (this.judged.length && !errors.length) {
      $("errors").replaceChildren(cell("li", "No mistakes or blunders. Well played!"));
      return;
    }
    $("errors").replaceChildren(...errors.map((error) => this.errorItem(error)));
  }

  errorItem(error) {
    const tree = this.board.tree;
    const fen = tree.nodes[this.before(error.ply)].fen;
    const verdict = this.verdicts[error.ply];
    const item = document.createElement("li");
    item.className = error.kind.replace(" ", "-");
    const show = cell("button", `${numbered([tree.nodes[this.line[error.ply]].san], fen)} ${SIGNS[error.kind]}`);
    show.onclick = () => this.board.go(this.line[error.ply]);
    const text = cell("span", ` ${error.kind}, costs ${error.loss.toFixed(1)} points. Better (${score(verdict, " for White")}): `);
    const better = cell("button", numbered(verdict.sans.slice(0, 6), fen));
    better.className = "better";
    better.title = "Show this line on the board";
    better.onclick = () => this.board.addLine(this.before(error.ply), { ...verdict, moves: verdict.line }, 1);
    const play = cell("button", "Play from here");
    play.onclick = () => this.board.playFrom(this.before(error.ply));
    item.append(show, text, better, play);
    return item;
  }
}
