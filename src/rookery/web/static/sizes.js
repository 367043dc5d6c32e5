// Boards of other sizes: chessground always has 8x8 squares, of which the corner at a1 is shown.

/** Files and ranks of the position in a FEN. */
export function sizeOf(fen) {
  const rows = fen.split(" ")[0].split("/");
  const files = [...rows[0]].reduce((sum, c) => sum + (c >= "1" && c <= "8" ? Number(c) : 1), 0);
  return { files, ranks: rows.length };
}

/** The placement on 8x8 squares, as chessground reads it. */
export function onFullBoard(fen) {
  const { files, ranks } = sizeOf(fen);
  if (files === 8 && ranks === 8) return fen;
  const rows = fen.split(" ")[0].split("/").map((row) => (files < 8 ? row + (8 - files) : row));
  return [...Array(8 - ranks).fill("8"), ...rows].join("/");
}

/** Show only the squares of the position: style.css does the rest. Says whether the size changed. */
export function fit(element, fen) {
  const { files, ranks } = sizeOf(fen);
  const frame = element.parentElement;
  const changed = frame.dataset.size !== `${files}x${ranks}` && (frame.dataset.size || files + ranks !== 16);
  frame.dataset.size = `${files}x${ranks}`;
  frame.classList.toggle("other-size", files !== 8 || ranks !== 8);
  frame.style.setProperty("--files", files);
  frame.style.setProperty("--ranks", ranks);
  return Boolean(changed);
}
