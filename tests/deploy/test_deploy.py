"""Container files: they name what exists, and Kubernetes would take them."""

from __future__ import annotations

import copy
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from rookery.cli import make_parser
from support.paths import PROJECT as ROOT
from support.ray_schema import SCHEMAS

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
kubernetes_validate = pytest.importorskip(
    "kubernetes_validate", reason="kubernetes-validate is not installed"
)

DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kuberay").glob("*.yaml"))
KUBERNETES = "1.31"


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


def validate(document: dict[str, Any]) -> None:
    """Against the schema of its kind; raises if it does not fit."""
    if document["kind"] in SCHEMAS:
        jsonschema.validate(document, SCHEMAS[document["kind"]])
        for template in pod_templates(document):
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, **template}
            kubernetes_validate.validate(pod, KUBERNETES, strict=True)
    else:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)


def pod_templates(content: Any) -> Iterator[dict[str, Any]]:
    if isinstance(content, dict):
        for key, value in content.items():
            if key == "template":
                yield value
            else:
                yield from pod_templates(value)
    elif isinstance(content, list):
        for each in content:
            yield from pod_templates(each)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_kubernetes_takes_the_manifests(path: Path) -> None:
    for document in documents(path):
        validate(document)


def test_a_wrong_manifest_is_noticed() -> None:
    """At every level: of KubeRay, of the head, of a pod."""
    good = documents(DEPLOY / "kuberay" / "cluster.yaml")[0]
    validate(good)
    for change in (
        lambda spec: spec.update(headGroupSpecs={}),
        lambda spec: spec["headGroupSpec"]["rayStartParams"].update({"num-cpus": 0}),
        lambda spec: spec["workerGroupSpecs"][0].pop("groupName"),
        lambda spec: spec["headGroupSpec"]["template"]["spec"].update(containerz=[]),
        lambda spec: spec["headGroupSpec"]["template"]["spec"].pop("containers"),
    ):
        bad = copy.deepcopy(good)
        change(bad["spec"])  # type: ignore[no-untyped-call]
        with pytest.raises(Exception, match=r"(?s)."):
            validate(bad)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_manifests_name_the_ray_of_the_image(path: Path) -> None:
    found = re.findall(r'rayVersion: "(.*)"', path.read_text())
    assert found and set(found) == {version("ray")}


def test_compose_starts_a_head_two_workers_and_the_page() -> None:
    content = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = content["services"]
    assert set(services) == {"head", "worker", "page"}
    assert services["worker"]["deploy"]["replicas"] == 2
    assert (DEPLOY / services["head"]["build"]["context"]).resolve() == ROOT
    published = [port for each in services.values() for port in each.get("ports", [])]
    assert published == ["127.0.0.1:8000:8000"]  # nothing else is reachable from outside
    assert all(each["image"] == "rookery" for each in services.values())


def test_the_page_is_served_before_the_first_run(tmp_path: Path) -> None:
    content = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    words = shlex.split(content["services"]["page"]["command"])[1:]
    words[words.index("--host") + 1], words[words.index("--port") + 1] = "127.0.0.1", "0"
    page = subprocess.Popen(
        [sys.executable, "-m", "rookery.cli", *words, "--games", str(tmp_path / "games")],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert page.stdout is not None
        assert page.stdout.readline().startswith("Rookery is at http://127.0.0.1:")
    finally:
        page.terminate()
        page.wait(20)


def test_every_rookery_command_in_the_files_exists() -> None:
    text = "".join(path.read_text() for path in [DEPLOY / "compose.yaml", *MANIFESTS])
    joined = re.sub(r"\\\n#?\s*", "", text)
    found = re.findall(r"rookery (train|resume|play|watch|doctor)( [^\n'|&#]*)?", joined)
    assert {command for command, _ in found} >= {"train", "resume", "play"}
    for command, words in found:
        make_parser([command]).parse_args([command, *shlex.split(words)])


def test_the_image_is_built_from_files_that_exist() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    for sources in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE):
        for source in sources.split():
            assert (ROOT / source).exists(), source
    extras = re.findall(r"requirements\.py ([a-z ]+) >", text)[0].split()
    project = (ROOT / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras)
    assert "ROOKERY_PORTABLE=ON" in text and "USER rookery" in text
