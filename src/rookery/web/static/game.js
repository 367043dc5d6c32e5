// One game on the page: shows messages from the server and sends the user's actions.

import { request } from "./api.js";
import { Board, advantage, arrowsOf, inWords } from "./board.js";
import { showMoves } from "./moves.js";
import { pgnOf } from "./pgn.js";
import { GameSocket } from "./socket.js";
import { hear } from "./sounds.js";
import { showResult, showThought } from "./thought.js";

const $ = (id) => document.getElementById(id);
const KEPT = "rookery-game"; // of this tab, so that reloading finds the game again
const SERIOUS = "rookery-serious"; // of this browser: thoughts wait until the game is over
const SURE = 3000; // milliseconds in which a second click resigns

export class GameView {
  constructor(notify) {
    this.notify = notify;
    this.socket = null;
    this.state = null;
    this.entries = [];
    this.ply = 0; // the position on show
    this.flipped = false;
    this.thoughts = new Map(); // fen -> what was thought about it
    this.board = new Board($("board"), $("promotion"), (uci) => this.sendMove(uci));
    this.wire();
    setInterval(() => this.showClocks(), 200);
  }

  // --- Starting ---

  /** Start a game, or go on with a kept one ({ resume: id }); throws the server's text. */
  async begin(wishes) {
    const { id } = await request("POST", "/api/games", wishes);
    const old = this.state && this.state.id;
    this.attach(id);
    if (old && old !== id) request("DELETE", `/api/games/${old}`).catch(() => {});
  }

  /** Go on with the game that this tab had before it was loaded again. */
  async resume() {
    const id = sessionStorage.getItem(KEPT);
    if (!id) return false;
    try {
      await this.begin({ resume: id });
      return true;
    } catch {
      return false;
    }
  }

  /** The same again, with colours exchanged. */
  async rematch() {
    const wishes = { ...this.state.wishes };
    if (this.state.people.length === 1) wishes.color = this.state.people[0] === "white" ? "black" : "white";
    try {
      await this.begin(wishes);
    } catch (error) {
      this.notify(error.message);
    }
  }

  attach(id) {
    if (this.socket) this.socket.close();
    this.thoughts.clear();
    this.entries = [];
    this.flipped = false;
    this.setAway(false);
    this.socket = new GameSocket(id, {
      onMessage: (message) => this.receive(message),
      onAway: () => this.setAway(true),
      onBack: () => this.setAway(false),
      onGone: (reason) => {
        this.setAway(false);
        this.notify(`${reason}. The moves are still here: copy the PGN, or start a new game.`);
      },
      copy: () => this.copyForServer(),
    });
  }

  /** The server is away, or back again; the game stays as it is. */
  setAway(away) {
    const was = !$("away").hidden;
    $("away").hidden = !away;
    if (away) this.say("The server is away. The game is kept and goes on when it is back.");
    else if (was) this.say("The server is back.");
    if (this.state && was !== away) this.render();
  }

  /** Everything that another server needs to go on with this game. */
  copyForServer() {
    const state = this.state;
    if (!state || !this.entries.length) return null;
    const { wishes, start, result, reason, clock } = state;
    return { ...wishes, fen: start, moves: this.entries.map((entry) => entry.uci), result, reason, clock };
  }

  // --- Messages from the server ---

  receive(message) {
    if (message.type === "state") this.takeState(message);
    else if (message.type === "thought") this.takeThought(message);
    else if (message.type === "hint") this.takeHint(message);
    else if (message.type === "declined") this.notify(message.text, true);
    else if (message.type === "error") this.notify(message.text);
  }

  takeState(state) {
    const atEnd = this.ply >= this.entries.length;
    const newGame = !this.state || this.state.id !== state.id;
    const ended = !newGame && this.state.result === "*" && state.result !== "*";
    this.entries = this.entries.slice(0, state.base).concat(state.entries);
    this.state = state;
    this.received = performance.now();
    sessionStorage.setItem(KEPT, state.id);
    if (newGame || atEnd || this.ply > this.entries.length || state.said) this.ply = this.entries.length;
    if (newGame) this.notify("");
    if (!newGame && (ended || state.said)) hear(this.entries, state.result, ended);
    if (state.said) this.say(state.said);
    if (state.result !== "*") this.say(`Game over: ${state.result}, ${state.reason}`);
    this.render();
  }

  takeThought(thought) {
    this.thoughts.set(thought.fen, thought);
    this.renderThought();
  }

  /** Most players show a hint by their lines and an arrow; the others only name the move. */
  takeHint({ who, san }) {
    this.say(`Hint: ${san}`);
    const thought = this.thoughts.get(this.shownFen);
    if (!thought || thought.kind !== "hint") this.notify(`${who} would play ${san}.`, true);
  }

  say(text) {
    $("said").textContent = text;
  }

  // --- User actions ---

  send(message) {
    if (!this.socket || this.socket.send(message)) return;
    this.notify("The server is away; this will be possible when it is back.");
    this.render(); // takes back a move on the board
  }

  sendMove(move) {
    this.notify("");
    this.send({ type: "move", move, ply: this.entries.length });
  }

  go(ply) {
    this.ply = Math.max(0, Math.min(this.entries.length, ply));
    this.render();
  }

  wire() {
    const on = (id, action) => ($(id).onclick = action);
    on("take-back", () => this.send({ type: "takeback" }));
    on("resign", () => this.resign());
    on("again", () => this.rematch());
    on("claim", () => this.send({ type: "claim" }));
    on("offer-draw", () => this.send({ type: "draw" }));
    on("hint", () => this.send({ type: "hint" }));
    on("now", () => this.send({ type: "now" }));
    on("pause", () => this.send({ type: "pause", paused: !this.state.paused }));
    on("flip", () => this.flip());
    on("first", () => this.go(0));
    on("previous", () => this.go(this.ply - 1));
    on("next", () => this.go(this.ply + 1));
    on("last", () => this.go(this.entries.length));
    on("copy", () => this.copy());
    on("download", () => this.download());
    $("pace").onchange = () => this.send({ type: "pace", seconds: Number($("pace").value) });
    $("arrows").onchange = () => this.renderThought();
    $("thoughts-shown").checked = !localStorage.getItem(SERIOUS);
    $("thoughts-shown").onchange = () => {
      if ($("thoughts-shown").checked) localStorage.removeItem(SERIOUS);
      else localStorage.setItem(SERIOUS, "1");
      this.renderThought();
    };
    $("move-form").onsubmit = (event) => {
      event.preventDefault();
      const text = $("move-text").value.trim();
      if (text) this.sendMove(text);
      $("move-text").value = "";
    };
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const busy = event.target.closest("input, select, textarea, dialog") || $("play").hidden;
    if (busy || event.ctrlKey || event.altKey || event.metaKey || !this.state) return;
    const actions = {
      ArrowLeft: () => this.go(this.ply - 1),
      ArrowRight: () => this.go(this.ply + 1),
      Home: () => this.go(0),
      End: () => this.go(this.entries.length),
      f: () => this.flip(),
    };
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  }

  /** The first click asks, a second one soon after it resigns. */
  resign() {
    clearTimeout(this.asking);
    const sure = $("resign").dataset.asked === "true";
    this.askToResign(!sure);
    if (sure) this.send({ type: "resign" });
    else this.asking = setTimeout(() => this.askToResign(false), SURE);
  }

  askToResign(asked) {
    $("resign").dataset.asked = String(asked);
    $("resign").textContent = asked ? "Really resign?" : "Resign";
  }

  flip() {
    this.flipped = !this.flipped;
    this.render();
  }

  get pgn() {
    return pgnOf(this.state, this.entries);
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.pgn);
      this.say("PGN copied");
      $("copy").textContent = "Copied";
      setTimeout(() => ($("copy").textContent = "Copy PGN"), 1500);
    } catch (error) {
      this.notify(`The PGN could not be copied (${error.message}); download it instead.`);
    }
  }

  download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([this.pgn], { type: "application/x-chess-pgn" }));
    link.download = "rookery-game.pgn";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // --- Rendering ---

  get orientation() {
    const black = this.state.people.length === 1 && this.state.people[0] === "black";
    return black !== this.flipped ? "black" : "white";
  }

  get shownFen() {
    return this.ply ? this.entries[this.ply - 1].fen : this.state.start;
  }

  render() {
    const state = this.state;
    const entry = this.ply ? this.entries[this.ply - 1] : null;
    const atEnd = this.ply === this.entries.length;
    const fen = this.shownFen;
    const people = state.people;
    const turn = fen.split(" ")[1] === "w" ? "white" : "black";
    this.board.show({
      fen,
      orientation: this.orientation,
      turn,
      last: entry && entry.uci,
      check: entry ? entry.check : state.check && atEnd,
      live: atEnd && state.result === "*" && people.length > 0,
      mover: people.length === 2 ? state.turn : people[0],
      dests: state.dests,
      promotions: state.promotions,
    });
    this.renderBars();
    this.renderMoves();
    this.renderButtons();
    this.renderThought();
    $("board-words").textContent = inWords(fen);
    $("status").textContent = this.statusText();
    const mine = state.result === "*" && people.length === 1 && state.turn === people[0];
    document.title = state.result !== "*" ? `${state.result} · Rookery` : mine ? "Your move · Rookery" : "Rookery";
  }

  statusText() {
    const state = this.state;
    if (this.ply < this.entries.length) {
      return `Looking back: after ${this.ply} of ${this.entries.length} moves. » or the key End returns.`;
    }
    if (state.trouble) return state.trouble;
    const by = this.entries[this.ply - 1]?.by;
    const moved = by ? ` (${by}, made this move)` : "";
    if (state.result !== "*") return `${state.result}: ${state.reason}`;
    const side = state.turn === "white" ? "White" : "Black";
    const check = state.check ? " (check)" : "";
    if (state.offered) return `${side} to move${check}: your opponent offers a draw`;
    if (state.people.includes(state.turn)) return `${side} to move${check}: your turn${moved}`;
    return state.paused ? "Paused" : `${side} to move${check}: ${state[state.turn].split(",")[0]} thinks`;
  }

  renderBars() {
    const bottom = this.orientation;
    const top = bottom === "white" ? "black" : "white";
    for (const [id, side] of [["bar-top", top], ["bar-bottom", bottom]]) {
      const bar = $(id);
      bar.dataset.side = side;
      bar.querySelector(".name").textContent = this.state[side];
      bar.querySelector(".material").textContent = advantage(this.shownFen, side);
      bar.classList.toggle("turn", this.state.turn === side && this.state.result === "*");
    }
    $("value").classList.toggle("flipped", bottom === "black");
    this.showClocks();
  }

  showClocks() {
    if (!this.state) return;
    const clock = this.state.clock;
    for (const id of ["bar-top", "bar-bottom"]) {
      const element = $(id).querySelector(".clock");
      const side = $(id).dataset.side;
      element.hidden = !clock;
      if (!clock) continue;
      const passed = clock.running === side && $("away").hidden ? (performance.now() - this.received) / 1000 : 0;
      const left = Math.max(0, clock[side] - passed);
      const minutes = Math.floor(left / 60);
      const seconds = left < 20 ? (left % 60).toFixed(1).padStart(4, "0") : String(Math.floor(left % 60)).padStart(2, "0");
      element.textContent = `${minutes}:${seconds}`;
      element.classList.toggle("low", left < 20);
    }
  }

  renderMoves() {
    showMoves($("moves"), this.state.start, this.entries, this.ply, (ply) => this.go(ply));
  }

  renderButtons() {
    const state = this.state;
    const open = state.result === "*";
    const playing = state.people.length > 0;
    const mine = open && state.people.includes(state.turn);
    $("again").hidden = open || !playing;
    if (!open) this.askToResign(false);
    $("take-back").disabled = !state.canTakeBack;
    $("resign").disabled = !(open && playing);
    $("claim").disabled = !state.canClaim;
    $("offer-draw").disabled = !(open && state.people.length === 1);
    $("offer-draw").textContent = state.offered ? "Accept the draw" : "Offer draw";
    $("hint").disabled = !(mine && state.people.length === 1);
    $("now").hidden = !(state.thinking && playing);
    $("pause").hidden = playing || !open;
    $("pause").textContent = state.paused ? "Resume" : "Pause";
    $("pace-label").hidden = playing || !open;
    if (document.activeElement !== $("pace")) $("pace").value = String(state.pace);
    $("move-text").disabled = !mine;
    for (const id of ["take-back", "resign", "claim", "offer-draw", "hint"]) $(id).hidden = !playing;
    $("move-form").hidden = !playing;
  }

  /** The thought about the position on show, or else about the one before. */
  renderThought() {
    if (!this.state) return;
    const serious = !$("thoughts-shown").checked && this.state.result === "*" && this.state.people.length > 0;
    const thoughtOf = (fen) => {
      const found = this.thoughts.get(fen);
      return serious && found?.kind !== "hint" ? undefined : found; // a hint was asked for
    };
    const own = thoughtOf(this.shownFen);
    const before = this.ply > 1 ? this.entries[this.ply - 2].fen : this.state.start;
    const thought = own || thoughtOf(before) || null;
    showThought(thought, serious ? "A serious game: you see it when the game is over." : "Nothing yet.");
    if (this.state.result !== "*" && this.ply === this.entries.length) showResult(this.state.result);
    this.board.arrows(own && $("arrows").checked ? arrowsOf(own) : []);
  }
}
