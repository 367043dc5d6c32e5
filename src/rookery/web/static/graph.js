// The graph of a reviewed game: White's winning chance after each move, a click shows the position.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 120;

/**
 * Draw the graph. `values[ply]` is White's winning chance in per cent or null, from the start
 * position on; `marks[ply]` a kind of error or ""; `current` the ply on show.
 */
export function showGraph(place, values, marks, current, go) {
  const width = place.clientWidth || 600; // pixels, so that circles are round
  const svg = make("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
  svg.setAttribute("aria-label", describe(values));
  const x = (ply) => (values.length > 1 ? (width * ply) / (values.length - 1) : 0);
  const y = (value) => (HEIGHT * (100 - value)) / 100;
  svg.append(make("rect", { class: "ground", width: width, height: HEIGHT }));
  const known = values.map((value, ply) => [ply, value]).filter(([, value]) => value !== null);
  if (known.length) {
    const line = known.map(([ply, value]) => `${x(ply).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    const [first, last] = [x(known[0][0]), x(known[known.length - 1][0])];
    svg.append(make("polygon", { class: "white", points: `${first},${HEIGHT} ${line} ${last},${HEIGHT}` }));
  }
  svg.append(make("line", { class: "middle", x1: 0, x2: width, y1: HEIGHT / 2, y2: HEIGHT / 2 }));
  svg.append(make("line", { class: "now", x1: x(current), x2: x(current), y1: 0, y2: HEIGHT }));
  for (const [ply, value] of known) {
    if (marks[ply]) svg.append(make("circle", { class: marks[ply], cx: x(ply), cy: y(value), r: 5 }));
  }
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * (values.length - 1)));
  };
  place.replaceChildren(svg);
}

function describe(values) {
  const known = values.filter((value) => value !== null);
  if (!known.length) return "No evaluation yet";
  return `White's winning chance, from ${Math.round(known[0])} % to ${Math.round(known[known.length - 1])} %`;
}

function make(kind, attributes) {
  const element = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
