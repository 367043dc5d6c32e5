// The page: tabs, colours, and the first game.

import { beginSession, reached, request } from "./api.js";
import { GameView } from "./game.js";
import { LibraryView, movesOf } from "./library.js";
import { wirePreferences } from "./preferences.js";
import { Setup } from "./setup.js";

const TABS = ["play", "analyse", "blind", "watch"];
const $ = (id) => document.getElementById(id);

/** Show a message; one that is no trouble is `calm`. */
function notify(text, calm = false) {
  $("notice").textContent = text;
  $("notice").hidden = !text;
  $("notice").classList.toggle("calm", calm);
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

function switchTheme() {
  const systemDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (systemDark ? "dark" : "light");
  const theme = now === "dark" ? "light" : "dark";
  setTheme(theme);
  localStorage.setItem("rookery-theme", theme);
  document.dispatchEvent(new Event("rookery-theme"));
}

async function main() {
  setTheme(localStorage.getItem("rookery-theme"));
  $("theme").onclick = switchTheme;
  wirePreferences();
  const session = await beginSession();
  const game = new GameView(notify);
  const setup = new Setup(session.players, (wishes) => game.begin(wishes));
  const library = new LibraryView(openKept, notify);
  $("my-games").onclick = () => library.show();
  let watch = null;

  async function openKept(id) {
    await game.begin({ resume: id });
    $("unfinished").hidden = true;
    location.hash = "#play";
  }

  /** Offer to go on with the last game that was not finished. */
  async function offerUnfinished() {
    const { games } = await request("GET", "/api/library");
    const last = games.find((kept) => kept.result === "*" && kept.color !== "watch");
    if (!last) return;
    $("unfinished").hidden = false;
    $("unfinished").querySelector("span").textContent =
      `Not finished: ${last.white} – ${last.black}, ${movesOf(last)}.`;
    $("unfinished").querySelector("button").onclick = () => openKept(last.id).catch((error) => notify(error.message));
  }

  async function refreshPlayers() {
    setup.setPlayers((await request("GET", "/api/players")).players);
  }

  let analyse = null;
  let blind = null;

  async function analysis() {
    const { AnalyseView } = await reached(import("./analyse.js"));
    analyse ??= new AnalyseView(playAgainst, notify);
    return analyse;
  }

  async function showTab(name, run) {
    // A hidden board has no size, and chessground would draw arrows without a length.
    if (name !== "play") game.board.arrows([]);
    if (name !== "analyse") analyse?.board.arrows([]);
    if ($(name).hidden) scrollTo(0, 0);
    for (const tab of TABS) {
      $(tab).hidden = tab !== name;
      $(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
    }
    notify("");
    if (name === "play") game.renderThought();
    if (name === "analyse") (await analysis()).show();
    else if (analyse) analyse.hide();
    if (name === "blind") {
      const { BlindView } = await reached(import("./blind.js"));
      blind ??= new BlindView(notify);
      blind.show();
    }
    if (name === "watch") {
      if (!watch) {
        const { WatchView } = await reached(import("./watch.js"));
        watch = new WatchView(playAgainst, notify);
      }
      await watch.show(run);
    } else if (watch) watch.hide();
  }

  async function playAgainst(wishes) {
    await refreshPlayers();
    const player = wishes.player || wishes.white;
    if (player && !setup.choose(player)) return notify("This checkpoint no longer exists.");
    if (!player) wishes = { ...setup.wishes(), ...wishes };
    location.hash = "#play";
    try {
      await game.begin(wishes);
    } catch (error) {
      notify(error.message);
    }
  }

  async function route() {
    const [name, run] = location.hash.slice(1).split("/");
    const tab = name || session.start.tab || "play";
    await showTab(TABS.includes(tab) ? tab : "play", run ? decodeURIComponent(run) : session.start.run);
  }

  const tabs = TABS.map((name) => $(`tab-${name}`));
  for (const [index, tab] of tabs.entries()) {
    tab.onclick = () => (location.hash = `#${TABS[index]}`);
    tab.onkeydown = (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.stopPropagation(); // these keys step through the game elsewhere
      const next = tabs[(index + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length];
      next.focus();
      next.click();
    };
  }
  $("review-game").onclick = async () => {
    const view = await analysis();
    view.loadGame(game.state, game.entries);
    view.wanted = true; // the review begins when the board is connected
    location.hash = "#analyse";
  };
  $("look-inside").onclick = async () => {
    const view = await analysis();
    view.loadGame(game.state, game.entries);
    const { player, white, black } = game.state.wishes;
    view.insight.open([player || white, player ? "" : black]);
    location.hash = "#analyse";
  };
  $("new-game").onclick = async () => {
    setup.open();
    await refreshPlayers().catch((error) => notify(error.message));
  };
  addEventListener("hashchange", () => route().catch((error) => notify(error.message)));

  $("note").textContent = session.start.note || "";
  $("note").hidden = !session.start.note;
  if (session.start.player) setup.choose(session.start.player, session.start.level);
  if (session.start.position) setup.suggest(session.start.position);
  const color = session.start.color;
  if (color) setup.form.elements.color.value = color;
  await route();
  if (!(await game.resume())) {
    await game.begin(setup.wishes());
    offerUnfinished().catch(() => {});
  }
  performance.mark("rookery-ready");
  document.documentElement.dataset.ready = "true";
}

main().catch((error) => notify(`The page could not start: ${error.message}`));
