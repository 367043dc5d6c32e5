// Talking to the server: the session, requests, and the websocket of one game.

let token = "";

/** Begin the session; returns what the page starts with. */
export async function beginSession() {
  const session = await request("GET", "/api/session");
  token = session.token;
  return session;
}

/** Send a request; an error carries the server's text. */
export async function request(method, path, body) {
  const options = { method, headers: {} };
  if (method !== "GET") {
    options.headers["x-rookery-token"] = token;
    options.headers["content-type"] = "application/json";
  }
  if (body !== undefined) options.body = JSON.stringify(body);
  const answer = await fetch(path, options);
  const isJson = (answer.headers.get("content-type") || "").startsWith("application/json");
  if (!answer.ok) throw new Error(isJson ? (await answer.json()).error : await answer.text());
  return isJson ? answer.json() : answer.text();
}

const GAME_IS_GONE = 1008;
const PUT_AWAY = 1001;

/** The websocket of one game, opened again when the connection breaks. */
export class GameSocket {
  constructor(id, onMessage, onGone) {
    this.id = id;
    this.onMessage = onMessage;
    this.onGone = onGone;
    this.closed = false;
    this.attempts = 0;
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/api/games/${this.id}/socket`);
    this.socket.onopen = () => {
      this.socket.send(JSON.stringify({ type: "hello", token }));
    };
    this.socket.onmessage = (event) => {
      this.attempts = 0;
      if (!this.closed) this.onMessage(JSON.parse(event.data));
    };
    this.socket.onclose = (event) => this.lost(event);
  }

  lost(event) {
    if (this.closed) return;
    if (event.code === GAME_IS_GONE || event.code === PUT_AWAY || this.attempts > 8) {
      this.closed = true;
      this.onGone(event.reason || "the connection to the server was lost");
      return;
    }
    this.attempts += 1;
    setTimeout(() => !this.closed && this.open(), Math.min(5000, 250 * 2 ** this.attempts));
  }

  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  close() {
    this.closed = true;
    this.socket.close();
  }
}
