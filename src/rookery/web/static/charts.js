// Curves of a run, drawn by uPlot, which is loaded when the first one is needed. The few that matter
// come first, with a line that says what they mean; the others are folded.

const $ = (id) => document.getElementById(id);
const COLORS = ["#3a7d6b", "#b3612c", "#5b6fb5", "#a33f6f", "#7c7a2a", "#3f8fb0", "#8a5bb0", "#777777"];
const HEIGHT = 150;
const TALL = 230; // of the chart with an interval
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 }); // of numbers that stay short
const format = (number) => (Math.abs(number) < 10000 ? plain : compact).format(number);
const RESULTS = "Game results in per cent";
const MEANINGS = {
  [RESULTS]: "How its games of training end. Ever more draws can mean that it stops learning.",
  losses: "How far it is from what it should have said; training makes this smaller.",
  speed: "Positions per second that it learns from.",
  strength: "Elo on the ladder of known opponents, with the 95 % interval of each measurement. Where it won or lost every game, only one end is known: an arrow.",
};
const TITLES = {
  "losses: train": "Loss on what it learns from",
  "losses: validation": "Loss on games held back",
  "speed: samples per second": "Speed of learning",
};
const MAIN_LOSSES = 2; // of the losses, so many are shown at once

let loading = null;

function loadPlotter() {
  loading ??= new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = "/static/vendor/uplot/uPlot.min.css";
    document.head.append(link);
    import("./vendor/uplot/uPlot.esm.js").then((module) => resolve(module.default), reject);
  });
  return loading;
}

export class Charts {
  constructor() {
    this.plots = new Map(); // title -> { plot, element, names }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.clear());
    document.addEventListener("rookery-theme", () => this.clear());
    $("more-curves").parentElement.ontoggle = () => this.resize();
  }

  clear() {
    for (const { plot, element } of this.plots.values()) {
      plot.destroy();
      element.replaceChildren();
      if (!element.id) element.remove();
    }
    this.plots.clear();
  }

  /** Charts that were folded away had no width. */
  resize() {
    for (const { plot, element } of this.plots.values()) fit(plot, element);
  }

  async render(run) {
    this.Plot ??= await loadPlotter();
    const { results, ...groups } = run.series;
    this.renderResults(results);
    for (const [group, curves] of Object.entries(groups)) {
      Object.entries(curves)
        .filter(([name, values]) => name !== "x" && values.some((value) => value !== null))
        .forEach(([name, values], index) => {
          const main = group === "speed" || (group === "losses" && index < MAIN_LOSSES);
          const raw = `${group}: ${name.replaceAll("_", " ")}`;
          const title = TITLES[raw] || raw;
          this.draw(title, [name], [curves.x, values], { main, meaning: main ? MEANINGS[group] : "" });
        });
    }
    this.renderScores(run.ratings);
    this.renderStrength(run.strength);
  }

  /** How games of training end, in one chart. */
  renderResults(results) {
    const names = Object.keys(results).filter((name) => name !== "x");
    if (!names.length) return;
    const data = [results.x, ...names.map((name) => results[name])];
    this.draw(RESULTS, names, data, { main: true, meaning: MEANINGS[RESULTS], range: [0, 100] });
  }

  /** Scores against each opponent over iterations, in one chart. */
  renderScores(ratings) {
    const opponents = [...new Set(ratings.map((row) => row.opponent))].slice(0, COLORS.length);
    if (!opponents.length) return;
    const steps = [...new Set(ratings.map((row) => row.iteration))].sort((a, b) => a - b);
    const curves = opponents.map((opponent) => {
      const scores = new Map(ratings.filter((r) => r.opponent === opponent).map((r) => [r.iteration, r.score]));
      return steps.map((step) => (scores.has(step) ? 100 * scores.get(step) : null));
    });
    const names = opponents.map((name) => `against ${name}`);
    const title = ratings.every((row) => row.positions) ? "Positions won or held, in per cent" : "Score in per cent";
    this.draw(title, names, [steps, ...curves], { place: $("rating-chart"), range: [0, 100] });
  }

  /** Strength over minutes, between the ends of its interval. */
  renderStrength(strength) {
    $("strength").hidden = strength.length === 0;
    if (!strength.length) return;
    const column = (key) => strength.map((row) => row[key]);
    const data = [column("minutes"), column("elo"), column("low"), column("high")];
    const names = ["Elo", "at least", "at most"];
    this.draw("Strength by minutes of training", names, data, { place: $("strength-chart"), meaning: MEANINGS.strength, x: "minutes", interval: true });
  }

  draw(title, names, data, { place, range, meaning = "", main = false, x = "iteration", interval = false }) {
    const known = this.plots.get(title);
    if (known && known.names.join() === names.join()) {
      fit(known.plot, known.element);
      known.plot.setData(data);
      return;
    }
    if (known) {
      known.plot.destroy();
      known.element.replaceChildren();
    }
    const element = place || (known && known.element) || document.createElement("div");
    if (!place && !known) {
      element.className = "chart";
      $(main ? "curves" : "more-curves").append(element);
      if (!main) $("more-curves").parentElement.hidden = false;
    }
    const heading = document.createElement("h3");
    heading.textContent = title;
    element.append(heading);
    if (meaning) {
      const text = document.createElement("p");
      text.className = "facts";
      text.textContent = meaning;
      element.append(text);
    }
    const plot = new this.Plot(options(element, names, range, x, interval), data, element);
    this.plots.set(title, { plot, element, names });
  }
}

function fit(plot, element) {
  const width = element.clientWidth;
  if (width && Math.abs(width - plot.width) > 2) plot.setSize({ width, height: plot.height });
}

/** Bars from the low to the high end of each measurement; an arrow where that end is not known. */
function drawIntervals(plot) {
  const { ctx: pen, bbox } = plot;
  const pixels = devicePixelRatio;
  const [minutes, elos, lows, highs] = plot.data;
  const cap = 4 * pixels;
  const place = (value) => plot.valToPos(value, "y", true);
  pen.save();
  pen.strokeStyle = COLORS[0];
  pen.lineWidth = 1.5 * pixels;
  minutes.forEach((minute, index) => {
    const [low, high] = [lows[index], highs[index]];
    const known = [elos[index], low, high].filter((value) => value !== null);
    if (!known.length) return;
    const x = plot.valToPos(minute, "x", true);
    const line = (...points) => {
      pen.beginPath();
      points.forEach(([px, py], number) => (number ? pen.lineTo(px, py) : pen.moveTo(px, py)));
      pen.stroke();
    };
    const bottom = low === null ? bbox.top + bbox.height : place(low);
    const top = high === null ? bbox.top : place(high);
    line([x, bottom], [x, top]);
    for (const [value, end, inward] of [[low, bottom, -1], [high, top, 1]]) {
      const open = value === null ? 2 * cap * inward : 0;
      line([x - cap, end + open], [x, end], [x + cap, end + open]);
    }
  });
  pen.restore();
}

function options(element, names, range, x, interval) {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement("span");
  element.append(probe);
  const color = (name) => {
    probe.style.color = style.getPropertyValue(name);
    return getComputedStyle(probe).color;
  };
  const [text, line] = [color("--quiet"), color("--line")];
  probe.remove();
  const values = (plot, ticks) => ticks.map((tick) => (tick === null ? "" : format(tick)));
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const value = (plot, number) => (number === null || number === undefined ? "" : format(number));
  const series = names.map((name, index) => ({
    label: name,
    value,
    spanGaps: !interval, // no line across a measurement without an estimate
    ...(interval
      ? { stroke: COLORS[0], width: index ? 0 : 2, paths: index ? () => null : undefined, points: { show: !index, size: 7 } }
      : { stroke: COLORS[index % COLORS.length], width: 1.5 }),
  }));
  return {
    width: element.clientWidth || 300,
    height: interval ? TALL : HEIGHT,
    legend: { show: names.length > 1 },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false }, y: range ? { range } : {} },
    axes: [{ ...axis, values }, { ...axis, values, size: 56 }],
    hooks: interval ? { draw: [drawIntervals] } : {},
    series: [{ label: x, value }, ...series],
  };
}
