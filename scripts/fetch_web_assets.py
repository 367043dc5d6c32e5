#!/usr/bin/env python3
"""Fetch the web page's npm packages into src/rookery/web/static/vendor.

web_assets.json lists packages, versions, checksums and the files used. npm fetches them from its
configured registry; users of the finished package need neither npm nor Node. Files are verified
before anything is written, and fetched only if missing. Uses only the standard library, and never
fails, since everything but the page works without them: the exit status is 0, and one line says
what is missing. With --install-npm, as in the Makefile, a missing npm is installed from Debian if
permitted; `pip install` never does that.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIST = HERE / "web_assets.json"
VENDOR = HERE.parent / "src" / "rookery" / "web" / "static" / "vendor"
STAMP = VENDOR / ".complete"  # contains the checksum of the fetched list
SECONDS = 180
INSTALL = "--install-npm"


class AssetError(Exception):
    """Something could not be fetched."""


def main() -> int:
    """Fetch what is missing."""
    wanted = hashlib.sha256(LIST.read_bytes()).hexdigest()
    if STAMP.is_file() and STAMP.read_text().strip() == wanted:
        os.utime(STAMP)
        return 0
    try:
        fetch_all(json.loads(LIST.read_text())["packages"], wanted)
    except (AssetError, OSError, subprocess.SubprocessError, tarfile.TarError) as error:
        print(f"rookery: no web page: {error}; run 'make web-assets' to retry", file=sys.stderr)
    return 0


def fetch_all(packages: list[dict[str, Any]], stamp: str) -> None:
    """Fetch, verify and install all files or none."""
    npm = shutil.which("npm") or (install_npm() if INSTALL in sys.argv[1:] else None)
    if npm is None:
        raise AssetError("npm is missing; install Node.js, on Debian: apt-get install npm")
    VENDOR.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=VENDOR.parent, prefix=".vendor-") as name:
        fresh = Path(name)
        for package in packages:
            fetch(npm, package, fresh)
        (fresh / STAMP.name).write_text(stamp + "\n")
        fresh.chmod(0o755)
        shutil.rmtree(VENDOR, ignore_errors=True)
        shutil.copytree(fresh, VENDOR, dirs_exist_ok=True)


def fetch(npm: str, package: dict[str, Any], target: Path) -> None:
    """Extract one package's files into `target`."""
    wanted = f"{package['name']}@{package['version']}"
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", wanted, "--silent", "--pack-destination", folder]
        result = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        archives = list(Path(folder).glob("*.tgz"))
        if result.returncode != 0 or len(archives) != 1:
            reason = " ".join(result.stderr.split())[-200:]
            raise AssetError(f"npm could not fetch {wanted} ({reason or 'no reason given'})")
        data = archives[0].read_bytes()
        digest = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
        if digest != package["integrity"]:
            raise AssetError(f"the checksum of {wanted} is {digest}, not {package['integrity']}")
        with tarfile.open(archives[0]) as archive:
            for source, destination in package["files"].items():
                member = archive.extractfile(source) if source in archive.getnames() else None
                if member is None:
                    raise AssetError(f"{wanted} has no file {source}")
                path = target / destination
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(member.read())


def install_npm() -> str:
    """Install npm from Debian if permitted."""
    advice = "npm is missing, and could not be installed: apt-get install npm"
    if not shutil.which("apt-get"):
        raise AssetError("npm is missing; install Node.js")
    as_root = [] if os.getuid() == 0 else ["sudo", "-n"]
    print("Installing the Debian package npm, to fetch the web page's board", file=sys.stderr)
    install = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install"]
    install += ["--yes", "-qq", "--no-install-recommends", "npm"]
    update = [*as_root, "apt-get", "update", "-qq"]
    for command in (install, update, install):
        try:
            done = subprocess.run(command, capture_output=True, timeout=900, check=False)
        except OSError:
            raise AssetError(advice) from None
        if command is install and done.returncode == 0:
            break
    npm = shutil.which("npm")
    if npm is None:
        raise AssetError(advice)
    return npm


if __name__ == "__main__":
    sys.exit(main())
