"""What the distribution contains."""

from __future__ import annotations

import tomllib

from support.paths import PROJECT

SETTINGS = tomllib.loads((PROJECT / "pyproject.toml").read_text())


def test_left_out_folders_are_those_of_the_project_not_of_the_package() -> None:
    # A plain "runs" would also leave out src/rookery/runs, from the wheel as well.
    assert all(
        path.startswith("/") for path in SETTINGS["tool"]["scikit-build"]["sdist"]["exclude"]
    )


def test_the_base_install_is_small() -> None:
    heavy = ("torch", "pyarrow", "onnx", "ray", "pydantic", "tensorboard", "gymnasium")
    assert not [r for r in SETTINGS["project"]["dependencies"] if r.startswith(heavy)]
