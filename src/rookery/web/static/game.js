// One game on the page: shows messages from the server and sends the user's actions.

import { GameSocket, request } from "./api.js";
import { Board, advantage, arrowsOf, inWords } from "./board.js";
import { showThought } from "./thought.js";

const $ = (id) => document.getElementById(id);
const KEPT = "rookery-game"; // of this tab, so that reloading finds the game again
const WISHES = "rookery-wishes"; // what that game was started with, for a rematch
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

  /** Start a game; throws the server's text if it refuses. */
  async begin(wishes) {
    const { id } = await request("POST", "/api/games", wishes);
    const old = this.state && this.state.id;
    this.attach(id);
    sessionStorage.setItem(WISHES, JSON.stringify(wishes));
    if (old) request("DELETE", `/api/games/${old}`).catch(() => {});
  }

  /** Go on with the game that this tab had before it was loaded again. */
  async resume() {
    const id = sessionStorage.getItem(KEPT);
    if (!id) return false;
    return new Promise((resolve) => {
      this.attach(id, () => resolve(true), () => resolve(false));
    });
  }

  /** The same again, with colours exchanged. */
  async rematch() {
    const wishes = JSON.parse(sessionStorage.getItem(WISHES) || "null");
    if (!wishes) return;
    if (this.state.people.length === 1) wishes.color = this.state.people[0] === "white" ? "black" : "white";
    try {
      await this.begin(wishes);
    } catch (error) {
      this.notify(error.message);
    }
  }

  attach(id, onFirst, onRefused) {
    if (this.socket) this.socket.close();
    this.thoughts.clear();
    this.entries = [];
    this.flipped = false;
    let first = onFirst;
    this.socket = new GameSocket(
      id,
      (message) => {
        this.receive(message);
        if (first) first();
        first = null;
        onRefused = null;
      },
      (reason) => {
        sessionStorage.removeItem(KEPT);
        if (onRefused) onRefused();
        else this.notify(`${reason}. Start a new game, or reload the page.`);
      },
    );
    sessionStorage.setItem(KEPT, id);
  }

  // --- Messages from the server ---

  receive(message) {
    if (message.type === "state") this.takeState(message);
    else if (message.type === "thought") this.takeThought(message);
    else if (message.type === "hint") this.say(`Hint: ${message.san}`);
    else if (message.type === "error") this.notify(message.text);
  }

  takeState(state) {
    const atEnd = this.ply >= this.entries.length;
    const newGame = !this.state || this.state.id !== state.id;
    this.entries = this.entries.slice(0, state.base).concat(state.entries);
    this.state = state;
    this.received = performance.now();
    if (newGame || atEnd || this.ply > this.entries.length || state.said) this.ply = this.entries.length;
    if (newGame) this.notify("");
    if (state.said) this.say(state.said);
    if (state.result !== "*") this.say(`Game over: ${state.result}, ${state.reason}`);
    this.render();
  }

  takeThought(thought) {
    this.thoughts.set(thought.fen, thought);
    this.renderThought();
  }

  say(text) {
    $("said").textContent = text;
  }

  // --- User actions ---

  send(message) {
    if (this.socket && !this.socket.send(message)) this.notify("There is no connection to the server.");
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
    on("hint", () => this.send({ type: "hint" }));
    on("now", () => this.send({ type: "now" }));
    on("pause", () => this.send({ type: "pause", paused: !this.state.paused }));
    on("flip", () => this.flip());
    on("first", () => this.go(0));
    on("previous", () => this.go(this.ply - 1));
    on("next", () => this.go(this.ply + 1));
    on("last", () => this.go(this.entries.length));
    on("copy", () => this.copy());
    $("arrows").onchange = () => this.renderThought();
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

  async copy() {
    try {
      const text = await request("GET", `/api/games/${this.state.id}/pgn`);
      await navigator.clipboard.writeText(text);
      this.say("PGN copied");
      $("copy").textContent = "Copied";
      setTimeout(() => ($("copy").textContent = "Copy PGN"), 1500);
    } catch (error) {
      this.notify(`The PGN could not be copied (${error.message}); download it instead.`);
    }
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
    if (state.trouble) return state.trouble;
    if (state.result !== "*") return `${state.result}: ${state.reason}`;
    const side = state.turn === "white" ? "White" : "Black";
    const check = state.check ? " (check)" : "";
    if (state.people.includes(state.turn)) return `${side} to move${check}: your turn`;
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
      const passed = clock.running === side ? (performance.now() - this.received) / 1000 : 0;
      const left = Math.max(0, clock[side] - passed);
      const minutes = Math.floor(left / 60);
      const seconds = left < 20 ? (left % 60).toFixed(1).padStart(4, "0") : String(Math.floor(left % 60)).padStart(2, "0");
      element.textContent = `${minutes}:${seconds}`;
      element.classList.toggle("low", left < 20);
    }
  }

  renderMoves() {
    const fields = this.state.start.split(" ");
    const offset = fields[1] === "b" ? 1 : 0;
    const firstNumber = Number(fields[5]) || 1;
    const rows = [];
    this.entries.forEach((entry, index) => {
      const place = index + offset;
      if (place % 2 === 0 || !rows.length) {
        const row = document.createElement("li");
        const number = document.createElement("span");
        number.className = "number";
        number.textContent = `${firstNumber + Math.floor(place / 2)}.`;
        row.append(number);
        if (place % 2 === 1) row.append(document.createElement("span"));
        rows.push(row);
      }
      const button = document.createElement("button");
      button.textContent = entry.san;
      button.setAttribute("aria-current", String(index + 1 === this.ply));
      button.onclick = () => this.go(index + 1);
      rows[rows.length - 1].append(button);
    });
    $("moves").replaceChildren(...rows);
    const current = $("moves").querySelector("[aria-current=true]");
    if (current) $("moves").scrollTop = current.closest("li").offsetTop - $("moves").offsetTop - 60;
    else $("moves").scrollTop = 0;
  }

  renderButtons() {
    const state = this.state;
    const open = state.result === "*";
    const playing = state.people.length > 0;
    const mine = open && state.people.includes(state.turn);
    const wishes = sessionStorage.getItem(WISHES);
    $("again").hidden = open || !playing || !wishes;
    if (!open) this.askToResign(false);
    $("take-back").disabled = !state.canTakeBack;
    $("resign").disabled = !(open && playing);
    $("claim").disabled = !state.canClaim;
    $("hint").disabled = !(mine && state.people.length === 1);
    $("now").hidden = !(state.thinking && playing);
    $("pause").hidden = playing || !open;
    $("pause").textContent = state.paused ? "Resume" : "Pause";
    $("move-text").disabled = !mine;
    for (const id of ["take-back", "resign", "claim", "hint"]) $(id).hidden = !playing;
    $("move-form").hidden = !playing;
    $("download").href = `/api/games/${state.id}/pgn`;
  }

  /** The thought about the position on show, or else about the one before. */
  renderThought() {
    if (!this.state) return;
    const own = this.thoughts.get(this.shownFen);
    const before = this.ply > 1 ? this.entries[this.ply - 2].fen : this.state.start;
    const thought = own || this.thoughts.get(before) || null;
    showThought(thought);
    this.board.arrows(own && $("arrows").checked ? arrowsOf(own) : []);
  }
}
