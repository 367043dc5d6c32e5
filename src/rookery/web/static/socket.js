// The websocket of one game. When the server goes away, it says so, asks for a new one every
// second, and hands the game over: by its name, or if that is unknown, with all its moves.

import { beginSession, request } from "./api.js";

const CLOSED_BY_SERVER = 1001; // the game was put away for another one
const PING = 700; // milliseconds
const SILENCE = 1800; // milliseconds without any message after which the server counts as away
const RETRY = 1000; // milliseconds
const REFUSED = [400, 403, 404, 413];

export class GameSocket {
  /**
   * `events` has onMessage(message), onAway(), onBack(), onGone(reason), and copy(): the body of a
   * request that starts this game anew, or null.
   */
  constructor(id, events) {
    this.id = id;
    this.events = events;
    this.closed = false;
    this.away = false;
    this.open();
    this.heart = setInterval(() => this.beat(), PING);
    // The player stops thinking when the page is left; one that is shown again asks for the game.
    addEventListener("pagehide", () => this.socket.close());
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/games/${this.id}/socket`);
    this.socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", token: this.token }));
    socket.onmessage = (event) => this.heard(JSON.parse(event.data));
    socket.onclose = (event) => socket === this.socket && this.lost(event);
  }

  get token() {
    return request.token;
  }

  heard(message) {
    this.last = performance.now();
    if (this.closed) return;
    if (this.away) {
      this.away = false;
      this.events.onBack();
    }
    if (message.type !== "pong") this.events.onMessage(message);
  }

  beat() {
    if (this.closed || this.socket.readyState !== WebSocket.OPEN) return;
    this.socket.send('{"type":"ping"}');
    if (this.last && performance.now() - this.last > SILENCE) this.goAway();
  }

  goAway() {
    if (this.away || this.closed) return;
    this.away = true;
    this.events.onAway();
  }

  lost(event) {
    if (this.closed) return;
    if (event.code === CLOSED_BY_SERVER && event.reason) return this.end(event.reason);
    this.goAway();
    setTimeout(() => this.again(), RETRY / 4);
  }

  /** Find a server and continue there. */
  async again() {
    if (this.closed) return;
    try {
      await beginSession();
      this.id = await this.handOver();
      this.last = 0;
      this.open();
    } catch (error) {
      if (REFUSED.includes(error.status)) this.end(error.message);
      else setTimeout(() => this.again(), RETRY);
    }
  }

  async handOver() {
    try {
      return (await request("POST", "/api/games", { resume: this.id })).id;
    } catch (error) {
      const copy = REFUSED.includes(error.status) && this.events.copy();
      if (!copy) throw error;
      return (await request("POST", "/api/games", copy)).id;
    }
  }

  end(reason) {
    this.close();
    this.events.onGone(reason);
  }

  send(message) {
    if (this.away || this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  close() {
    this.closed = true;
    clearInterval(this.heart);
    this.socket.close();
  }
}
