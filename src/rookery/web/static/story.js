// The story of a run in plain words: what is happening, what it has learnt, how it ended.

import { request } from "./api.js";
import { cell } from "./thought.js";

// A line of the engine's log about a new network: score, games, opponent, and whether it failed.
const GATE = /generation (\d+): ([\d.]+) % of (\d+) games against generation (\d+), ([+-]?\d+) Elo(; not published)?/;
const $ = (id) => document.getElementById(id);

/** Tell the story; `play(wishes)` starts a game. */
export function showStory(run, play) {
  const lines = story(run);
  $("story").hidden = lines.length === 0;
  const key = JSON.stringify([lines, run.stage, run.active, run.more]);
  if ($("story").dataset.key === key) return;
  $("story").dataset.key = key;
  $("story-lines").replaceChildren(...lines.map((text) => cell("p", text)));
  $("story-actions").replaceChildren(...actions(run, play));
}

function story(run) {
  if (run.stage === "measure") return ["Training is over. Now it is measured: matches before against after."];
  if (run.stage === "train" && !run.active) {
    if (!run.iteration) return ["Training begins in a moment."];
    return [run.demo.matches?.length ? "The trainer starts, or saves what it has learnt." : "Training is over; its network is being saved."];
  }
  const done = run.stage === "done" || (!run.active && run.demo.matches?.length);
  if (done) return outcome(run.demo);
  if (run.active) return progress(run);
  return rests(run) ? [`Nobody is training it now. It has learnt from ${run.samples.toLocaleString("en")} positions.`, ...reached(run)] : [];
}

/** Whether a run that is no demo has stopped, at its end or before. */
function rests(run) {
  return !run.active && !run.stage && run.iteration > 0;
}

/** What a demo measured, in sentences. */
function outcome(demo) {
  const matches = demo.matches || [];
  const before = new Map(matches.filter((row) => row.when === "before").map((row) => [row.against, row]));
  const scores = matches
    .filter((row) => row.when === "after")
    .map((row) => {
      const old = before.get(row.against);
      return `${percent(row)} against ${row.against}${old ? ` (before training: ${percent(old)})` : ""}`;
    });
  if (!scores.length) return ["Training was stopped early. What it has learnt so far can be played."];
  return [
    `Training is over, after ${demo.budget}. It scores ${scores.join(", ")}.`,
    `Each match: ${matches[0].games} games, ${demo.nodes.toLocaleString("en")} nodes a move.`,
  ];
}

function percent(row) {
  return `${Math.round(100 * row.score)} %`;
}

/** What the last evaluations say, and what pieces are worth to it. */
function reached(run) {
  const last = new Map(run.ratings.map((row) => [row.opponent, row]));
  const lines = [...last].filter(([, row]) => row.score !== null).map(([opponent, row]) => sentence(opponent, row));
  if (run.worth && run.iteration) lines.push(worth(run.worth));
  return lines;
}

/** What a running training is doing and has reached. */
function progress(run) {
  const lines = [run.selfTaught ? "It plays against itself and learns from the results; nobody shows it how to play." : `${run.summary}.`, ...reached(run)];
  const test = run.log.map((text) => GATE.exec(text)).filter(Boolean).pop();
  if (test) lines.push(gate(test));
  return lines;
}

/** What the network gives for a piece, measured by taking it off the board. Each is compared with the next smaller one: a
    pawn at the start is worth less than a ninth of a queen, because it does not decide the game. */
function worth(found) {
  const ratio = (large, small) => `a ${large} ${(found[large] / found[small]).toFixed(1)} ${small}s`;
  const others = Math.max(found.bishop, found.knight);
  if (found.pawn > 20 && found.queen > found.rook && found.rook > others && others > found.pawn) {
    return `It knows what pieces are worth: ${ratio("queen", "rook")}, ${ratio("rook", "bishop")}, ${ratio("bishop", "knight")}, ${ratio("knight", "pawn")}.`;
  }
  // Random weights have a favourite too, by some points; what has been learnt is larger.
  if (found.queen > 100 && found.queen > 1.2 * Math.max(found.rook, others, found.pawn)) return "It has found out that the queen is the most valuable piece; the others it still mixes up.";
  return "It does not know yet what a queen is worth.";
}

/** The last test of a new network against the one that plays. */
function gate([, generation, score, games, old, , rejected]) {
  const result = `scored ${score} % in ${games} games against generation ${old}`;
  if (rejected) return `Generation ${generation} ${result}: not clearly better, so it was thrown away, and generation ${old} goes on playing. That is normal: not every lesson helps.`;
  return `Generation ${generation} ${result}: from now on it plays the games to learn from.`;
}

function sentence(opponent, row) {
  if (row.positions) return `Against ${opponent === "perfect" ? "perfect play" : opponent} it ${row.positions.text}.`;
  const score = `${Math.round(100 * row.score)} % in ${row.games} games`;
  if (opponent === "greedy-safe") {
    const meaning =
      row.score < 0.25 ? "it still gives pieces away" : row.score < 0.75 ? "it has begun to see what is attacked" : "it has outgrown a player that never hangs a piece";
    return `Against greedy-safe, which takes what it can and hangs nothing, it scores ${score}: ${meaning}.`;
  }
  return `Against ${opponent} it scores ${score}.`;
}

function actions(run, play) {
  if (run.stage !== "done" && !rests(run) && !(!run.active && run.demo.matches?.length)) return [];
  const newest = `run:${run.name}`;
  const found = [];
  if (run.hasModel) found.push(action("Beat it", () => play({ color: "white", player: newest }), "primary"));
  if (run.hasModel && run.hasStart) {
    const past = { color: "watch", white: newest, black: `${newest}@start` };
    found.push(action("Watch it play its past", () => play(past)));
  }
  if (run.more && run.stage === "done") {
    const button = action("Train on", () => trainOn(button));
    return [...found, button];
  }
  const command = document.createElement("p");
  command.className = "facts";
  command.append("Train on: ", cell("code", `rookery resume ${run.path} --budget +${rests(run) ? "1h" : "5m"}`));
  return [...found, command];
}

/** As much training again; the page shows it as soon as it has begun. */
async function trainOn(button) {
  button.disabled = true;
  try {
    await request("POST", "/api/demo/train", {});
    button.textContent = "Training on …";
  } catch (error) {
    button.textContent = error.message;
  }
}

function action(text, act, kind = "") {
  const button = cell("button", text);
  button.className = kind;
  button.onclick = act;
  return button;
}
