from __future__ import annotations

import os
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

pytest.importorskip("pygame", reason="needs pygame: the extra 'render'")

from rookery import Game
from rookery.envs.aec import ChessAECEnv
from rookery.envs.chess_env import ChessEnv
from rookery.envs.render import DARK, LIGHT, LIGHT_MOVED, SQUARE, Renderer


def square(image: np.ndarray, name: str) -> np.ndarray:
    """The pixels of a square, [SQUARE, SQUARE, 3]."""
    column, row = "abcdefgh".index(name[0]) * SQUARE, (8 - int(name[1])) * SQUARE
    return image[row : row + SQUARE, column : column + SQUARE]


def test_the_image_shows_the_position() -> None:
    game = Game()
    game.push("g1f3")
    image = Renderer("rgb_array").render(game)
    assert isinstance(image, np.ndarray)
    assert (image.shape, image.dtype) == ((8 * SQUARE, 8 * SQUARE, 3), np.uint8)
    assert image.flags.c_contiguous
    assert (square(image, "e4") == LIGHT).all() and (square(image, "d4") == DARK).all()
    assert (square(image, "f3")[0, 0] == LIGHT_MOVED).all()  # where the knight went
    assert not (square(image, "f3") == LIGHT_MOVED).all()
    white, black = ((square(image, name) == 255).all(2).sum() for name in ("e1", "e8"))
    assert white > 500 > black  # White is below; the kings differ in what is filled


def test_videos_are_recorded(tmp_path, monkeypatch) -> None:
    """With a stand-in for moviepy, which does not install beside the pinned Pillow."""
    written = {}

    class Clip:
        def __init__(self, frames, fps):
            self.frames, self.fps = frames, fps

        def write_videofile(self, path, logger):
            written[path] = (len(self.frames), self.frames[0].shape, self.fps)

    package, sequence = type(sys)("moviepy"), type(sys)("moviepy.video.io.ImageSequenceClip")
    sequence.ImageSequenceClip = Clip
    modules = ("moviepy", "moviepy.video", "moviepy.video.io")
    for name in modules:
        monkeypatch.setitem(sys.modules, name, package)
    monkeypatch.setitem(sys.modules, sequence.__name__, sequence)
    env = gymnasium.make("rookery/Chess-v0", render_mode="rgb_array", max_plies=6)
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path), episode_trigger=lambda _: True)
    _, info = env.reset(seed=1)
    ended = False
    while not ended:
        action = np.flatnonzero(info["action_mask"])[0]
        _, _, terminated, truncated, info = env.step(action)
        ended = terminated or truncated
    env.close()
    ((frames, shape, fps),) = written.values()
    assert (shape, fps) == ((480, 480, 3), 2) and frames >= 3


# In a process of its own, since SDL is opened once for all.
WINDOW = """
import pygame
from rookery.envs.aec import ChessAECEnv
from rookery.envs.chess_env import ChessEnv
pygame.time.wait = lambda milliseconds: print("shown for", milliseconds)
env = ChessEnv(color="white", render_mode="human")
env.reset(seed=1)
env.step(env.episode.game.action_of("e2e4"))
print("pixels", pygame.display.get_surface().get_at((270, 270))[:3] == (205, 210, 106))
env.close()
print("open", pygame.display.get_init())
two = ChessAECEnv(render_mode="human")
two.reset()
two.close()
"""


def test_the_window_shows_every_step() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WINDOW],
        env={**os.environ, "SDL_VIDEODRIVER": "dummy"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    # After the reset, the agent's move and the reply; then once for PettingZoo.
    assert done.stdout.count("shown for 500") == 4
    assert "open False" in done.stdout


def test_text_and_unknown_modes() -> None:
    env = ChessAECEnv(render_mode="ansi")
    env.reset()
    assert str(env.render()).startswith("8 r n b q k b n r")
    with pytest.raises(ValueError, match="'ansi', 'rgb_array', 'human'"):
        ChessEnv(render_mode="svg")
