"""A study: every concept in every layer of every network, with controls, on the same positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rookery._core import STANDARD_BOARD
from rookery.nets import HiddenLayers, PolicyValueNetwork, ValueNetwork
from rookery.nets.evaluator import Evaluator, TorchEvaluator, load_evaluator
from rookery.probes.activations import activations_of, observe
from rookery.probes.concepts import RANDOM, Concept, have_tables
from rookery.probes.fit import Probe, Score, enough, fit_probe, scores_of
from rookery.probes.positions import (
    CANDIDATES,
    ENDINGS,
    UNKNOWN,
    Positions,
    bot_games,
    chosen,
    drawn_endings,
    joined,
    labels_of,
    policy_games,
    random_games,
)
from rookery.probes.subjects import Subject, untrained

BOARD = "board"  # the layer before the first: twelve planes of pieces
PLAYER = "alphazero"  # whose policy plays a third of the positions
ENDING_SHARE = 0.15  # of the positions, for concepts about endings
EXAMPLES = 4  # best and worst boards of a concept

Say = Callable[[str], None]


@dataclass(frozen=True)
class Question:
    """The positions of a study with their labels."""

    positions: Positions
    concepts: Sequence[Concept]
    labels: NDArray[np.int8]  # [N, C + 1], the last column is the control
    seed: int

    def part(self, name: str) -> NDArray[np.bool_]:
        """Which positions [N] belong to a part of the games."""
        return self.positions.part(name, self.seed)

    def counts(self, index: int) -> tuple[int, int]:
        """The numbers of positions with and without a concept."""
        column = self.labels[:, index]
        return int((column == 1).sum()), int((column == 0).sum())


@dataclass(frozen=True)
class Finding:
    """One concept in one layer of one network."""

    name: str
    layer: str
    checkpoint: int | None
    score: float
    score_low: float
    score_high: float
    untrained: float  # the same layer of a network with random weights
    random_label: float  # the same layer asked about coin flips
    weights: int  # that are not zero
    seconds: float | None = None  # of training
    subject: str = ""


@dataclass(frozen=True)
class Example:
    """A held-out board, and how sure the probe was that the concept is there."""

    fen: str
    probability: float
    label: bool


@dataclass(frozen=True)
class Study:
    """All findings, and what is needed to show them."""

    findings: list[Finding]
    board: dict[str, Score]  # what can be read off the pieces themselves, by concept
    examples: dict[str, dict[str, list[Example]]]  # by concept: "best" and "worst" boards
    probes: dict[str, tuple[str, Probe, int]]  # of the last network: layer, probes, column
    question: Question
    left_out: dict[str, str]  # concepts, and why

    def best(self, name: str, checkpoint: int | None) -> Finding:
        """The best layer for a concept."""
        rows = [row for row in self.findings if (row.name, row.checkpoint) == (name, checkpoint)]
        return max(rows, key=lambda row: row.score)

    def compared(self, name: str, checkpoint: int | None) -> Finding:
        """The best layer for a concept, beside the best layer of the untrained network."""
        rows = [row for row in self.findings if (row.name, row.checkpoint) == (name, checkpoint)]
        return replace(self.best(name, checkpoint), untrained=max(row.untrained for row in rows))

    def to_json(self) -> dict[str, Any]:
        """The findings as JSON."""
        question = self.question
        rows = [{**asdict(row), "board": self.board[row.name].score} for row in self.findings]
        counts = {
            concept.name: dict(zip(("with", "without"), question.counts(index), strict=True))
            for index, concept in enumerate(question.concepts)
        }
        return {
            "positions": len(question.positions.games),
            "games": len(np.unique(question.positions.origins)),
            "counts": counts,
            "concepts": rows,
            "left_out": self.left_out,
        }


def ask(
    concepts: Sequence[Concept],
    count: int,
    seed: int,
    endings: Sequence[str] = (),
    say: Say = print,
    board: str = STANDARD_BOARD,
    network: HiddenLayers | None = None,
) -> Question:
    """Play and choose `count` positions.

    Args:
        concepts: To ask about.
        count: Of positions.
        seed: Of the games.
        endings: If not empty, positions of these endings alone.
        say: Is told what happens.
        board: To play on.
        network: Whose policy plays a third of the games on other boards than the standard one,
            for which no network is shipped; if it has one.
    """
    rng = np.random.default_rng([seed, 6])
    if endings:
        concepts = [replace(concept, endings=True) for concept in concepts]
        positions = drawn_endings(count, endings, rng)
        return Question(positions, concepts, labels_of(positions, concepts, seed), seed)
    say("playing positions")
    offered = -(-CANDIDATES * count // 3)
    sources = [random_games(offered, rng, board), bot_games(offered, rng, board)]
    if (evaluator := _player(board, network)) is not None:
        sources.append(policy_games(offered, rng, evaluator, board))
    played = joined(sources)
    quick = [concept for concept in concepts if not (concept.slow or concept.endings)]
    say("asking concepts")
    kept = played.take(chosen(labels_of(played, quick, seed), count, rng))
    if any(concept.endings for concept in concepts):
        kept = joined([kept, drawn_endings(round(ENDING_SHARE * count), ENDINGS, rng)])
    return Question(kept, concepts, labels_of(kept, concepts, seed), seed)


def _player(board: str, network: HiddenLayers | None) -> Evaluator | None:
    """The network that plays a third of the games."""
    if board == STANDARD_BOARD:
        return load_evaluator(PLAYER)
    has_policy = network is not None and not isinstance(network, ValueNetwork)
    return TorchEvaluator(cast(PolicyValueNetwork, network)) if has_policy else None


def usable(
    concepts: Sequence[Concept], board: str = STANDARD_BOARD
) -> tuple[list[Concept], dict[str, str]]:
    """The concepts that can be asked on a board, and why others cannot."""
    left_out = {}
    for concept in concepts:
        if concept.standard and board != STANDARD_BOARD:
            left_out[concept.name] = f"is about standard chess, not {board}"
        elif concept.name == "tablebase_win" and not have_tables():
            left_out[concept.name] = "no endgame tables are installed"
    return [concept for concept in concepts if concept.name not in left_out], left_out


def study(subjects: Sequence[Subject], question: Question, say: Say = print) -> Study:
    """Probe all layers of all networks, and of untrained ones of their shapes."""
    parts = [question.part(name) for name in ("train", "choose", "test")]
    asked = enough(question.labels, parts)
    left_out = {
        concept.name: "too few positions with or without it"
        for concept, kept in zip(question.concepts, asked, strict=False)
        if not kept
    }
    names = [concept.name for concept in question.concepts]
    names = [name for name, kept in zip([*names, RANDOM], asked, strict=True) if kept]
    if len(names) < 2:
        raise ValueError("no concept has enough positions with and without it; ask for more")
    labels = question.labels[:, asked]
    pieces = observe(question.positions.games, "planes12").flatten(1).numpy()
    say(f"{len(labels):,} positions, {len(names) - 1} concepts; probing the board itself")
    board, _ = _layer(pieces, labels, question)
    controls: dict[str, dict[str, list[Score]]] = {}
    findings: list[Finding] = []
    probed: dict[str, tuple[Probe, NDArray[np.float32]]] = {}
    for subject in subjects:
        # Networks of a run may grow on the way: each shape has a control of its own.
        shape = str(subject.network.sizes)
        if shape not in controls:
            say("probing an untrained network")
            fresh = untrained(subject.network, question.seed)
            controls[shape] = {n: s for n, (s, _, _) in _layers(fresh, labels, question).items()}
        say(f"probing {subject.name}")
        found = _layers(subject, labels, question)
        probed = {layer: (probe, logits) for layer, (_, probe, logits) in found.items()}
        for layer, (scores, probe, _) in found.items():
            control = controls[shape][layer]
            findings += _findings(subject, layer, names, scores, control, probe)
    return _finished(findings, names, board, probed, labels, question, left_out)


Layer = tuple[list[Score], Probe, NDArray[np.float32]]


def _layers(subject: Subject, labels: NDArray[np.int8], question: Question) -> dict[str, Layer]:
    """Scores, probes and held-out logits of each layer."""
    observations = observe(question.positions.games, subject.network.observation)
    test = question.part("test")
    found = {}
    for layer, activations in activations_of(subject.network, observations).items():
        scores, probe = _layer(activations, labels, question)
        found[layer] = scores, probe, probe.logits(activations[test])
    return found


def _layer(
    activations: NDArray[np.float32], labels: NDArray[np.int8], question: Question
) -> tuple[list[Score], Probe]:
    test = question.part("test")
    probe = fit_probe(activations, labels, question.part("train"), question.part("choose"))
    logits = probe.logits(activations[test])
    origins = question.positions.origins[test]
    return scores_of(logits, labels[test], origins, question.seed), probe


def _findings(
    subject: Subject,
    layer: str,
    names: Sequence[str],
    scores: Sequence[Score],
    control: Sequence[Score],
    probe: Probe,
) -> list[Finding]:
    return [
        Finding(
            name=name,
            layer=layer,
            checkpoint=subject.step,
            score=score.score,
            score_low=score.low,
            score_high=score.high,
            untrained=control[index].score,
            random_label=scores[-1].score,
            weights=int((probe.weights[:, index] != 0).sum()),
            seconds=subject.seconds,
            subject=subject.name,
        )
        for index, (name, score) in enumerate(zip(names[:-1], scores[:-1], strict=True))
    ]


def _finished(
    findings: list[Finding],
    names: Sequence[str],
    board: Sequence[Score],
    probed: dict[str, tuple[Probe, NDArray[np.float32]]],
    labels: NDArray[np.int8],
    question: Question,
    left_out: dict[str, str],
) -> Study:
    """Add the best probes of the last network and their most telling boards."""
    test = np.flatnonzero(question.part("test"))
    examples, probes = {}, {}
    last = findings[-1].checkpoint
    found = Study(findings, {}, {}, {}, question, left_out)
    for column, name in enumerate(names[:-1]):
        layer = found.best(name, last).layer
        probe, logits = probed[layer]
        probes[name] = layer, probe, column
        examples[name] = _examples(logits[:, column], labels[test, column], test, question)
    by_name = dict(zip(names, board, strict=True))
    return Study(findings, by_name, examples, probes, question, left_out)


def _examples(
    logits: NDArray[np.float32],
    labels: NDArray[np.int8],
    places: NDArray[np.int64],
    question: Question,
) -> dict[str, list[Example]]:
    """The surest right answers with the concept, and the surest wrong ones."""
    known = np.flatnonzero(labels != UNKNOWN)
    order = known[np.argsort(-np.abs(logits[known]), kind="stable")]
    right = (logits > 0) == (labels == 1)
    wanted = {
        "best": order[right[order] & (labels[order] == 1)],
        "worst": order[~right[order]],
    }

    def example(index: int) -> Example:
        fen = question.positions.games[int(places[index])].fen()
        sure = float(1.0 / (1.0 + np.exp(-np.clip(logits[index], -30, 30))))
        return Example(fen, sure, bool(labels[index]))

    return {
        kind: [example(int(index)) for index in _of_different_games(found, places, question)]
        for kind, found in wanted.items()
    }


def _of_different_games(
    order: NDArray[np.int64], places: NDArray[np.int64], question: Question
) -> list[int]:
    seen: dict[int, int] = {}
    for index in order:
        seen.setdefault(int(question.positions.origins[places[index]]), int(index))
        if len(seen) == EXAMPLES:
            break
    return list(seen.values())
