// The dialog for a new game.

const $ = (id) => document.getElementById(id);
// The first word of a FEN, of any size of board; anything else is a PGN game.
const PLACEMENT = /^[1-8pnbrqkPNBRQK]+(\/[1-8pnbrqkPNBRQK]+){2,7} /;

export class Setup {
  /** `begin(wishes)` starts a game and throws a text if it cannot. */
  constructor(players, begin) {
    this.begin = begin;
    this.dialog = $("setup");
    this.form = $("setup-form");
    this.seats = [$("seat-first"), $("seat-second")];
    this.setPlayers(players);
    for (const seat of this.seats) {
      field(seat, "player").onchange = () => {
        this.showLevels(seat);
        this.suggestStart(field(seat, "player").value);
      };
    }
    $("preset").onchange = () => ($("position").value = $("preset").value);
    for (const radio of this.form.elements.color) radio.onchange = () => this.showSeats();
    $("setup-cancel").onclick = () => this.dialog.close();
    this.form.onsubmit = (event) => this.submit(event);
  }

  setPlayers(players) {
    this.players = new Map(players.map((player) => [player.id, player]));
    for (const seat of this.seats) {
      const select = field(seat, "player");
      const chosen = select.value;
      const level = field(seat, "level").value;
      const groups = new Map();
      for (const player of players) {
        if (!groups.has(player.group)) {
          const group = document.createElement("optgroup");
          group.label = player.group;
          groups.set(player.group, group);
        }
        groups.get(player.group).append(option(player.id, player.name));
      }
      select.replaceChildren(...groups.values());
      if (this.players.has(chosen)) select.value = chosen;
      this.showLevels(seat, select.value === chosen ? level : "");
    }
  }

  /** Offer the levels of the chosen player; `kept` stays chosen if it is one of them. */
  showLevels(seat, kept = "") {
    const player = this.players.get(field(seat, "player").value);
    if (!player) return;
    seat.querySelector(".facts").textContent = sentence(player.words);
    const select = field(seat, "level");
    select.replaceChildren(...player.levels.map((level) => option(level.id, level.title)));
    select.closest("label").hidden = player.levels.length < 2;
    select.value = player.levels.some((level) => level.id === kept) ? kept : player.default;
  }

  /** Players that know one ending only begin there, unless a position is given. */
  suggestStart(id) {
    const given = $("position").value.trim();
    if (given && given !== this.suggested) return;
    this.suggested = this.players.get(id)?.start || "";
    $("preset").value = $("position").value = this.suggested;
    $("start").open = $("start").open || Boolean(this.suggested);
  }

  showSeats() {
    const color = this.form.elements.color.value;
    this.seats[0].querySelector("span").textContent = color === "watch" ? "White" : "Opponent";
    this.seats[0].hidden = color === "both";
    this.seats[1].hidden = color !== "watch";
  }

  open() {
    $("setup-error").textContent = "";
    this.showSeats();
    this.dialog.showModal();
  }

  /** Choose a player in the first seat, at a level if one is named. */
  choose(id, level = "") {
    if (!this.players.has(id)) return false;
    field(this.seats[0], "player").value = id;
    this.showLevels(this.seats[0], level);
    this.suggestStart(id);
    return true;
  }

  /** Begin with this position unless another one is given. */
  suggest(fen) {
    this.suggested = $("position").value = fen;
    $("start").open = true;
  }

  wishes() {
    const elements = this.form.elements;
    const [first, second] = this.seats.map((seat) => [field(seat, "player").value, field(seat, "level").value]);
    const wishes = { color: elements.color.value, player: first[0], level: first[1] };
    if (wishes.color === "watch") {
      Object.assign(wishes, { white: first[0], whiteLevel: first[1], black: second[0], blackLevel: second[1] });
    }
    wishes.seconds = Number(elements.seconds.value);
    wishes.increment = Number(elements.increment.value);
    if (elements.calm.checked) wishes.calm = 1;
    const position = elements.position.value.trim();
    if (position) wishes[PLACEMENT.test(position) ? "fen" : "pgn"] = position;
    return wishes;
  }

  async submit(event) {
    event.preventDefault();
    try {
      await this.begin(this.wishes());
      this.dialog.close();
    } catch (error) {
      $("setup-error").textContent = error.message;
    }
  }
}

function field(seat, name) {
  return seat.querySelector(`[name=${name}]`);
}

function sentence(words) {
  return words && `${words[0].toUpperCase()}${words.slice(1)}.`;
}

function option(value, text) {
  const element = document.createElement("option");
  element.value = value;
  element.textContent = text;
  return element;
}
