// The analysis board: free moves for both sides, a tree of variations, an engine that thinks on.

import { beginSession, request } from "./api.js";
import { Board, inWords } from "./board.js";
import { Editor } from "./editor.js";
import { Insight } from "./insight.js";
import { showLines } from "./engine_lines.js";
import { STANDARD } from "./moves.js";
import { pgnText } from "./pgn.js";
import { Review } from "./review.js";
import { MoveTree } from "./tree.js";
import { showTree } from "./tree_view.js";

const $ = (id) => document.getElementById(id);
const RETRY = 1000; // milliseconds

export class AnalyseView {
  /** `play(wishes)` starts a game. */
  constructor(play, notify) {
    this.play = play;
    this.notify = notify;
    this.board = new Board($("analysis-board"), $("analysis-promotion"), (uci) => this.moved(uci));
    this.review = new Review(this);
    this.insight = new Insight(this);
    this.editor = new Editor((text) => this.loadText(text));
    this.flipped = false;
    this.position = null; // the server's facts about the node on show
    this.wire();
    this.load(new MoveTree(STANDARD));
  }

  // --- The tree on show ---

  /** `tags` are those of a PGN game: White, Black, Result and so on. */
  load(tree, tags = {}) {
    this.tree = tree;
    this.tags = tags;
    this.current = 0;
    this.position = null;
    this.review.clear();
    $("analysis-title").textContent = titleOf(tags);
    this.ask();
    this.render();
  }

  /** A game of the page: its start and its moves. */
  loadGame(state, entries) {
    const tree = new MoveTree(state.start);
    let at = 0;
    for (const entry of entries) at = tree.add(at, entry.uci, entry.san, entry.fen);
    this.load(tree, { White: state.white, Black: state.black, Result: state.result });
    this.go(entries.length ? at : 0);
  }

  async loadText(text) {
    const trimmed = text.trim();
    const isFen = trimmed.split(" ")[0].split("/").length === 8;
    const { headers, nodes } = await request("POST", "/api/pgn", isFen ? { fen: trimmed } : { pgn: trimmed });
    this.load(MoveTree.of(nodes), headers);
  }

  go(index) {
    this.current = index;
    this.position = null;
    this.ask();
    this.render();
  }

  /** A move on the board or typed, in UCI or SAN. */
  moved(move) {
    this.send({ type: "position", ...this.place(this.current), typed: move, key: this.current });
  }

  /** Add a principal line below a node and show its position after `plies` moves. */
  addLine(parent, line, plies) {
    let at = parent;
    let shown = parent;
    line.moves.slice(0, line.fens.length).forEach((uci, index) => {
      at = this.tree.add(at, uci, line.sans[index], line.fens[index]);
      if (index + 1 === plies) shown = at;
    });
    this.go(shown);
  }

  playFrom(index) {
    const fen = this.tree.nodes[index].fen;
    this.play({ color: fen.split(" ")[1] === "w" ? "white" : "black", fen });
  }

  // --- The server ---

  place(index) {
    return { start: this.tree.nodes[0].fen, moves: this.tree.moves(index) };
  }

  ask() {
    this.send({ type: "position", ...this.place(this.current), key: -1 });
  }

  send(message) {
    if (this.socket && this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  show() {
    this.visible = true;
    if (!this.socket) this.connect();
  }

  hide() {
    this.visible = false;
    this.disconnect();
  }

  disconnect() {
    if (this.socket) this.socket.close();
    this.socket = null;
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/analysis/socket`);
    this.socket = socket;
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: "hello", token: request.token }));
      this.ask();
      this.think();
      if (this.wanted) this.startReview();
      else if (this.review.pending) this.askReview(); // it ended with the last connection
    };
    socket.onmessage = (event) => this.visible && this.receive(JSON.parse(event.data));
    socket.onclose = (event) => {
      if (socket !== this.socket) return;
      this.socket = null;
      showLines(this, null);
      if (event.code === 1008 && event.reason.startsWith("no engine")) return this.notify(event.reason);
      setTimeout(() => this.again(), RETRY);
    };
  }

  /** The server went away: the tree stays, and a new server is asked until there is one. */
  async again() {
    if (!this.visible || this.socket) return;
    try {
      await beginSession();
      this.notify("");
      this.connect();
    } catch {
      this.notify("The server is away. The moves are kept; analysis goes on when it is back.");
      setTimeout(() => this.again(), RETRY);
    }
  }

  receive(message) {
    if (message.type === "position") this.takePosition(message);
    else if (message.type === "thought") this.takeThought(message);
    else if (message.type === "verdict") this.review.takeVerdict(message);
    else if (message.type === "reviewed") this.review.takeEnd(message);
    else if (message.type === "error") {
      this.notify(message.text);
      this.render(); // takes back a move that was refused
    }
  }

  takePosition(position) {
    if (position.key !== -1) {
      // A move on the board: the server has checked it and says how it is written.
      this.current = this.tree.add(position.key, position.uci, position.san, position.fen);
    }
    if (position.fen !== this.tree.nodes[this.current].fen) return; // of an earlier question
    this.position = position;
    this.notify("");
    this.render();
  }

  takeThought(thought) {
    if (thought.fen !== this.tree.nodes[this.current].fen || !$("engine-on").checked) return;
    this.thought = thought;
    showLines(this, thought);
  }

  think() {
    const lines = $("engine-on").checked ? Number($("engine-lines").value) : 0;
    $("engine-list").style.setProperty("--lines", lines);
    this.send({ type: "think", lines });
    if (!$("engine-on").checked) showLines(this, null);
    localStorage.setItem("rookery-engine", $("engine-on").checked ? $("engine-lines").value : "0");
  }

  startReview() {
    this.wanted = false;
    const line = this.tree.line(this.current);
    if (!line.length) return this.notify("There are no moves to review yet.");
    this.review.begin(this.tree, line);
    this.askReview();
  }

  askReview() {
    this.send({ type: "review", ...this.place(this.review.line.at(-1)) });
    showLines(this, null); // the engine thinks again when the review is done
  }

  // --- Rendering ---

  render() {
    const node = this.tree.nodes[this.current];
    const known = this.position;
    const turn = node.fen.split(" ")[1] === "w" ? "white" : "black";
    this.board.show({
      fen: node.fen,
      orientation: this.flipped ? "black" : "white",
      turn,
      last: node.uci,
      check: known ? known.check : false,
      live: Boolean(known),
      mover: turn,
      dests: known ? known.dests : {},
    });
    showTree($("tree"), this.tree, this.current, (index) => this.go(index), (index) => this.review.mark(index));
    if (this.review.verdicts.length) this.review.render();
    $("analyse").dataset.live = String(Boolean(known));
    $("analysis-facts").textContent = known ? facts(known) : "";
    $("analysis-words").textContent = inWords(node.fen);
    $("analysis-fen").value = node.fen;
    $("tree-delete").disabled = !this.current;
    $("tree-promote").disabled = this.tree.isMain(this.current);
    showLines(this, this.thought && this.thought.fen === node.fen ? this.thought : null);
    if (known) this.insight.refresh(node.fen);
  }

  flip() {
    this.flipped = !this.flipped;
    this.render();
  }

  step(by) {
    const children = this.tree.children[this.current];
    if (by < 0 && this.current) this.go(this.tree.nodes[this.current].parent);
    if (by > 0 && children.length) this.go(children[0]);
  }

  end() {
    const line = this.tree.line(this.current);
    if (line.length) this.go(line[line.length - 1]);
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.pgn);
      $("analysis-copy").textContent = "Copied";
      setTimeout(() => ($("analysis-copy").textContent = "Copy PGN"), 1500);
    } catch (error) {
      this.notify(`The PGN could not be copied (${error.message}).`);
    }
  }

  get pgn() {
    const start = this.tree.nodes[0].fen;
    const setup = start === STANDARD ? {} : { SetUp: "1", FEN: start };
    const tags = { ...this.tags, Event: this.tags.Event || "Rookery analysis", Result: this.tags.Result || "*", ...setup };
    return pgnText(Object.entries(tags), [...this.tree.movetext().split(" "), tags.Result]);
  }

  wire() {
    const on = (id, action) => ($(id).onclick = action);
    on("analysis-first", () => this.go(0));
    on("analysis-previous", () => this.step(-1));
    on("analysis-next", () => this.step(1));
    on("analysis-last", () => this.end());
    on("analysis-flip", () => this.flip());
    on("analysis-copy", () => this.copy());
    on("analysis-play", () => this.playFrom(this.current));
    on("edit-position", () => this.editor.open(this.tree.nodes[this.current].fen));
    on("start-review", () => this.startReview());
    on("tree-delete", () => this.go(this.tree.remove(this.current)));
    on("tree-promote", () => {
      this.tree.promote(this.current);
      this.render();
    });
    const kept = localStorage.getItem("rookery-engine") ?? "2";
    $("engine-on").checked = kept !== "0";
    if (kept !== "0") $("engine-lines").value = kept;
    $("engine-on").onchange = $("engine-lines").onchange = () => this.think();
    $("analysis-move").onsubmit = (event) => {
      event.preventDefault();
      if ($("analysis-text").value.trim()) this.moved($("analysis-text").value.trim());
      $("analysis-text").value = "";
    };
    document.addEventListener("keydown", (event) => this.key(event));
    // A browser may keep a page that was left, with its connection, for a while: the engine would
    // go on thinking for nobody.
    addEventListener("pagehide", () => this.disconnect());
    addEventListener("pageshow", (event) => event.persisted && this.visible && this.show());
  }

  key(event) {
    const busy = event.target.closest("input, select, textarea, dialog") || $("analyse").hidden;
    if (busy || event.ctrlKey || event.altKey || event.metaKey) return;
    const actions = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => this.go(0),
      End: () => this.end(),
      f: () => this.flip(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}

/** The line above the board: "A – B, 0-1"; "" if nothing is known. */
function titleOf({ White, Black, Result }) {
  const names = [White, Black].filter((name) => name && name !== "?").join(" – ");
  return names && [names, Result === "*" ? "not finished" : Result].filter(Boolean).join(", ");
}

/** What is known about a position without searching. */
function facts(position) {
  const found = [];
  if (position.opening) found.push(position.opening);
  if (position.book.length) found.push(`Book: ${position.book.map((move) => `${move.san} ${move.share || "<1"} %`).join(", ")}`);
  if (position.tablebase) found.push(`Tablebase: ${position.tablebase.text}`);
  if (position.outcome) {
    const { ending, winner } = position.outcome;
    found.push(`${ending.replaceAll("_", " ")}${winner === null ? "" : winner ? ": White has won" : ": Black has won"}`);
  }
  return found.join(" · ");
}
