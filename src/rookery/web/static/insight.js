// What networks see in the position on the analysis board, side by side.

import { request } from "./api.js";
import { pieceName, squares } from "./board.js";
import { cell } from "./thought.js";
import { duration } from "./words.js";

const $ = (id) => document.getElementById(id);
const PICKERS = ["insight-1", "insight-2", "insight-3"];
const STEPS = 5; // shades of a colour
const SHOWN_MOVES = 5;
const SHOWN_ARROWS = 3;
const SHOWN_PIECES = 4;

export class Insight {
  /** `view` is the analysis board. */
  constructor(view) {
    this.view = view;
    this.networks = null; // what can be chosen
    this.seen = null; // the server's last answer
    this.asked = "";
    $("insight").ontoggle = () => this.toggled();
    for (const id of PICKERS) $(id).onchange = () => this.picked();
    for (const radio of document.querySelectorAll("[name=insight-shown]")) radio.onchange = () => this.draw();
    $("insight-match").onclick = () => this.match();
    $("insight-tree-show").onclick = () => this.showTree();
  }

  /** Open the panel with these networks, as far as they have any. */
  async open(wanted) {
    await this.list();
    const known = wanted.map((id) => this.networks.find((network) => network.players.includes(id))?.id).filter(Boolean);
    // In the panel: a notice would end with the board's next position.
    $("insight-note").textContent = "This opponent has no network; here are some that others have.";
    $("insight-note").hidden = known.length > 0;
    if (known.length) PICKERS.forEach((id, index) => ($(id).value = known[index] || ""));
    if (!$("insight").open) $("insight").open = true; // asks by itself
    else this.again();
  }

  /** Other networks were chosen by hand. */
  picked() {
    $("insight-note").hidden = true;
    this.again();
  }

  get chosen() {
    return PICKERS.map((id) => $(id).value).filter(Boolean);
  }

  async toggled() {
    if ($("insight").open) {
      await this.list();
      this.again();
    } else this.draw();
  }

  /** Ask which networks there are, and choose those that the server proposes. */
  async list() {
    if (this.networks) return;
    let first = [];
    try {
      ({ networks: this.networks, first } = await request("GET", "/api/networks"));
    } catch (error) {
      this.view.notify(error.message);
      this.networks = [];
    }
    PICKERS.forEach((id, index) => fill($(id), this.networks, first[index] || "", index > 0));
  }

  again() {
    this.asked = "";
    this.refresh(this.view.tree.nodes[this.view.current].fen);
  }

  /** The board shows another position. */
  async refresh(fen) {
    if (!$("insight").open || !this.networks) return;
    const players = this.chosen;
    const question = `${fen} ${players}`;
    if (question === this.asked) return this.draw();
    this.asked = question;
    this.seen = null;
    $("insight-tree").replaceChildren();
    $("insight-match").disabled = players.length < 2;
    this.draw();
    if (!players.length) return;
    $("insight-facts").textContent = "Looking …";
    try {
      const answer = await request("POST", "/api/insight", { players, ...this.view.place(this.view.current) });
      if (question !== this.asked) return; // of an earlier position
      this.seen = answer;
      $("insight-facts").textContent = "Everything for White: 50 is an even game, 100 a win. Without any search.";
    } catch (error) {
      if (question !== this.asked) return;
      $("insight-facts").textContent = error.message;
    }
    this.draw();
  }

  // --- Drawing ---

  draw() {
    const networks = this.seen ? this.seen.networks : [];
    $("insight-columns").replaceChildren(...networks.map((network) => column(this.view, network, this.seen.fen)));
    const first = $("insight").open ? networks[0] : null;
    const shown = shownOf(first);
    this.view.board.colour(first ? colours(first, shown) : new Map());
    const arrows = first && shown === "policy" && first.policy;
    if (arrows && !$("engine-on").checked) this.view.board.arrows(policyArrows(first.policy));
  }

  /** A game between the first two, from this position, with a click. */
  match() {
    const [white, black] = this.chosen;
    const { fen } = this.view.tree.nodes[this.view.current];
    this.view.play({ color: "watch", white, black, fen });
  }

  async showTree() {
    const list = $("insight-tree");
    list.replaceChildren(cell("li", "Searching …"));
    const [player] = this.chosen;
    const asked = this.asked;
    try {
      const root = await request("POST", "/api/insight/tree", { player, ...this.view.place(this.view.current) });
      if (asked !== this.asked) return;
      list.replaceChildren(...root.children.map((child) => branch(this.view, child, [])));
    } catch (error) {
      list.replaceChildren(cell("li", error.message));
    }
  }
}

/** What the board shows of a network; one without a policy has only pieces to show. */
function shownOf(network) {
  const policy = document.querySelector("[name=insight-shown][value=policy]");
  policy.disabled = Boolean(network && !network.policy);
  if (policy.disabled && policy.checked) document.querySelector("[name=insight-shown][value=pieces]").checked = true;
  return document.querySelector("[name=insight-shown]:checked").value;
}

function fill(select, networks, value, optional) {
  select.replaceChildren();
  if (optional) select.append(new Option("nothing", ""));
  const groups = new Map();
  for (const network of networks) {
    if (!groups.has(network.group)) {
      const group = document.createElement("optgroup");
      group.label = network.group;
      groups.set(network.group, group);
      select.append(group);
    }
    groups.get(network.group).append(new Option(label(network), network.id));
  }
  select.value = value;
}

/** A version of the newest run says how long it has been trained. */
function label({ name, seconds }) {
  return seconds ? name.replace(/after \d+ iterations?/, `after ${duration(seconds)}`) : name;
}

function column(view, network, fen) {
  const part = document.createElement("section");
  part.dataset.network = network.id;
  const chosen = view.insight.networks.find((known) => known.id === network.id);
  part.append(cell("h3", chosen ? label(chosen) : network.name));
  if (network.words) part.append(cell("p", network.words));
  const value = cell("p", `White's expected score ${network.value.toFixed(0)} `);
  value.append(meter(network.value / 100, "White's expected score"));
  part.append(value);
  if (network.policy) {
    part.append(cell("h4", "Its moves"));
    const moves = network.policy.slice(0, SHOWN_MOVES);
    part.append(rows(moves.map((move) => [move.san, meter(move.share / 100, move.san), `${move.share} %`])));
  }
  if (Object.keys(network.pieces).length) {
    part.append(cell("h4", "What a piece is worth to its owner, in points"), ...worths(network.pieces, fen));
  }
  if (network.concepts.length) {
    part.append(cell("h4", "What it recognises about the side to move"), ...concepts(network.concepts));
  } else part.append(cell("p", network.lacks || "No probes are saved for it: rookery probe --save makes them."));
  if (network.features.length) {
    part.append(cell("h4", "Features, points for White"));
    part.append(rows(network.features.map((row) => [row.name, signed(row.effect)])));
  }
  return part;
}

/** The pieces with the greatest worth, then those that are a burden; the rest is folded. */
function worths(pieces, fen) {
  const sorted = Object.entries(pieces).sort((a, b) => b[1] - a[1]);
  const line = ([square, worth]) => [pieceName(fen, square), signed(worth)];
  const matters = ([, worth], index) => index < SHOWN_PIECES || worth < -1;
  const shown = rows(sorted.filter(matters).map(line));
  const others = sorted.filter((...row) => !matters(...row)).map(line);
  return others.length ? [shown, folded(`${others.length} more`, rows(others))] : [shown];
}

function folded(title, content) {
  const details = document.createElement("details");
  details.append(cell("summary", title), content);
  return details;
}

/** What it thinks likely or what is true, the likeliest first; the rest is folded. */
function concepts(all) {
  const sorted = [...all].sort((a, b) => b.probability - a.probability);
  const matters = (row) => row.probability >= 0.5 || row.true;
  const line = (row) => {
    const truth = row.true === null ? "" : row.true ? " (true)" : " (not so)";
    return [row.words.toLowerCase() + truth, meter(row.probability, row.words), percent(row)];
  };
  const others = sorted.filter((row) => !matters(row));
  const more = folded(`${others.length} more that it thinks unlikely`, rows(others.map(line)));
  const shown = sorted.filter(matters);
  return [shown.length ? rows(shown.map(line)) : cell("p", "Nothing in particular."), more];
}

const percent = (row) => `${Math.round(100 * row.probability)} %`;
const signed = (number) => (number > 0 ? `+${number}` : String(number));

function rows(cells) {
  const table = document.createElement("table");
  for (const line of cells) {
    const row = table.insertRow();
    for (const content of line) row.insertCell().append(content);
  }
  return table;
}

function meter(value, label) {
  const element = document.createElement("meter");
  element.value = value;
  element.setAttribute("aria-label", label);
  return element;
}

/** Classes of squares: where the policy wants to go, or what pieces are worth. */
function colours(network, shown) {
  const found = new Map();
  if (shown === "policy" && network.policy) {
    const total = new Map();
    for (const move of network.policy) {
      const [, to] = squares(move.uci);
      total.set(to, (total.get(to) || 0) + move.share);
    }
    const most = Math.max(...total.values());
    for (const [square, share] of total) {
      const step = Math.ceil((STEPS * share) / most);
      if (share >= 1) found.set(square, `heat-${step}`);
    }
  }
  if (shown === "pieces") {
    const most = Math.max(1, ...Object.values(network.pieces));
    for (const [square, worth] of Object.entries(network.pieces)) {
      if (worth < -1) found.set(square, "burden");
      else if (worth > 0) found.set(square, `worth-${Math.max(1, Math.ceil((STEPS * worth) / most))}`);
    }
  }
  return found;
}

function policyArrows(policy) {
  return policy.slice(0, SHOWN_ARROWS).map((move, index) => {
    const [orig, dest] = squares(move.uci);
    return { orig, dest, brush: index ? "paleBlue" : "blue", modifiers: { lineWidth: Math.max(2, move.share / 8) } };
  });
}

/** "81 nodes · 55 for White"; a won or lost move is that of the side that made it. */
function factsOf({ visits, value, status, fen }) {
  const [mover, other] = fen.split(" ")[1] === "b" ? ["White", "Black"] : ["Black", "White"];
  const ends = { won: `${mover} wins`, lost: `${other} wins`, draw: "a draw", repeat: "a draw by repetition" };
  const worth = ends[status] || (value === null ? "" : `${value.toFixed(0)} for White`);
  return [visits ? `${visits.toLocaleString("en")} nodes` : "", worth].filter(Boolean).join(" · ") || "not looked at";
}

/** A node of the search tree; what is below it opens with a click. */
function branch(view, node, before) {
  const path = [...before, node];
  const item = document.createElement("li");
  const move = cell("button", node.san);
  move.title = "Show this line on the board";
  move.onclick = (event) => {
    event.preventDefault();
    const line = { moves: path.map((n) => n.uci), sans: path.map((n) => n.san), fens: path.map((n) => n.fen) };
    view.addLine(view.current, line, path.length);
  };
  const facts = cell("span", factsOf(node));
  if (!node.children.length) {
    item.append(move, facts);
    return item;
  }
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.append(move, facts);
  const below = document.createElement("ul");
  details.append(summary, below);
  details.ontoggle = () => {
    if (!below.children.length) below.append(...node.children.map((child) => branch(view, child, path)));
  };
  item.append(details);
  return item;
}
