// Watching a training run: boards, results, evaluations, curves, checkpoints.

import { request } from "./api.js";
import { smallBoard, squares } from "./board.js";
import { Charts } from "./charts.js";
import { showStory } from "./story.js";
import { cell } from "./thought.js";
import { duration } from "./words.js";

const $ = (id) => document.getElementById(id);
const EVERY = 1000; // milliseconds
const FRAME = 200; // milliseconds for a position of a game that is stepped through
const SHOWN_BOARDS = 12;
const ENDINGS = { ply_cap: "longest game allowed" };
const UNBOUNDED = 4000; // where an Elo interval without an end is cut off

export class WatchView {
  /** `play(wishes)` starts a game. */
  constructor(play, notify) {
    this.play = play;
    this.notify = notify;
    this.name = "";
    this.timer = 0;
    this.boards = [];
    this.gamesKey = "";
    this.gamesBegan = 0;
    this.charts = new Charts();
    $("run").onchange = () => this.choose($("run").value);
  }

  async show(wanted) {
    this.visible = true;
    await this.listRuns(wanted || this.name);
    clearInterval(this.timer);
    this.timer = setInterval(() => this.refresh(), EVERY);
    clearInterval(this.stepper);
    this.stepper = setInterval(() => this.step(), FRAME);
    await this.refresh();
  }

  hide() {
    this.visible = false;
    clearInterval(this.timer);
    clearInterval(this.stepper);
  }

  async listRuns(wanted) {
    const { runs } = await request("GET", "/api/runs");
    $("no-runs").hidden = runs.length > 0;
    $("run-label").hidden = runs.length === 0;
    const options = runs.map((run) => {
      const option = cell("option", run.recipe && run.recipe !== run.name ? `${run.name} (${run.recipe})` : run.name);
      option.value = run.name;
      return option;
    });
    $("run").replaceChildren(...options);
    const known = runs.some((run) => run.name === wanted);
    if (runs.length) this.choose(known ? wanted : runs[0].name);
  }

  choose(name) {
    $("run").value = name;
    if (name === this.name) return;
    this.name = name;
    this.charts.clear();
    this.refresh();
  }

  async refresh() {
    if (!this.visible || document.hidden || this.busy) return;
    if (!this.name) {
      await this.listRuns("").catch(() => {});
      return;
    }
    this.busy = true;
    try {
      const run = await request("GET", `/api/runs/${encodeURIComponent(this.name)}`);
      if (run.name === this.name) await this.render(run);
    } catch (error) {
      this.notify(`The run cannot be shown: ${error.message}`);
    } finally {
      this.busy = false;
    }
  }

  async render(run) {
    $("run-view").hidden = false;
    const facts = [run.active ? "training now" : "not training", `iteration ${run.iteration.toLocaleString("en")}`];
    facts.push(`${run.games.toLocaleString("en")} games`, `${run.samples.toLocaleString("en")} positions`);
    if (run.seconds) facts.push(duration(run.seconds) + (run.budget ? ` of ${run.budget}` : ""));
    if (run.speed) facts.push(`${Math.round(run.speed).toLocaleString("en")} positions/s`);
    $("run-facts").textContent = facts.join(" · ");
    if (run.note) $("note").textContent = run.note; // of a demo, which goes on while the page is open
    showStory(run, this.play);
    this.renderBoards(run);
    shares($("results"), run.results);
    shares($("endings"), run.endings);
    this.renderRatings(run.ratings);
    this.renderCheckpoints(run);
    this.renderCluster(run.cluster);
    $("log").textContent = run.log.join("\n");
    await this.charts.render(run);
  }

  /** The nodes that play the games, if the run is trained on a cluster. */
  renderCluster(cluster) {
    $("cluster").hidden = !cluster;
    if (!cluster) return;
    const counts = { slots: "cores", under_way: "pieces under way", pieces: "pieces done", retries: "retries", copies: "copies" };
    $("cluster-facts").textContent = Object.entries(counts)
      .map(([key, what]) => `${(cluster[key] ?? 0).toLocaleString("en")} ${what}`)
      .join(" · ");
    const rows = cluster.nodes.map((node) => [
      node.name,
      node.under_way,
      node.pieces,
      Math.round(node.positions_per_second ?? 0).toLocaleString("en"),
      node.refused || "works",
    ]);
    const heads = ["node", "under way", "pieces", "positions/s", "state"];
    $("cluster-nodes").replaceChildren(tableRow("th", heads), ...rows.map((row) => tableRow("td", row)));
  }

  renderBoards(run) {
    const live = run.live.slice(0, SHOWN_BOARDS);
    const whole = live.some((game) => game.frames.length);
    const titles = ["Games of the last evaluation", "Games being played now", "Games just played"];
    $("boards-title").textContent = titles[live.length ? (whole ? 2 : 1) : 0];
    const games = live.length ? live : run.sampleGames.map((game) => ({ ...game, frames: game.placements }));
    // Complete games restart when there are new ones.
    const key = live.length ? run.shownAt : games.map((game) => game.title + game.frames.length).join("|");
    // Games arrive faster than they can be shown, so finish the current ones first.
    if (whole && this.whole === run.name && this.unfinished()) return this.step();
    this.whole = whole ? run.name : "";
    if (key !== this.gamesKey) this.gamesBegan = performance.now();
    this.gamesKey = key;
    this.games = games;
    $("boards").closest("section").hidden = games.length === 0;
    while (this.boards.length < games.length) this.boards.push(addBoard());
    while (this.boards.length > games.length) this.boards.pop().figure.remove();
    this.step();
  }

  unfinished() {
    const longest = Math.max(...this.games.map((game) => game.frames.length));
    return performance.now() - this.gamesBegan < FRAME * (longest + 5);
  }

  /** Show every game as it stands, or the next position of those that are stepped through. */
  step() {
    if (!this.games || document.hidden) return;
    const place = Math.floor((performance.now() - this.gamesBegan) / FRAME);
    this.games.forEach((game, index) => {
      const { ground, caption } = this.boards[index];
      // Pause at the end of a game, then restart it.
      const frame = game.frames.length ? place % (game.frames.length + 8) : 0;
      const fen = game.frames.length ? game.frames[Math.min(frame, game.frames.length - 1)] : game.fen;
      const last = game.last ? squares(game.last) : undefined;
      if (this.boards[index].fen !== fen) ground.set({ fen, lastMove: last });
      this.boards[index].fen = fen;
      const value = typeof game.value === "number" ? ` · ${Math.round(50 + 50 * game.value)} %` : "";
      caption.textContent = `${game.title || ""}${game.result ? ` ${game.result}` : ""}${value}` || "\u00a0";
    });
  }

  /** Matches of games, and positions graded one by one, which have neither draws nor Elo. */
  renderRatings(ratings) {
    const newest = ratings.slice(-12).reverse();
    const matches = newest.filter((row) => !row.positions);
    const graded = newest.filter((row) => row.positions);
    const rows = [];
    if (matches.length) {
      rows.push(tableRow("th", ["Iteration", "Opponent", "Won", "Drawn", "Lost", "Score", "Elo difference"]));
      rows.push(...matches.map((row) => tableRow("td", [row.iteration, row.opponent, row.wins, row.draws, row.losses, percent(row.score), difference(row)])));
    }
    if (graded.length) {
      rows.push(tableRow("th", ["Iteration", "Opponent", "Positions", "Share"]));
      rows.push(...graded.map((row) => tableRow("td", [row.iteration, row.opponent, row.positions.text, percent(row.score)])));
    }
    $("ratings").replaceChildren(...rows);
  }

  renderCheckpoints(run) {
    const ids = run.networks.map((network) => [network.id, networkName(network), network.rating?.conditions ?? ""]);
    const key = JSON.stringify(ids);
    if ($("checkpoints").dataset.key === key) return;
    $("checkpoints").dataset.key = key;
    $("checkpoints").replaceChildren(
      ...ids.map(([id, text, conditions]) => {
        const button = cell("button", text);
        button.title = conditions;
        button.dataset.player = id;
        button.onclick = () => this.play({ color: "white", player: id });
        return button;
      }),
    );
  }
}

function tableRow(kind, texts) {
  const row = document.createElement("tr");
  row.append(...texts.map((text) => cell(kind, text ?? "")));
  return row;
}

/** A network by its time of training and its measured rating. */
function networkName(network) {
  const when = !network.step ? "before training" : `after ${network.seconds ? duration(network.seconds) : `${network.step} iteration${network.step === 1 ? "" : "s"}`}`;
  const name = network.newest ? `newest, ${when}` : when;
  return network.ending ? name : `${name} · ${network.rating ? network.rating.text : "not rated"}`;
}

function addBoard() {
  const figure = document.createElement("figure");
  const place = document.createElement("div");
  place.className = "small";
  const inner = document.createElement("div");
  place.append(inner);
  const caption = document.createElement("figcaption");
  figure.append(place, caption);
  $("boards").append(figure);
  return { figure, caption, ground: smallBoard(inner) };
}

/** Bars for counts, the largest first. */
function shares(element, counts) {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  element.replaceChildren(
    ...rows.flatMap(([name, count]) => {
      const fill = document.createElement("span");
      fill.className = "fill";
      fill.style.width = `${(100 * count) / total}%`;
      return [cell("span", ENDINGS[name] || name.replaceAll("_", " ")), fill, cell("span", `${Math.round((100 * count) / total)} %`)];
    }),
  );
}

function percent(share) {
  return share === null ? "" : `${(100 * share).toFixed(1)} %`;
}

function signed(number) {
  return number === null ? "" : (number >= 0 ? "+" : "−") + Math.abs(Math.round(number));
}

/** An Elo difference with its interval; only the known end if every game was won or lost. */
function difference({ elo, elo_low: low, elo_high: high }) {
  if ((elo ?? null) === null) return "";
  const known = (end) => end !== null && Math.abs(end) < UNBOUNDED;
  if (known(low) && known(high)) return `${signed(elo)} [${signed(low)}, ${signed(high)}]`;
  return known(low) ? `above ${signed(low)}` : known(high) ? `below ${signed(high)}` : "";
}
