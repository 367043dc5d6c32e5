// Short sounds for moves, made by the browser; nothing is loaded. They can be turned off.

// Hertz, seconds, loudness of the tones of each sound, one after another.
const SOUNDS = {
  move: [[330, 0.05, 0.2]],
  capture: [[210, 0.09, 0.3]],
  check: [[520, 0.07, 0.2], [660, 0.08, 0.2]],
  end: [[440, 0.12, 0.2], [350, 0.12, 0.2], [262, 0.25, 0.2]],
};

let context = null;
export const sounds = { on: true, played: [] }; // `played`: the last few, for tests

// Browsers make no sound before the first gesture, and complain about an attempt.
function wake() {
  context ??= new AudioContext();
  removeEventListener("pointerdown", wake, true);
  removeEventListener("keydown", wake, true);
}
addEventListener("pointerdown", wake, true);
addEventListener("keydown", wake, true);

function play(name) {
  if (!sounds.on) return;
  sounds.played = [...sounds.played, name].slice(-20);
  if (!context) return;
  let at = context.currentTime;
  for (const [frequency, seconds, loudness] of SOUNDS[name]) {
    const tone = context.createOscillator();
    const volume = context.createGain();
    tone.type = "triangle";
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(loudness, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + seconds);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + seconds);
    at += seconds;
  }
}

/** The sound of the newest move of a game, or of its end. */
export function hear(entries, result, ended) {
  if (ended && result !== "*") return play("end");
  const last = entries.at(-1);
  if (!last) return undefined;
  return play(last.check ? "check" : last.san.includes("x") ? "capture" : "move");
}
