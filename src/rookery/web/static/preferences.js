// What a visitor prefers: colours of the board, piece set, sounds. Kept in this browser.

import { sounds } from "./sounds.js";

const $ = (id) => document.getElementById(id);
const KEPT = "rookery-preferences";
const DEFAULTS = { board: "brown", pieces: "pictures", sound: true };

function read() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEPT) || "{}") };
  } catch {
    return { ...DEFAULTS };
  }
}

function apply(wanted) {
  document.documentElement.dataset.board = wanted.board;
  document.documentElement.dataset.pieces = wanted.pieces;
  sounds.on = wanted.sound;
}

/** Apply what was chosen before, and let the dialog change it. */
export function wirePreferences() {
  const wanted = read();
  apply(wanted);
  const controls = { board: $("prefer-board"), pieces: $("prefer-pieces"), sound: $("prefer-sound") };
  controls.board.value = wanted.board;
  controls.pieces.value = wanted.pieces;
  controls.sound.checked = wanted.sound;
  const changed = () => {
    const now = { board: controls.board.value, pieces: controls.pieces.value, sound: controls.sound.checked };
    localStorage.setItem(KEPT, JSON.stringify(now));
    apply(now);
  };
  for (const control of Object.values(controls)) control.onchange = changed;
  $("preferences-button").onclick = () => $("preferences").showModal();
  $("preferences-close").onclick = () => $("preferences").close();
}
