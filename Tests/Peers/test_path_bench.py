"""What tools/bench-paths finds out: how soon a view starts on each path, and whether it took that path."""

import dataclasses
import json
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import path_starts
import pytest
from path_kinds import KINDS, Case
from path_networks import GATEWAY, OneHome
from path_starts import DECODED, measure
from peers.namespace import NamespaceUnavailable, inside
from peers.networks import INTERNET, Networks
from playwright.sync_api import Playwright

# A view that takes another path, or a second connection, fails. On a machine that is busy, Chromium makes one.
pytestmark = pytest.mark.alone

ROOT = Path(__file__).parent.parent.parent
KIND = {kind.name: kind for kind in KINDS}
LONGEST = 300
"""Seconds for one run of the script: some views, and a debug build."""


@pytest.fixture
def home(driver: Playwright, tmp_path: Path) -> Iterator[OneHome]:
    with ExitStack() as resources:
        try:
            made = OneHome(resources, driver, tmp_path / "home")
        except NamespaceUnavailable as reason:
            pytest.skip(f"this host gives no networks: {reason}")
        yield made


def test_the_script_measures_a_direct_path_and_one_through_a_turn_server(binary: Path) -> None:
    command = [sys.executable, str(ROOT / "tools/bench-paths"), "--gatehouse", str(binary), "--rounds", "1"]
    done = subprocess.run([*command, "--only", "host,relayed-tls"], capture_output=True, text=True, timeout=LONGEST)
    if "this host gives no networks" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    *each, both = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [one["path"] for one in each] == ["host", "relayed-tls"]
    for one in each:
        assert (one["failed"], one["failures"]) == (0, []), one
        found = {figure["figure"]: figure for figure in one["figures"]}
        assert all(figure["count"] == 1 for figure in found.values()), one
        times = {name: figure["p50"] for name, figure in found.items()}
        assert 0 < times["offer to answer"] < times["offer to shown picture"] < times["navigation to shown picture"]
        assert 0 < times[DECODED] <= times["offer to shown picture"]
        assert 0 < times["gateway: path found"] <= times["gateway: first key frame sent"]
    assert [(figure["figure"], figure["count"]) for figure in both["figures"]] == [("host", 1), ("relayed-tls", 1)]
    assert both["figures"][1]["p95"] == {one["figure"]: one for one in each[1]["figures"]}[DECODED]["p95"]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"path": "relayed"}, "the gateway's session has the path direct, not relayed"),
        ({"pair": {"protocol": frozenset({"ssltcp"})}}, "the browser's candidate pair has another protocol"),
    ],
)
def test_a_view_by_another_path_than_the_intended_one_has_no_times(
    binary: Path, home: OneHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, object], words: str
) -> None:
    monkeypatch.setattr(path_starts, "MOST_FAILURES", 1)
    case = Case(dataclasses.replace(KIND["host"], **other))  # type: ignore[arg-type]
    with home.house(binary, tmp_path / "house", case) as house:
        starts = measure(house, case, rounds=3, chance=random.Random(1))
    assert starts.times == {}
    (failure,) = starts.failures
    assert words in failure


def round_trips(near: str, far: str, address: str) -> tuple[int, int]:
    """How many of a hundred datagrams go from one namespace to another, and how many of the answers come back."""

    def open_socket() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # The last datagram is followed by this silence.
        made.settimeout(1)
        return made

    def received(by: socket.socket) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        with suppress(TimeoutError):
            while len(found) < 100:
                found.append(by.recvfrom(16)[1])
        return found

    with inside(near, open_socket) as sender, inside(far, open_socket) as receiver:
        receiver.bind((address, 0))
        for _ in range(100):
            sender.sendto(b"question", receiver.getsockname())
        arrived = received(receiver)
        for origin in arrived:
            receiver.sendto(b"answer", origin)
        return len(arrived), len(received(sender))


def expect_half(arrived: int, returned: int) -> None:
    # Six times the standard deviation on each side.
    assert 20 < arrived < 80
    assert 2 < returned < arrived


def test_a_lossy_line_in_one_home_loses_datagrams_in_both_directions(home: OneHome) -> None:
    ends = home.links.viewer.name, home.links.gateway.name, GATEWAY
    assert round_trips(*ends) == (100, 100)
    home.lose(50)
    expect_half(*round_trips(*ends))
    home.lose(0)
    assert round_trips(*ends) == (100, 100)


def test_a_router_that_loses_datagrams_loses_them_in_both_directions() -> None:
    try:
        networks = Networks()
    except NamespaceUnavailable as reason:
        pytest.skip(f"this host gives no networks: {reason}")
    try:
        ends = networks.away, networks.internet, INTERNET
        assert round_trips(*ends) == (100, 100)
        networks.away_router.set(loss=50)
        expect_half(*round_trips(*ends))
    finally:
        networks.close()


def test_paths_are_told_apart_by_what_both_ends_say() -> None:
    relay: dict[str, object] = {"local": "relay", "relay": "tls", "remote": "srflx", "protocol": "udp", "port": 8189}
    hello: dict[str, object] = {"local": "prflx", "relay": "", "remote": "host", "protocol": "ssltcp", "port": 443}
    views: dict[str, tuple[str, dict[str, object]]] = {
        "host": ("direct", {"local": "prflx", "relay": "", "remote": "host", "protocol": "udp", "port": 8189}),
        "reflexive": ("reflexive", {"local": "srflx", "relay": "", "remote": "srflx", "protocol": "udp", "port": 8189}),
        "relayed-udp": ("relayed", relay | {"relay": "udp"}),
        "relayed-tcp": ("relayed", relay | {"relay": "tcp"}),
        "relayed-tls": ("relayed", relay),
        "relayed-gateway": ("relayed", {"local": "srflx", "relay": "", "remote": "relay", "protocol": "udp"}),
        "tcp": ("tcp", hello | {"protocol": "tcp", "port": 8189}),
        "tls": ("tcp", hello),
    }
    assert views.keys() == KIND.keys()
    for name, (path, pair) in views.items():
        fitting = [kind.name for kind in KINDS if kind.problem(path, pair) is None]
        assert fitting == [name], (name, fitting)
        assert KIND[name].problem(path, None) and KIND[name].problem(None, pair), name
