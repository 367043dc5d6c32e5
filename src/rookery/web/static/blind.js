// Blind chess: sense by a click on the fog, then move; afterwards the whole game with what both
// sides knew. The server tells only what this side knows.

import { beginSession, request } from "./api.js";
import { GameViewer, countWords, drawBoard, pieceName, squareName } from "./blind/viewer.js";

const $ = (id) => document.getElementById(id);
const RETRY = 1000; // milliseconds
const PING = 20000;

export class BlindView {
  constructor(notify) {
    this.notify = notify;
    this.state = null;
    this.chosen = null; // the square of the piece to move
    this.record = null; // of the game, when it is over
    this.wire();
  }

  wire() {
    $("blind-new").onsubmit = (event) => {
      event.preventDefault();
      this.begin();
    };
    $("blind-form").onsubmit = (event) => {
      event.preventDefault();
      this.typed($("blind-text").value.trim());
      $("blind-text").value = "";
    };
    $("blind-skip").onclick = () => this.send({ type: "sense", square: null });
    $("blind-pass").onclick = () => this.send({ type: "move", move: null });
    $("blind-resign").onclick = () => this.send({ type: "resign" });
    $("blind-heat").onchange = () => this.render();
    $("blind-download").onclick = () => this.download();
    const board = $("blind-board");
    const aim = (event) => this.aim(event.target.closest("[data-square]"));
    for (const kind of ["mouseover", "focusin"]) board.addEventListener(kind, aim);
    for (const kind of ["mouseleave", "focusout"]) board.addEventListener(kind, () => this.aim(null));
    board.onkeydown = (event) => this.walk(event);
  }

  show() {
    if (!this.socket) this.connect();
    this.render();
  }

  // --- The server ---

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/blind/socket`);
    this.socket = socket;
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: "hello", token: request.token }));
      this.heart = setInterval(() => this.send({ type: "ping" }), PING);
      if (this.state) this.send({ type: "resume", id: this.state.id });
    };
    socket.onmessage = (event) => this.heard(JSON.parse(event.data));
    socket.onclose = () => {
      clearInterval(this.heart);
      setTimeout(() => this.again(), RETRY);
    };
  }

  async again() {
    try {
      await beginSession();
      this.connect();
    } catch {
      setTimeout(() => this.again(), RETRY);
    }
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    else this.notify("The server is away; the page tries again every second.");
  }

  heard(message) {
    if (message.type === "welcome") this.offer(message.opponents);
    else if (message.type === "state") this.tell(message);
    else if (message.type === "game") this.end(message);
    else if (message.type === "error") this.notify(message.text);
  }

  offer(opponents) {
    const before = $("blind-player").value || "quick";
    $("blind-player").replaceChildren(...Object.entries(opponents).map(([id, title]) => new Option(title, id)));
    $("blind-player").value = before in opponents ? before : "random";
  }

  // --- The game ---

  begin() {
    this.record = null;
    $("blind-end").hidden = true;
    this.send({ type: "new", player: $("blind-player").value, color: $("blind-color").value });
  }

  tell(state) {
    this.notify("");
    this.state = state;
    this.chosen = null;
    this.render();
  }

  end(game) {
    this.record = game.record;
    $("blind-end").hidden = false;
    this.viewer = new GameViewer($("blind-viewer"), game, { pictures: true });
  }

  /** A square to sense, or the two squares of a move, as text. */
  typed(text) {
    const words = text.toLowerCase();
    if (this.state?.phase === "sense") this.send({ type: "sense", square: words });
    else if (this.state?.phase === "move") this.send({ type: "move", move: words });
  }

  click(square) {
    const { phase, requests } = this.state;
    const name = squareName(square);
    if (phase === "sense") return this.send({ type: "sense", square: name });
    if (phase !== "move") return undefined;
    const wanted = requests.filter((move) => this.chosen && move.slice(0, 4) === this.chosen + name);
    if (wanted.length) return this.ask(wanted);
    this.chosen = requests.some((move) => move.startsWith(name)) && this.chosen !== name ? name : null;
    return this.render(name);
  }

  /** A pawn that may reach the last rank becomes a queen; other pieces are typed: e7e8n. */
  ask(wanted) {
    const move = wanted.find((text) => text.length === 4) ?? wanted.find((text) => text.endsWith("q"));
    this.send({ type: "move", move });
  }

  download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(this.record) + "\n"], { type: "application/json" }));
    link.download = "blind-game.jsonl";
    link.click();
    URL.revokeObjectURL(link.href);
  }

  // --- Drawing ---

  render(focus = "") {
    const { state } = this;
    const phase = state?.phase ?? "none";
    $("blind-opponent").textContent = state ? `Against ${state.opponent}` : "";
    $("blind-status").textContent = statusOf(state);
    $("blind-skip").disabled = phase !== "sense";
    $("blind-pass").disabled = phase !== "move";
    $("blind-resign").disabled = !["sense", "move"].includes(phase);
    $("blind-count").textContent = state && $("blind-heat").checked ? reckoning(state) : "";
    $("blind-told").replaceChildren(...(state?.told ?? []).map((turn) => item(sentence(turn))));
    $("blind-told").scrollTop = $("blind-told").scrollHeight;
    const empty = { own: {}, others: {}, window: [] };
    const view = { ...(state?.view ?? empty) };
    if (!$("blind-heat").checked) view.others = certain(view);
    const targets = (state?.requests ?? []).filter((move) => this.chosen && move.startsWith(this.chosen));
    const flipped = state ? !state.white : false;
    label($("blind-files"), "abcdefgh", flipped);
    label($("blind-ranks"), "87654321", flipped);
    const board = $("blind-board");
    const had = focus || (board.contains(document.activeElement) ? document.activeElement.dataset.square : "");
    drawBoard(board, {
      pieces: view.own,
      view,
      flipped,
      pictures: true,
      make: (square) => this.cell(square, view, phase, targets),
    });
    if (had) board.querySelector(`[data-square="${had}"]`).focus();
  }

  cell(square, view, phase, targets) {
    const name = squareName(square);
    const button = document.createElement("button");
    button.type = "button";
    button.tabIndex = name === "e4" ? 0 : -1; // arrow keys reach the others
    button.setAttribute("aria-label", describe(name, square, view, phase));
    button.classList.toggle("chosen", name === this.chosen);
    button.classList.toggle("target", targets.some((move) => move.slice(2, 4) === name));
    button.classList.toggle("captured", square === this.state?.captured);
    button.onclick = () => this.state && this.click(square);
    return button;
  }

  /** Mark the window that a click would show. */
  aim(cell) {
    const centre = this.state?.phase === "sense" && cell ? cell.dataset.square : "";
    for (const other of $("blind-board").children) {
      const [file, rank] = [0, 1].map((i) => Math.abs(other.dataset.square.charCodeAt(i) - centre.charCodeAt(i)));
      other.classList.toggle("aim", Boolean(centre) && file <= 1 && rank <= 1);
    }
  }

  /** Arrow keys walk over the board. */
  walk(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -8, ArrowDown: 8 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const cells = [...$("blind-board").children];
    const at = cells.indexOf(document.activeElement);
    const column = (at % 8) + (Math.abs(by) === 1 ? by : 0);
    if (column >= 0 && column < 8) cells[at + by]?.focus();
  }
}

/** The names of files or ranks beside the board. */
function label(place, names, flipped) {
  const list = flipped ? [...names].reverse() : [...names];
  place.replaceChildren(...list.map((name) => Object.assign(document.createElement("span"), { textContent: name })));
}

/** Only what was seen this turn. */
function certain(view) {
  return Object.fromEntries(Object.entries(view.others).filter(([square]) => view.window.includes(+square)));
}

function describe(name, square, view, phase) {
  const piece = view.own[square] && pieceName(view.own[square]);
  const [guess, share] = view.others[square] ?? [];
  const found = piece ?? (guess ? `perhaps ${pieceName(guess)}, ${Math.round(100 * share)} %` : view.window.includes(square) ? "empty" : "fog");
  return `${phase === "sense" ? "Sense " : ""}${name}: ${found}`;
}

function reckoning(state) {
  const words = countWords(state.view);
  return state.phase === "sense" ? `Before the opponent's last move you knew of ${words}.` : `You must reckon with ${words}.`;
}

function statusOf(state) {
  if (!state) return "Choose an opponent and start a game.";
  if (state.phase === "over") return `${outcome(state)}: ${state.reason}.`;
  if (state.phase === "wait") return "The opponent senses and moves.";
  const capture = state.told.at(-1)?.opponent_capture;
  const news = capture ? `Your piece on ${capture} was captured. ` : "";
  return news + (state.phase === "sense" ? "Click the centre of the nine squares to look at." : "Now move: click a piece, then where to.");
}

function outcome(state) {
  if (state.result === "1/2-1/2") return "A draw";
  return (state.result === "1-0") === state.white ? "You won" : "You lost";
}

function sentence(turn) {
  const words = [];
  if (turn.opponent_capture) words.push(`a piece of yours was captured on ${turn.opponent_capture}`);
  if (turn.sensed) words.push(turn.sense ? `you sensed ${turn.sense}` : "you sensed nothing");
  if (turn.moved) {
    words.push(turn.taken ? `moved ${turn.taken}` : "passed");
    if (turn.requested !== turn.taken) words.push(`(asked for ${turn.requested})`);
    if (turn.capture) words.push(`and captured on ${turn.capture}`);
  }
  return words.join(", ") || "your turn";
}

function item(text) {
  const element = document.createElement("li");
  element.textContent = text;
  return element;
}
