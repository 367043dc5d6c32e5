"""What a network sees in a position: value, policy, pieces, concepts, features, its search tree.

Everything is for White, so that networks can be compared. Values are expected scores from 0 to 100.
The value of a piece is what its owner's expected score loses if it is taken off the board. Concepts
are read by saved probes (`rookery probe --save`), features by setting one at a time to zero; both
need torch, the rest does not.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import numpy as np

from rookery._core import STANDARD_BOARD, FenError, Game
from rookery.encodings import OBSERVATIONS
from rookery.nets.evaluator import read_model
from rookery.nets.model_file import ModelFileError
from rookery.players.options import TREE_SEARCH, parse_options
from rookery.players.registry import is_alphabeta, make_player
from rookery.players.spec import PlayerSpec, parse_spec
from rookery.players.thinking import Thinker
from rookery.report.alphabeta_tree import alphabeta_tree
from rookery.report.tree import Drawn, most_visited
from rookery.web.analyse.plain_networks import NEEDS_TORCH, PlainNetwork
from rookery.web.choices import NETWORKS, Choice

MOST_FEATURES = 12
MOST_NETWORKS = 4  # side by side
TREE_NODES, TREE_PLIES = 60, 8
SIMULATIONS = 200
KEPT = 6  # networks in memory


def has_network(choice: Choice) -> bool:
    """Whether there is a network behind a player of the page."""
    name = parse_spec(choice.spec).name
    return Path(name).exists() or (NETWORKS / f"{name}.safetensors").is_file()


class Insights:
    """Loads networks and looks into them; slow, so its methods are called in threads."""

    def __init__(self) -> None:
        """Load nothing yet."""
        self._lock = threading.Lock()  # torch's forward passes of one visitor after another
        self._load = functools.lru_cache(maxsize=KEPT)(_Loaded)

    def see(self, choice: Choice, game: Game) -> dict[str, Any]:
        """Everything but the tree, as JSON."""
        if not has_network(choice):
            raise ValueError(f"{choice.title[:60]} has no network to look into")
        if game.outcome() is not None:
            raise ValueError("the game is over in this position")
        name = parse_spec(choice.spec).name
        with self._lock:
            origin, data = read_model(name)
            loaded = self._load(name, origin, data)
            names = {"id": choice.id, "name": choice.name, "words": choice.words}
            return {**names, **loaded.see(game)}

    def tree(self, choice: Choice, game: Game) -> dict[str, Any]:
        """The search tree of a player with a network, as nested JSON."""
        if not has_network(choice):
            raise ValueError(f"{choice.title[:60]} has no network to look into")
        if game.outcome() is not None:
            raise ValueError("the game is over in this position")
        if game.board != STANDARD_BOARD:
            raise ValueError(f"search trees are shown for standard chess, not for {game.board}")
        with self._lock:
            root = search_tree(choice.spec, game)
        return node_json(root, chess.Board(game.fen()), "")


class _Loaded:
    """One network; without torch, what can be seen of it without."""

    def __init__(self, name: str, origin: str, data: bytes) -> None:
        self.network: Any = None
        self.probes: Any = None
        self.plain: PlainNetwork | None = None
        try:
            from rookery.probes.saved import probes_of
            from rookery.probes.subjects import load_subject
        except ImportError:
            self.plain = PlainNetwork(name, origin, data)
            return
        self.network = load_subject(origin, data, name).network
        self.probes = probes_of(name, data)

    def see(self, game: Game) -> dict[str, Any]:
        """What it makes of a position."""
        sign = 1.0 if game.turn else -1.0
        values, shares = self.evaluate([game])
        # Pieces are taken off positions without a history.
        plain = Game(game.fen(), board=game.board)
        return {
            "value": points(sign * values[0]),
            "policy": policy_json(game, shares),
            "pieces": self.pieces(plain),
            "concepts": self.concepts(game),
            "features": self.features(game, values[0]),
            "lacks": f"What it recognises {NEEDS_TORCH}." if self.plain else "",
        }

    def evaluate(self, games: Sequence[Game]) -> tuple[list[float], list[float] | None]:
        """Values in [-1, 1] for the sides to move, and the policy of the first position."""
        if self.plain is not None:
            plain, moves = self.plain.evaluate(games)
            return plain, None if moves is None else softmax(np.array(moves))
        import torch

        from rookery._core import legal_actions_batch
        from rookery.nets import ValueNetwork
        from rookery.nets.evaluator import TorchEvaluator
        from rookery.probes.activations import observe

        observations = observe(games, self.network.observation)
        if isinstance(self.network, ValueNetwork):
            with torch.inference_mode():
                found = self.network.values(observations).clamp(-1.0, 1.0)
            return [float(value) for value in found], None
        legal, offsets = legal_actions_batch(games, self.network.actions)
        evaluator = TorchEvaluator(self.network)
        logits, values = evaluator.evaluate(observations.numpy(), legal, offsets)
        clipped = [float(value) for value in np.clip(values, -1.0, 1.0)]
        return clipped, softmax(logits[: offsets[1]].astype(np.float64))

    def concepts(self, game: Game) -> list[dict[str, Any]]:
        """What its probes read from it, each with the truth where that is quickly found."""
        if self.probes is None:
            return []
        from rookery.probes.boards import Boards
        from rookery.probes.concepts import CONCEPTS

        rows: list[dict[str, Any]] = self.probes.read(self.network, game)
        boards = Boards([game])
        for row in rows:
            concept = CONCEPTS.get(row["name"])
            known = concept is not None and not concept.slow and not concept.endings
            row["true"] = bool(concept.answers(boards)[0]) if concept and known else None
        return rows

    def pieces(self, game: Game) -> dict[str, float]:
        """What each piece but the kings is worth to its owner, by square; {} if unknown."""
        if game.board != STANDARD_BOARD:  # python-chess, which takes the pieces off, knows no other
            return {}
        games, squares = [game], []
        board = chess.Board(game.fen())
        for square, piece in board.piece_map().items():
            without = board.copy(stack=False)
            without.remove_piece_at(square)
            without.castling_rights = without.clean_castling_rights()
            without.ep_square = None
            if piece.piece_type != chess.KING and without.is_valid() and any(without.legal_moves):
                try:
                    games.append(Game(without.fen()))
                except FenError:
                    continue
                squares.append((chess.square_name(square), piece.color))
        try:
            values, _ = self.evaluate(games)
        except ValueError:  # networks of endings know their own material only
            return {}
        worth = {}
        for (name, color), value in zip(squares, values[1:], strict=True):
            owner = 1.0 if color == game.turn else -1.0
            worth[name] = round(50.0 * owner * (values[0] - value), 1)
        return worth

    def features(self, game: Game, value: float) -> list[dict[str, Any]]:
        """Named groups of features with the greatest effect on the value; [] without names."""
        if self.plain is not None:
            return []
        import torch

        from rookery.nets import ValueNetwork
        from rookery.probes.activations import observe

        layout = OBSERVATIONS.get(self.network.observation)
        if layout is None or not all(part.group for part in layout.slices):
            return []
        parts = list(layout.slices)
        observations = observe([game], self.network.observation).repeat(len(parts), 1)
        for row, part in enumerate(parts):
            observations[row, part.start : part.stop] = 0.0
        with torch.inference_mode():
            if isinstance(self.network, ValueNetwork):
                changed = self.network.values(observations)
            else:
                rows = torch.arange(len(parts))
                changed = self.network(observations, torch.zeros_like(rows), rows)[1]
        sign = 1.0 if game.turn else -1.0
        found = [
            {"name": part.name, "effect": round(50.0 * sign * (value - float(other)), 1)}
            for part, other in zip(parts, changed, strict=True)
        ]
        return sorted(found, key=lambda row: -abs(float(str(row["effect"]))))[:MOST_FEATURES]


def softmax(logits: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """Shares of moves, which add up to 1."""
    shares = np.exp(logits - logits.max())
    return [float(share) for share in shares / shares.sum()]


def points(value: float) -> float:
    """A value in [-1, 1] as an expected score from 0 to 100."""
    return round(50.0 + 50.0 * value, 1)


def policy_json(game: Game, shares: list[float] | None) -> list[dict[str, Any]] | None:
    """All moves with their shares in per cent, the likeliest first; None without a policy."""
    if shares is None:
        return None
    moves = game.legal_moves()
    if len(moves) != len(shares):  # a draw claim is one more action
        shares = shares[: len(moves)]
    ranked = sorted(zip(moves, shares, strict=True), key=lambda pair: -pair[1])
    return [
        {"uci": move, "san": game.san(move), "share": round(100 * share, 1)}
        for move, share in ranked
    ]


# --- Trees ---


def search_tree(spec: str, game: Game) -> Drawn:
    """What a player with a network considers in a position."""
    parsed = parse_spec(spec)
    if is_alphabeta(parsed.name):
        engine = make_player(str(PlayerSpec(parsed.name, {})))
        assert isinstance(engine, Thinker)
        try:
            return alphabeta_tree(engine, game, TREE_NODES, TREE_PLIES)
        finally:
            engine.close()
    from rookery.players.mcts import search_player

    plain = PlayerSpec(parsed.name, {"simulations": str(SIMULATIONS)})
    try:
        player = search_player(plain, parse_options(plain, TREE_SEARCH))
    except (ModelFileError, ValueError, ImportError) as error:
        raise ValueError(f"there is no search with this network: {error}") from None
    player.choose(game, np.random.default_rng(0))
    return most_visited(player.search.tree(1, TREE_PLIES), TREE_NODES, TREE_PLIES)


def node_json(node: Drawn, board: chess.Board, uci: str) -> dict[str, Any]:
    """A node and what is below it; `board` is its position, the value White's."""
    # A node's value is for the side that made the move; the root's, for the side to move.
    white = board.turn if not uci else not board.turn
    value = None if node.value is None else points(node.value if white else -node.value)
    children = []
    for child in node.children:
        after = board.copy(stack=False)
        move = after.parse_san(child.label)
        after.push(move)
        children.append(node_json(child, after, move.uci()))
    return {
        "uci": uci,
        "san": node.label,
        "fen": board.fen(),
        "visits": node.visits,
        "value": value,
        "status": node.status,
        "children": children,
    }
