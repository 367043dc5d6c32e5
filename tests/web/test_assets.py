"""Fetching the page's board and charts: checked before anything is written, never in the way."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import json
import os
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from support.paths import PROJECT

SCRIPT = PROJECT / "scripts" / "fetch_web_assets.py"


def archive(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as found:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            found.addfile(info, io.BytesIO(data))
    return stream.getvalue()


class Fetching:
    """The script with folders of its own, and an npm that answers with a given archive."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        spec = importlib.util.spec_from_file_location("fetch_web_assets", SCRIPT)
        assert spec is not None and spec.loader is not None
        self.script: ModuleType = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.script)
        self.folder = folder
        self.vendor = folder / "static" / "vendor"
        monkeypatch.setattr(self.script, "LIST", folder / "list.json")
        monkeypatch.setattr(self.script, "VENDOR", self.vendor)
        monkeypatch.setattr(self.script, "STAMP", self.vendor / ".complete")
        programs = folder / "programs"
        programs.mkdir()
        monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
        self.npm = programs / "npm"

    def offer(self, data: bytes, integrity: str = "", status: int = 0) -> None:
        (self.folder / "offered.tgz").write_bytes(data)
        digest = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
        package = {
            "name": "board",
            "version": "1.2.3",
            "integrity": integrity or digest,
            "files": {"package/board.js": "board/board.js"},
        }
        (self.folder / "list.json").write_text(json.dumps({"packages": [package]}))
        self.npm.write_text(
            f'#!/bin/sh\necho "$@" >> {self.folder}/calls\n'
            f"cp {self.folder}/offered.tgz ./board-1.2.3.tgz\nexit {status}\n"
        )
        self.npm.chmod(0o755)

    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def fetching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fetching:
    return Fetching(tmp_path, monkeypatch)


def test_files_are_fetched_once(fetching: Fetching) -> None:
    fetching.offer(archive({"package/board.js": b"board", "package/other.js": b"other"}))
    assert fetching.script.main() == 0
    assert (fetching.vendor / "board" / "board.js").read_bytes() == b"board"
    assert not (fetching.vendor / "board" / "other.js").exists()
    assert fetching.calls()[0].startswith("pack board@1.2.3 ")
    assert fetching.script.main() == 0
    assert len(fetching.calls()) == 1


def test_a_wrong_checksum_changes_nothing(
    fetching: Fetching, capsys: pytest.CaptureFixture[str]
) -> None:
    fetching.offer(archive({"package/board.js": b"good"}))
    fetching.script.main()
    fetching.offer(archive({"package/board.js": b"evil"}), integrity="sha512-something")
    assert fetching.script.main() == 0
    assert "checksum of board@1.2.3" in capsys.readouterr().err
    assert (fetching.vendor / "board" / "board.js").read_bytes() == b"good"


@pytest.mark.parametrize(
    "data", [b"no archive", archive({"package/else.js": b""})], ids=["no archive", "other files"]
)
def test_useless_archives_are_named(
    fetching: Fetching, data: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    fetching.offer(data)
    assert fetching.script.main() == 0
    assert "rookery: no web page" in capsys.readouterr().err
    assert not fetching.vendor.exists()


def test_a_failing_npm_does_not_stop_the_build(
    fetching: Fetching, capsys: pytest.CaptureFixture[str]
) -> None:
    fetching.offer(b"", status=1)
    assert fetching.script.main() == 0
    assert "npm could not fetch board@1.2.3" in capsys.readouterr().err


def test_without_npm_it_is_named(
    fetching: Fetching, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetching.offer(b"")
    monkeypatch.setenv("PATH", str(fetching.folder / "nowhere"))
    assert fetching.script.main() == 0
    assert "npm is missing" in capsys.readouterr().err


def test_the_list_names_what_the_page_uses() -> None:
    packages = json.loads((PROJECT / "scripts" / "web_assets.json").read_text())["packages"]
    listed = {path for package in packages for path in package["files"].values()}
    static = PROJECT / "src" / "rookery" / "web" / "static"
    used = set()
    for path in [static / "index.html", *static.glob("*.js")]:
        for word in path.read_text(encoding="utf-8").replace('"', " ").split():
            if "vendor/" in word:
                used.add(word.partition("vendor/")[2])
    assert used <= listed
    for package in packages:
        assert any(path.endswith("/LICENSE") for path in package["files"].values())


def test_the_files_in_the_repository_are_those_of_the_list() -> None:
    text = (PROJECT / "scripts" / "web_assets.json").read_bytes()
    vendor = PROJECT / "src" / "rookery" / "web" / "static" / "vendor"
    stamp = (vendor / ".complete").read_text().strip()
    assert stamp == hashlib.sha256(text).hexdigest(), "run: make web-assets"
    for package in json.loads(text)["packages"]:
        for path in package["files"].values():
            assert (vendor / path).stat().st_size > 0
