
"use strict";
(() => {
  const data = document.getElementById("games-data");
  if (!data) return;
  const games = JSON.parse(data.textContent);
  const pieces = document.getElementById("pieces");
  const moves = document.getElementById("moves");
  const place = document.getElementById("place");
  const select = document.getElementById("game");
  const svg = "http://www.w3.org/2000/svg";
  let game = games[0];
  let ply = 0;

  function draw() {
    pieces.replaceChildren();
    game.placements[ply].split("/").forEach((row, y) => {
      let x = 0;
      for (const letter of row) {
        if (letter >= "1" && letter <= "8") { x += Number(letter); continue; }
        const piece = document.createElementNS(svg, "use");
        piece.setAttribute("href", "#piece-" + letter);
        piece.setAttribute("x", String(45 * x));
        piece.setAttribute("y", String(45 * y));
        pieces.appendChild(piece);
        x += 1;
      }
    });
    place.textContent = "Position " + ply + " of " + game.moves.length + ", result " + game.result;
    Array.from(moves.children).forEach((item, index) => {
      item.className = index + 1 === ply ? "now" : "";
    });
    const now = moves.querySelector(".now");
    if (now) moves.scrollTop = now.offsetTop - moves.offsetTop - moves.clientHeight / 2;
  }

  function go(target) {
    ply = Math.max(0, Math.min(game.moves.length, target));
    draw();
  }

  function choose(index) {
    game = games[index];
    moves.replaceChildren(...game.moves.map((move, number) => {
      const item = document.createElement("li");
      item.textContent = number % 2 === 0 ? number / 2 + 1 + ". " + move : move;
      item.addEventListener("click", () => go(number + 1));
      return item;
    }));
    go(game.moves.length);
  }

  for (const button of document.querySelectorAll("button[data-step]")) {
    const step = button.dataset.step;
    button.addEventListener("click", () => {
      if (step === "first") go(0);
      else if (step === "last") go(game.moves.length);
      else go(ply + Number(step));
    });
  }
  document.getElementById("viewer").addEventListener("keydown", (event) => {
    if (event.target === select) return;
    if (event.key === "ArrowLeft") go(ply - 1);
    if (event.key === "ArrowRight") go(ply + 1);
  });
  select.addEventListener("change", () => choose(Number(select.value)));
  choose(0);
})();
