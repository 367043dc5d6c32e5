"""What people like to play: the weight of each feature of a move, learnt from their games.

The chance of a move is proportional to exp(sum of weight times feature): a conditional logit, as
economists use it for choices. `benchmarks/fit_beginner.py` fits the weights to moves of people
rated below 1300 on lichess and writes the table; `view.py` counts the features.
"""

from __future__ import annotations

from collections.abc import Mapping

# Worth is in pawns; what is won or lost is reckoned by one capture.
WEIGHTS: Mapping[str, float] = {
    "take": 1.15,
    "take_back": 0.67,
    "gain": 0.83,
    "far_gain": -0.17,
    "bad_take": -1.23,
    "queen": 1.73,
    "underpromotion": -2.49,
    "mate": 2.37,
    "check": 0.91,
    "safe_check": 0.82,
    "loss": -0.46,
    "loss_to_last": -0.43,
    "second_loss": -0.31,
    "moved_loss": -0.88,
    "threat": 1.14,
    "small_threat": 0.45,
    "castle": 1.71,
    "piece_P": 0.23,
    "piece_N": 0.26,
    "piece_B": -0.18,
    "piece_R": -0.56,
    "piece_Q": -0.36,
    "piece_K": 0.46,
    "ending_P": 0.49,
    "ending_N": 0.06,
    "ending_B": -0.46,
    "ending_R": -0.39,
    "ending_Q": -0.40,
    "ending_K": 0.11,
    "same_piece": 0.38,
    "undo": -0.17,
    "forward": 0.19,
    "back": -0.13,
    "centre": 0.31,
    "knight_out": 0.46,
    "knight_on_edge": -0.99,
    "bishop_out": 0.58,
    "early_queen": -0.32,
    "centre_pawn": 0.44,
    "edge_pawn": -0.40,
    "two_squares": -0.31,
    "passed": 0.67,
    "pawn_rank": 0.56,
    "king_walk": -1.26,
    "nearer_king": 0.58,
    "open_file": 0.81,
}

# A weaker beginner sees less of what it could win, and of what it could lose.
GAINS = frozenset({"take", "gain", "far_gain", "queen", "mate", "threat"})
LOSSES = frozenset({"bad_take", "loss", "loss_to_last", "second_loss", "moved_loss"})
