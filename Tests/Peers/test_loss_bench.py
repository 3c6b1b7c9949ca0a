"""What tools/bench-loss finds out about a lossy line: its figures, its table, and the servers that it compares with."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from bench_support import start_camera, stop
from loss_figures import received, table
from loss_peers import PEERS
from peers import scripts
from peers.chromium import launch_inside, open_page
from peers.lossy_line import LossyLine
from peers.viewer import Reception, viewing
from playwright.sync_api import Playwright

RATE = 15


NOTHING = Reception(
    framesDecoded=0, keyFramesDecoded=0, packetsLost=0, bytesReceived=0, totalAudioEnergy=0, totalSamplesReceived=0,
    concealedSamples=0, codec="", width=0, address="", port=0, gatewayAddress="", protocol="", freezeCount=0,
    totalFreezesDuration=0, totalInterFrameDelay=0, timestamp=0,
)  # fmt: skip
BEGIN = replace(NOTHING, framesDecoded=100, totalInterFrameDelay=6.6, timestamp=1_000, totalSamplesReceived=48_000)


@pytest.fixture
def owned() -> Iterator[list[Popen[Any]]]:
    processes: list[Popen[Any]] = []
    yield processes
    stop(processes)


def test_a_freeze_that_is_not_over_is_counted() -> None:
    end = replace(
        BEGIN, framesDecoded=175, freezeCount=1, totalFreezesDuration=0.5, totalInterFrameDelay=12.6, timestamp=11_000,
        totalSamplesReceived=528_000, concealedSamples=12_000,
    )  # fmt: skip
    figures = received([BEGIN], [end], RATE, 30)
    # Of the ten seconds, pictures came in six.
    assert (figures["freezes"], figures["frozenSeconds"]) == (2, 4.5)
    assert (figures["expected"], figures["decoded"], figures["concealed"]) == (150, 0.5, 0.025)


def test_the_time_since_the_last_picture_is_not_a_freeze() -> None:
    end = replace(BEGIN, framesDecoded=250, totalInterFrameDelay=16.5, timestamp=11_000)
    figures = received([BEGIN], [end], RATE, 30)
    assert (figures["decoded"], figures["freezes"], figures["frozenSeconds"]) == (1, 0, 0)


def test_a_server_without_picture_and_sound_has_figures() -> None:
    figures = received([NOTHING] * 2, [NOTHING] * 2, RATE, 30)
    assert (figures["expected"], figures["decoded"], figures["frozenSeconds"]) == (450, 0, 60)
    assert (figures["concealed"], figures["fairness"]) == (None, None)


def test_two_viewers_that_get_the_same_rate_are_treated_fairly() -> None:
    ends = [replace(BEGIN, bytesReceived=count, timestamp=11_000) for count in (1_000_000, 1_000_000)]
    assert received([BEGIN] * 2, ends, RATE, 30)["rates"] == [0.8, 0.8]
    assert received([BEGIN] * 2, ends, RATE, 30)["fairness"] == 1
    unfair = [replace(BEGIN, bytesReceived=count, timestamp=11_000) for count in (1_000_000, 0)]
    assert received([BEGIN] * 2, unfair, RATE, 30)["fairness"] == 0.5


def test_the_table_has_a_dash_for_what_was_not_measured() -> None:
    figures = {"decoded": 0.9912, "freezes": 3, "frozenSeconds": 1.2, "concealed": None, "megabitsOnTheWire": 2.61}
    rows = table([{"server": "janus", "line": "20 % both", **figures}]).splitlines()
    assert rows[2:] == ["| janus | 20 % both | 99.1 % | 3 (1.2) | – | 2.61 | – | – |"]
    assert len({row.count("|") for row in rows}) == 1


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_shows_picture_and_sound_and_repairs_what_is_lost(
    name: str, line: LossyLine, driver: Playwright, owned: list[Popen[Any]], tmp_path: Path
) -> None:
    _, base = start_camera(owned, "--width", 320, "--height", 180, "--key-interval", 2)
    # The peer starts after the line, because it also offers the line's interface.
    peer = PEERS[name](tmp_path, owned, f"{base}/h264", line.host_address)
    browser = launch_inside(driver, line.command_prefix, tmp_path)
    try:
        with (
            open_page(browser, f"http://{line.host_address}:{peer.port}") as page,
            viewing(page, peer.token) as viewer,
        ):
            peer.play(viewer)
            assert viewer.stats().codec == "video/H264"
            line.set(down=5)
            viewer.expect_media()
            assert "a=rtcp-fb:96 nack\r\n" in viewer.call_value("pc.localDescription.sdp")
            assert viewer.stats().gatewayAddress == line.host_address
        assert peer.process.poll() is None
    finally:
        browser.close()


def test_a_server_without_a_picture_is_measured(
    line: LossyLine, driver: Playwright, owned: list[Popen[Any]], tmp_path: Path
) -> None:
    _, base = start_camera(owned)
    peer = PEERS["gstreamer"](tmp_path, owned, f"{base}/missing", line.host_address)
    browser = launch_inside(driver, line.command_prefix, tmp_path)
    try:
        row = scripts.load("bench-loss").measure(peer, line, {"down": 20}, browser, duration=0.5)
    finally:
        browser.close()
    assert (row["decoded"], row["decodedBefore"], row["concealed"]) == (0, 0, None)
    assert "no media of the camera: Not found" in row["problem"]
