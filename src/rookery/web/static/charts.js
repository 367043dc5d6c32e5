// Curves of a run, drawn by uPlot, which is loaded when the first one is needed.

const $ = (id) => document.getElementById(id);
const COLORS = ["#3a7d6b", "#b3612c", "#5b6fb5", "#a33f6f", "#7c7a2a", "#3f8fb0", "#8a5bb0", "#777777"];
const HEIGHT = 150;
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });

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
  }

  clear() {
    for (const { plot, element } of this.plots.values()) {
      plot.destroy();
      element.replaceChildren();
      if (element.id !== "rating-chart") element.remove();
    }
    this.plots.clear();
  }

  async render(run) {
    this.Plot ??= await loadPlotter();
    const { results, ...groups } = run.series;
    for (const [group, curves] of Object.entries(groups)) {
      for (const [name, values] of Object.entries(curves)) {
        const known = name !== "x" && values.some((value) => value !== null);
        if (known) this.draw(`${group}: ${name.replaceAll("_", " ")}`, [name], [curves.x, values], null);
      }
    }
    this.renderResults(results);
    this.renderScores(run.ratings);
  }

  /** How games of training end, in one chart. */
  renderResults(results) {
    const names = Object.keys(results).filter((name) => name !== "x");
    if (!names.length) return;
    this.draw("Game results in per cent", names, [results.x, ...names.map((name) => results[name])], null, [0, 100]);
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
    this.draw("Score in per cent", opponents.map((name) => `against ${name}`), [steps, ...curves], $("rating-chart"), [0, 100]);
  }

  draw(title, names, data, place, range) {
    const known = this.plots.get(title);
    if (known && known.names.join() === names.join()) {
      const width = known.element.clientWidth;
      if (width && Math.abs(width - known.plot.width) > 2) known.plot.setSize({ width, height: HEIGHT });
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
      $("curves").append(element);
    }
    const heading = document.createElement("h3");
    heading.textContent = title;
    element.append(heading);
    const plot = new this.Plot(options(element, names, range), data, element);
    this.plots.set(title, { plot, element, names });
  }
}

function options(element, names, range) {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement("span");
  element.append(probe);
  const color = (name) => {
    probe.style.color = style.getPropertyValue(name);
    return getComputedStyle(probe).color;
  };
  const [text, line] = [color("--quiet"), color("--line")];
  probe.remove();
  const values = (plot, ticks) => ticks.map((tick) => (tick === null ? "" : compact.format(tick)));
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  return {
    width: element.clientWidth || 300,
    height: HEIGHT,
    legend: { show: names.length > 1 },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false }, y: range ? { range } : {} },
    axes: [{ ...axis, values }, { ...axis, values, size: 56 }],
    series: [
      { label: "iteration" },
      ...names.map((name, index) => ({ label: name, stroke: COLORS[index % COLORS.length], width: 1.5, spanGaps: true })),
    ],
  };
}
