"""What the web server must refuse: hosts, origins, tokens, paths, sizes, absurd wishes."""

from __future__ import annotations

import json
import math
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.paths import PROJECT

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from rookery.web.choices import Choices, run_names
from rookery.web.games.records import game_of_pgn
from rookery.web.serve import Running, listen
from rookery.web.transport.guard import make_access
from rookery.web.transport.outbox import MOST_WAITING, Outbox
from rookery.web.transport.quota import Buckets, Clamps, QuotaError, Rate
from support.web_parts import Client, Seat, server

EVIL = "evil.example"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    runs = tmp_path_factory.mktemp("runs")
    (runs / "good").mkdir()
    (runs / "good" / "recipe.toml").write_text('name = "good"\n')
    with server(runs) as found:
        yield found


@pytest.fixture
def client(running: Running) -> Client:
    visitor = Client(running)
    visitor.hello()
    return visitor


# --- hosts and origins ---

HOSTS = [
    EVIL,
    f"{EVIL}:8000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "",
    "a@127.0.0.1",
]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("path", ["/", "/api/session", "/static/main.js"])
def test_foreign_host_is_refused(client: Client, host: str, path: str) -> None:
    status, _, content = client.ask("GET", path, headers={"Host": host})
    assert status in (400, 403), content  # 400: the server cannot even read such a header


@pytest.mark.parametrize("origin", [f"http://{EVIL}", "null", "http://127.0.0.1:1", "file://"])
def test_foreign_origin_is_refused(client: Client, origin: str) -> None:
    assert client.ask("GET", "/api/session", headers={"Origin": origin})[0] == 403
    for path in ("/api/games", "/api/pgn"):
        assert client.ask("POST", path, {}, {"Origin": origin})[0] == 403
    assert client.ask("DELETE", "/api/library/x", None, {"Origin": origin})[0] == 403


def test_rebound_name_is_refused_although_origin_and_host_agree(client: Client) -> None:
    headers = {"Host": EVIL, "Origin": f"http://{EVIL}"}
    assert client.ask("GET", "/api/session", headers=headers)[0] == 403
    assert client.ask("POST", "/api/games", {}, headers)[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": f"http://{EVIL}"},
        {"Origin": f"http://{EVIL}", "Host": EVIL},
        {"Origin": "null"},
        {},  # a browser always sends one
    ],
)
@pytest.mark.parametrize("analysis", [False, True])
def test_websocket_from_elsewhere_is_refused(
    client: Client, headers: dict[str, str], analysis: bool
) -> None:
    place = "analysis" if analysis else f"games/{client.new_game(player='random')}"
    name, _, port = client.address.partition(":")
    url = f"ws://{headers.get('Host', name)}:{port}/api/{place}/socket"
    origin = headers.get("Origin")
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(
            url,
            sock=socket.create_connection((name, int(port))),
            origin=origin,  # type: ignore[arg-type]
            additional_headers={"Cookie": client.cookie_header()},
        ),
    ):
        pass
    assert refused.value.response.status_code == 403


def test_cross_site_navigation_may_only_open_the_page(client: Client) -> None:
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert client.ask("GET", "/", headers=cross)[0] == 200
    assert client.ask("GET", "/api/session", headers=cross)[0] == 403


# --- changes need the token, and a body that forms cannot send ---


def test_changes_without_token_are_refused(client: Client) -> None:
    game = client.new_game(player="random")
    for token in (None, "", "0" * 64, client.token[:-1]):
        headers = {"X-Rookery-Token": token}
        assert client.ask("POST", "/api/games", {"player": "random"}, headers)[0] == 403
        assert client.ask("POST", "/api/pgn", {"pgn": "1. e4 *"}, headers)[0] == 403
        assert client.ask("DELETE", "/api/library/abcdefgh", headers=headers)[0] == 403
        assert client.ask("DELETE", f"/api/games/{game}", headers=headers)[0] == 403
    assert client.ask("GET", f"/api/games/{game}/pgn")[0] == 200
    assert client.ask("DELETE", f"/api/games/{game}")[0] == 204
    assert client.ask("GET", f"/api/games/{game}/pgn")[0] == 404


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]
)
def test_forms_are_refused(client: Client, kind: str | None) -> None:
    body = b'{"player": "random"}'
    assert client.ask("POST", "/api/games", body, {"Content-Type": kind})[0] == 403


def test_token_of_another_session_is_refused(running: Running, client: Client) -> None:
    other = Client(running)
    other.hello()
    assert other.token != client.token
    headers = {"X-Rookery-Token": other.token}
    assert client.ask("POST", "/api/games", {"player": "random"}, headers)[0] == 403


def test_a_session_cannot_be_made_up(running: Running) -> None:
    visitor = Client(running)
    visitor.cookies["rookery_session"] = "A" * 24 + "." + "b" * 24
    visitor.hello()
    assert not visitor.cookies["rookery_session"].startswith("AAAA")


def test_games_of_others_do_not_exist(running: Running, client: Client) -> None:
    game = client.new_game(player="random")
    other = Client(running)
    other.hello()
    assert other.ask("GET", f"/api/games/{game}/pgn")[0] == 404
    assert other.ask("DELETE", f"/api/games/{game}")[0] == 404
    seat = Seat(other, game)
    with pytest.raises(ConnectionClosed) as closed:
        seat.receive()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008


def test_websocket_without_token_is_closed(client: Client) -> None:
    seat = Seat(client, client.new_game(player="random"), token="wrong")
    with pytest.raises(ConnectionClosed) as closed:
        seat.receive()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008


# --- beyond this machine only with a token ---


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_open_host_without_token_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match="--token"):
        make_access(host, "")
    with pytest.raises(ValueError, match="8 characters"):
        make_access(host, "short")


def test_command_line_refuses_open_host() -> None:
    command = [str(Path(sys.executable).with_name("rookery")), "play", "greedy", "--no-browser"]
    result = subprocess.run(
        [*command, "--host", "0.0.0.0"], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 1
    assert "--token" in result.stderr and len(result.stderr.splitlines()) == 1


def test_access_token_lets_in(tmp_path: Path) -> None:
    with server(tmp_path, host="0.0.0.0", token="open sesame") as open_server:
        visitor = Client(open_server)
        assert visitor.ask("GET", "/")[0] == 401
        assert visitor.ask("GET", "/api/session")[0] == 401
        assert visitor.ask("GET", "/static/main.js")[0] == 401
        assert visitor.ask("GET", "/?token=wrong-word")[0] == 401
        assert visitor.ask("GET", "/?token=open%20sesame")[0] == 303
        assert visitor.ask("GET", "/")[0] == 200
        visitor.hello()
        visitor.new_game(player="random")
        # Numeric addresses are ours when all are listened on; names of others never are.
        assert visitor.ask("GET", "/api/session", headers={"Host": "10.1.2.3"})[0] == 200
        assert visitor.ask("GET", "/api/session", headers={"Host": EVIL})[0] == 403


# --- ids, not paths ---

PATHS = [
    "../../etc/passwd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/etc/passwd",
    "run:../good",
    "run:good/../../x",
    "runs/good",
    "good\x00",
    "uci,command=touch /tmp/owned",
    "human",
    "random,book=/etc/passwd",
    "",
    None,
    7,
    ["random"],
]


@pytest.mark.parametrize("player", PATHS, ids=repr)
def test_players_that_are_not_in_the_list_are_refused(client: Client, player: object) -> None:
    status, _, content = client.ask("POST", "/api/games", {"player": player})
    assert status == 400
    assert "unknown player" in json.loads(content)["error"]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2f..%2fcli.py",
        "/static//etc/passwd",
        "/api/runs/..",
        "/api/runs/%2e%2e%2fgood",
        "/api/runs/..%2f..%2f..%2fetc",
        "/api/runs/good%00",
        "/api/runs/%2Fetc",
        "/api/games/..%2f..%2fx/pgn",
    ],
)
def test_paths_lead_nowhere(client: Client, path: str) -> None:
    status, _, content = client.ask("GET", path)
    assert status in (400, 404)
    assert b"import" not in content and b"root:" not in content


def test_files_are_sent_again_only_if_they_changed(client: Client) -> None:
    path = "/static/main.js"
    status, headers, content = client.ask("GET", path)
    static = PROJECT / "src" / "rookery" / "web" / "static"
    assert (status, content) == (200, (static / "main.js").read_bytes())
    assert headers["content-type"] == "text/javascript; charset=utf-8"
    for name, value in (
        ("If-None-Match", headers["etag"]),
        ("If-Modified-Since", headers["last-modified"]),
    ):
        assert client.ask("GET", path, headers={name: value})[::2] == (304, b"")
    assert client.ask("GET", path, headers={"If-None-Match": '"another"'})[0] == 200
    status, headers, content = client.ask("HEAD", path)
    assert (status, content) == (200, b"") and int(headers["content-length"]) > 0
    assert client.ask("POST", path, {})[0] == 405
    assert client.ask("GET", "/static/blind/viewer.js")[0] == 200
    assert client.ask("GET", "/")[1]["cache-control"] == "no-cache"


def test_links_and_odd_names_are_not_listed(tmp_path: Path) -> None:
    for name in ("good", "odd name", ".hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "recipe.toml").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "good")
    step = tmp_path / "good" / "checkpoints" / "00000007"
    step.mkdir(parents=True)
    (step / "model.safetensors").symlink_to("/etc/passwd")
    assert run_names(tmp_path) == ["good"]
    assert not [name for name in Choices(tmp_path).all() if name.startswith("run:")]
    (step / "model.safetensors").unlink()
    (step / "model.safetensors").write_bytes(b"x")
    assert "run:good@7" in Choices(tmp_path).all()


# --- absurd wishes and too many of them ---


@pytest.mark.parametrize("value", [1e9, 1e12, 10**30, math.inf, -5, 0])
def test_wishes_are_clamped(value: float) -> None:
    clamps = Clamps()
    names = ("movetime", "nodes", "depth", "simulations")
    limits = clamps.limits(dict.fromkeys(names, value))
    for name in names:
        assert 0 < getattr(limits, name) <= getattr(clamps, name)


def test_time_always_ends_a_search() -> None:
    assert Clamps().limits({"nodes": 5}).movetime == Clamps().movetime
    assert Clamps().limits({"nodes": math.nan, "depth": True, "x": 1}).movetime == 1.0


def test_bucket_empties_and_fills() -> None:
    now = [0.0]
    bucket = Buckets("requests", Rate(3, 0.5), lambda: now[0])
    for _ in range(3):
        bucket.take("me")
    with pytest.raises(QuotaError) as refused:
        bucket.take("me")
    assert refused.value.seconds == 2
    bucket.take("somebody else")
    now[0] = 2.0
    bucket.take("me")
    with pytest.raises(QuotaError):
        bucket.take("me")


def test_too_many_games_get_429_with_seconds(client: Client) -> None:
    answers = [client.ask("POST", "/api/games", {"player": "random"}) for _ in range(30)]
    refused = [answer for answer in answers if answer[0] == 429]
    assert [answer[0] for answer in answers[:5]] == [201] * 5
    assert refused
    _, headers, content = refused[0]
    assert int(headers["retry-after"]) >= 1
    assert json.loads(content)["seconds"] == int(headers["retry-after"])


def test_too_many_messages_are_refused(client: Client) -> None:
    seat = client.play(player="random")
    for _ in range(100):
        seat.send({"type": "ping"})
    assert "too many messages" in seat.error()


# --- large and deep bodies ---


def test_large_body_is_refused(client: Client) -> None:
    body = b'{"pgn": "' + b"x" * (1 << 20) + b'"}'
    assert client.ask("POST", "/api/games", body)[0] == 413
    claimed = {"Content-Length": str(50 << 20)}
    assert client.ask("POST", "/api/games", b"{", claimed)[0] == 413


def test_large_body_without_length_is_refused(client: Client) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    body = chunk * 4 + b"0\r\n\r\n"
    assert client.ask("POST", "/api/games", body, {"Transfer-Encoding": "chunked"})[0] == 413


@pytest.mark.parametrize("body", [b"[" * 60000, b"nonsense", b"[]", b"\xff\xfe", b""])
def test_bodies_that_are_no_wishes(client: Client, body: bytes) -> None:
    assert client.ask("POST", "/api/games", body)[0] == 400


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity", "-Infinity"])
def test_numbers_must_be_finite(client: Client, number: str) -> None:
    for name in ("seconds", "increment", "anything"):
        body = f'{{"player": "random", "seconds": 60, "{name}": {number}}}'.encode()
        status, _, content = client.ask("POST", "/api/games", body)
        assert status == 400 and f"{number} is not finite" in json.loads(content)["error"]
    for path in ("/api/pgn", "/api/insight", "/api/insight/tree"):
        assert client.ask("POST", path, f'{{"moves": [{number}]}}'.encode())[0] == 400


def test_numbers_of_messages_must_be_finite(client: Client) -> None:
    seat = client.play(color="watch", white="random", black="random")
    seat.state()
    seat.socket.send('{"type": "pace", "seconds": 1e400}')
    assert "1e400 is not finite" in seat.error()


def test_nested_variations_do_not_recurse() -> None:
    depth = 20000
    game = game_of_pgn("1. e4 " + "(" * depth + "1. d4 " + ")" * depth + " e5 *")
    assert game.moves() == ["e2e4", "e7e5"]
    with pytest.raises(ValueError, match="at most"):
        game_of_pgn("(" * 10**5)


# --- large frames, slow readers ---


def test_large_frame_closes_the_connection(client: Client) -> None:
    seat = client.play(player="random")
    seat.state()
    with pytest.raises(ConnectionClosed) as closed:
        seat.socket.send("x" * (17 << 20))
        while True:
            seat.receive()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009


def test_what_waits_for_a_slow_reader_is_bounded() -> None:
    import asyncio

    class Stuck:
        closed = 0

        async def send_text(self, data: str) -> None:
            await asyncio.sleep(0)
            sent.append(json.loads(data))

        async def close(self, code: int = 1000, reason: str | None = None) -> None:
            self.closed = code

    sent: list[dict[str, object]] = []

    async def scenario() -> int:
        outbox, connection = Outbox(), Stuck()
        for number in range(10_000):
            outbox.replace({"type": "thought", "number": number})
        for _ in range(MOST_WAITING + 1):
            outbox.put({"type": "state"})
        await asyncio.wait_for(outbox.run(connection), 10)
        return connection.closed

    assert asyncio.run(scenario()) == 1013
    assert len(sent) <= 1  # thoughts replace each other, and what is too much is dropped


@pytest.mark.parametrize(
    "text", ["[]", "{", "7", '{"type": "fly"}', '{"type": ["move"]}', "[" * 9999]
)
def test_senseless_messages_leave_the_game_alone(client: Client, text: str) -> None:
    seat = client.play(player="random", color="white")
    before = seat.state()
    seat.socket.send(text)
    assert seat.error()
    after = seat.state()
    assert after["fen"] == before["fen"]


# --- names are text ---


def test_policy_allows_no_inline_script(client: Client) -> None:
    for path in ("/", "/api/session", "/static/main.js", "/nowhere"):
        headers = client.ask("GET", path)[1]
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy
        assert "unsafe-inline" not in policy and "unsafe-eval" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    page = client.ask("GET", "/")[2].decode()
    assert "<script>" not in page and "onclick=" not in page and "style=" not in page


def test_no_script_of_ours_writes_html() -> None:
    static = PROJECT / "src" / "rookery" / "web" / "static"
    for path in static.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, f"{path.name} uses {word}"


def test_names_cannot_break_out_of_pgn_tags(client: Client) -> None:
    game = client.new_game(player="knights", color="white")
    text = client.ask("GET", f"/api/games/{game}/pgn")[2].decode()
    assert '[Black "knights <script>alert(1)</script>"]' in text


@pytest.mark.parametrize("port", [-1, 65536, 99999])
def test_invalid_ports_are_refused(port: int) -> None:
    with pytest.raises(ValueError, match=f"--port {port} is not a port"):
        listen("127.0.0.1", port)
