"""Test a player in an endgame against the tablebases.

Let a player play an ending (KPK, KQK, KRK, KRPvK, ...) as White, from every position with White
to move or from a sample, and compare with the tablebases. Reports the columns of Tables 4 to 7
of Kanis 2016 and the share of moves that keep the win.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rookery.commands._common import ProgressLine, check_numbers, print_result, ready_player

if TYPE_CHECKING:
    from rookery.exams.endgames import EndgameResult, Outcome, Referee
    from rookery.exams.endings import EndgamePosition
    from rookery.players.base import Player


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "ending", metavar="ENDING", help="KPK, KQK, KRK, or with both sides as in KQvKR"
    )
    parser.add_argument("player", metavar="PLAYER", help="the player to test")
    parser.add_argument(
        "--against",
        default="perfect",
        metavar="WHO",
        help="perfect (delays the loss as long as possible), worst (every defence at once; only "
        "for memoryless players) or any PLAYER",
    )
    parser.add_argument(
        "--positions", default="1000", metavar="all|N", help="every position, or N random ones"
    )
    parser.add_argument(
        "--goal",
        choices=["promotion", "mate"],
        help="what counts as a win; default: promotion if White has a pawn, otherwise mate",
    )
    parser.add_argument(
        "--side",
        choices=["attack", "defend"],
        default="attack",
        help="defend: the player has Black and must hold the drawn positions",
    )
    parser.add_argument(
        "--max-moves", type=int, default=100, metavar="N", help="no win after N moves"
    )
    parser.add_argument("--concurrency", type=int, default=1, metavar="N", help="positions at once")
    parser.add_argument(
        "--level",
        choices=["all", "easy", "intermediate", "hard"],
        help="KPK only: start positions of this level of Kanis 2016; all: its whole set, with the "
        "pawn on ranks 2 to 6",
    )
    parser.add_argument(
        "--no-history",
        action="store_true",
        help="games ignore repetitions and the fifty-move rule, as in Kanis 2016",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Test the player and report."""
    from rookery.data.tablebases import HOW_TO_GET, find_tablebases
    from rookery.exams.endgames import Referee
    from rookery.exams.endings import parse_ending
    from rookery.players.registry import make_player
    from rookery.players.tablebase import CachedTables

    ending = parse_ending(args.ending)
    check_numbers(args, max_moves=1)
    pawn = "P" in ending.split("v")[0]
    if args.goal == "promotion" and not pawn:
        raise ValueError(f"--goal promotion: White has no pawn in {args.ending}; use --goal mate")
    goal = args.goal or ("promotion" if pawn else "mate")
    name = ready_player(args.player)
    if args.against not in ("perfect", "worst"):
        ready_player(args.against)
    with find_tablebases() as tables:
        if not tables.available:
            raise ValueError(f"'rookery endgame' needs endgame tables; {HOW_TO_GET}")
        cached = CachedTables(tables)
        positions = _positions(args, ending, cached)
        referee = Referee(cached, goal, history=not args.no_history)
        player = make_player(args.player)
        try:
            if args.side == "defend":
                summary = _defend(args, name, ending, player, positions, referee)
            else:
                summary = _attack(args, name, ending, player, positions, referee).to_json()
        finally:
            player.close()
    return print_result(args, summary, report(summary))


def _positions(args: argparse.Namespace, ending: str, cached: Any) -> list[EndgamePosition]:
    import numpy as np

    from rookery.data.kpk_levels import kpk_fens
    from rookery.exams.endings import all_positions, kpk_levels, sample_positions, with_truth

    if args.positions == "all":
        fens = all_positions(ending)
    elif args.positions.isdigit() and int(args.positions) > 0:
        rng = np.random.default_rng(args.seed)
        if args.level:
            if args.level == "all":
                placements = [fen.split()[0] for fen in kpk_fens("all")]
            else:
                placements = [p for p, level in kpk_levels().items() if level == args.level]
            chosen = rng.permutation(len(placements))[: int(args.positions)]
            fens = iter([f"{placements[i]} w - - 0 1" for i in chosen])
        else:
            fens = sample_positions(ending, int(args.positions), rng)
    else:
        raise ValueError(f"--positions is {args.positions!r}; it must be 'all' or a number above 0")
    found = with_truth(fens, ending, cached)
    if args.level and args.level != "all":
        found = [position for position in found if position.level == args.level]
    if not found:
        raise ValueError(f"no position of {ending} at level {args.level}")
    return found


def _attack(
    args: argparse.Namespace,
    name: str,
    ending: str,
    player: Player,
    positions: list[EndgamePosition],
    referee: Referee,
) -> EndgameResult:
    import numpy as np

    from rookery.exams.endgames import EndgameResult, Follower, LevelResult
    from rookery.exams.questions import Questions
    from rookery.players.base import capabilities_of

    memoryless = capabilities_of(player).memoryless
    follow = memoryless and args.against in ("perfect", "worst")
    if args.against == "worst" and not memoryless:
        raise ValueError(
            f"--against worst needs a memoryless player; {name!r} is not marked as one"
        )
    method = "follow" if follow else "play out"
    result = EndgameResult(ending, name, args.against, referee.goal, method)
    result.levels = {level: LevelResult() for level in _levels(ending)}
    result.metric = positions[0].metric
    line = ProgressLine(f"{args.ending} {name}: ")
    if follow:
        questions = Questions(player, np.random.default_rng(args.seed))
        follower = Follower(questions, referee, args.against == "worst")
        for number, position in enumerate(positions):
            result.add(follower.outcome(position))
            if number % 1000 == 0:
                line.write(f"{number}/{len(positions)} positions")
        result.fault_example = questions.example
    else:
        for outcome in _play_all(args, positions, referee, args.player, args.against, line):
            result.add(outcome)
    line.clear()
    return result


def _defend(
    args: argparse.Namespace,
    name: str,
    ending: str,
    player: Player,
    positions: list[EndgamePosition],
    referee: Referee,
) -> dict[str, object]:
    import numpy as np

    from rookery.exams.defence import DefenceLevel, DefenceResult, held_positions
    from rookery.exams.endgames import Outcome
    from rookery.exams.questions import Questions
    from rookery.players.base import capabilities_of

    result = DefenceResult(ending, name, args.against, referee.goal, "play out")
    result.levels = {level: DefenceLevel() for level in _levels(ending)}
    drawn = [position for position in positions if position.result == 0]
    played = [position for position in positions if position.result < 0]  # Black can win
    line = ProgressLine(f"{args.ending} {name}: ")
    if capabilities_of(player).memoryless and args.against in ("perfect", "worst"):
        result.method = "every attack"
        questions = Questions(player, np.random.default_rng(args.seed))
        held, result.judged_moves, result.good_moves = held_positions(
            (p.fen for p in drawn), questions, referee
        )
        result.fault_example = questions.example
        for position in drawn:
            result.add(Outcome(position, won=position.fen not in held))
    else:
        played += drawn
    for position in positions:
        if position.result > 0:
            result.add(Outcome(position, won=True))  # lost from the start, so not played
    attacker = "perfect" if args.against == "worst" else args.against
    for outcome in _play_all(args, played, referee, attacker, args.player, line, examined=1):
        result.add(outcome)
    line.clear()
    return result.to_json()


def _levels(ending: str) -> tuple[str, ...]:
    """Return the levels of an ending, even those without positions in the sample."""
    from rookery.exams.endings import LEVELS

    return LEVELS if ending == "KPvK" else ()


class _Board:
    """Both players of one worker."""

    def __init__(self, attacker: str, defender: str) -> None:
        self.players = _make(attacker), _make(defender)

    def close(self) -> None:
        """Close both."""
        for player in self.players:
            player.close()


def _play_all(
    args: argparse.Namespace,
    positions: list[EndgamePosition],
    referee: Referee,
    attacker: str,
    defender: str,
    line: ProgressLine,
    examined: int = 0,
) -> list[Outcome]:
    import numpy as np

    from rookery.engines.workers import ask_all
    from rookery.exams.endgames import play_out

    def ask(board: _Board, position: EndgamePosition, number: int) -> Outcome:
        seeds = [np.random.SeedSequence(args.seed, spawn_key=(5, number, side)) for side in (0, 1)]
        rngs = np.random.default_rng(seeds[0]), np.random.default_rng(seeds[1])
        return play_out(position, *board.players, referee, rngs, args.max_moves, examined)

    if not positions:
        return []
    return ask_all(
        lambda: _Board(attacker, defender),
        positions,
        ask,
        args.concurrency,
        lambda done: line.write(f"{done}/{len(positions)} positions"),
    )


def _make(player: str) -> Player:
    from rookery.players.registry import make_player

    if player == "worst":
        raise ValueError("--against worst needs a memoryless player")
    return make_player("tablebase" if player == "perfect" else player)


def report(summary: dict[str, Any]) -> str:
    """Format the result as text: the tables of Kanis 2016 in one."""
    head = f"{summary['ending']} {summary['player']} against {summary['against']}"
    if summary.get("side") == "defend":
        rate = summary["hold_rate"]
        share = "none" if rate is None else f"{100 * rate:.2f} %"
        text = (
            f"{head}: {summary['drawn_held']} of {summary['drawn_positions']} drawn positions "
            f"held ({share}; {summary['method']})"
        )
        if summary["won_positions"]:
            text += f"; {summary['won']} of {summary['won_positions']} won positions were won"
        return "\n".join([text, *_faults(summary)])
    lines = [
        f"{head}, goal {summary['goal']} ({summary['method']})",
        f"{'':26}{'all':>10}" + "".join(f"{level:>14}" for level in summary["levels"]),
    ]
    columns = [summary, *summary["levels"].values()]
    for title, key, scale, unit in (
        ("positions", "positions", 1, ""),
        ("won by the tables", "won_share", 100, "%"),
        ("wins from won positions", "win_rate", 100, "%"),
        ("wins from drawn positions", "drawn_win_rate", 100, "%"),
        ("moves to win", "mean_moves", 1, ""),
        ("moves that keep the win", "moves_kept_win", 100, "%"),
    ):
        cells = []
        for column in columns:
            value = column[key]
            digits = 0 if isinstance(value, int) else 2
            cells.append("-" if value is None else f"{scale * value:.{digits}f}{unit}")
        lines.append(f"{title:26}{cells[0]:>10}" + "".join(f"{cell:>14}" for cell in cells[1:]))
    lines.append(f"{summary['won']} of {summary['won_positions']} won positions were won")
    lines += [f"  not won: {text}" for text in summary["failures"][:5]]
    return "\n".join([*lines, *_faults(summary)])


def _faults(summary: dict[str, Any]) -> list[str]:
    """Describe the faults of the player and of its opponent."""
    found = []
    if summary["faults"]:
        found.append(f"{summary['faults']} positions failed because of a fault of the player")
    if summary["opponent_faults"]:
        found.append(f"{summary['opponent_faults']} not counted because of a fault of its opponent")
    if found:
        found[-1] += f", for example {summary['fault_example']}"
    return found
