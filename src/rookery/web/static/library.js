// My games: the list of kept games, to go on with, look at, export and delete.

import { request } from "./api.js";
import { smallBoard } from "./board.js";

const $ = (id) => document.getElementById(id);
const SURE = 3000; // milliseconds in which a second click deletes

export class LibraryView {
  /** `open(id)` shows a kept game. */
  constructor(open, notify) {
    this.open = open;
    this.notify = notify;
    $("library-close").onclick = () => $("library").close();
  }

  async show() {
    $("library").showModal();
    await this.refresh();
  }

  async refresh() {
    try {
      const { kept, games } = await request("GET", "/api/library");
      $("library-facts").textContent = facts(kept, games.length);
      $("library-export").hidden = games.length === 0;
      $("library-games").replaceChildren(...games.map((game) => this.row(game)));
    } catch (error) {
      $("library-facts").textContent = `The list cannot be read: ${error.message}`;
    }
  }

  row(game) {
    const row = document.createElement("li");
    const picture = document.createElement("div");
    picture.className = "small";
    const inner = document.createElement("div");
    picture.append(inner);
    const ground = smallBoard(inner);
    ground.set({ fen: game.fen, orientation: game.color === "black" ? "black" : "white" });
    const text = document.createElement("div");
    text.append(line("strong", `${game.white} – ${game.black}`), line("span", outcome(game)), line("span", when(game)));
    const buttons = document.createElement("div");
    buttons.className = "buttons";
    const going = game.result === "*";
    const open = button(going ? "Resume" : "Look at it", () => this.choose(game.id));
    if (going) open.className = "primary";
    const pgn = line("a", "PGN");
    pgn.className = "button";
    pgn.href = `/api/library/${game.id}/pgn`;
    pgn.download = "rookery-game.pgn";
    buttons.append(open, pgn, this.remover(game.id));
    text.append(buttons);
    row.append(picture, text);
    return row;
  }

  async choose(id) {
    try {
      await this.open(id);
      $("library").close();
    } catch (error) {
      $("library-facts").textContent = error.message;
    }
  }

  /** The first click asks, a second one soon after it deletes. */
  remover(id) {
    const element = button("Delete", () => {
      if (element.textContent !== "Delete") return this.remove(id);
      element.textContent = "Really delete?";
      setTimeout(() => (element.textContent = "Delete"), SURE);
    });
    return element;
  }

  async remove(id) {
    try {
      await request("DELETE", `/api/library/${id}`);
      await this.refresh();
    } catch (error) {
      $("library-facts").textContent = error.message;
    }
  }
}

function facts(kept, count) {
  if (!kept) return "This server keeps no games.";
  if (!count) return "There are no games yet. Every game with a move is kept here.";
  return `${count} ${count === 1 ? "game" : "games"}, the last played first.`;
}

function outcome(game) {
  const moves = movesOf(game);
  return game.result === "*" ? `not finished, ${moves}` : `${game.result}, ${game.reason}, ${moves}`;
}

/** "1 move", "23 moves". */
export function movesOf(game) {
  const count = Math.ceil(game.plies / 2);
  return `${count} ${count === 1 ? "move" : "moves"}`;
}

function when(game) {
  return new Date(1000 * game.changed).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

function line(kind, text) {
  const element = document.createElement(kind);
  element.textContent = text;
  return element;
}

function button(text, action) {
  const element = line("button", text);
  element.type = "button";
  element.onclick = action;
  return element;
}
