"""What tools/bench-page finds out about the page: its figures, its count of stalls, and its probe inside a browser."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_browsers import ChromiumBrowser, FirefoxBrowser, PageBrowser
from page_figures import Figure, line, percentile, table
from page_wall import Cell, watch
from peers.chromium import LONG_START
from peers.firefox import Firefox
from peers.gateway import DOORBELL, Gateway
from peers.namespace import Namespace
from peers.polling import eventually
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Browser

# The large view shows the picture of the wall until it has its own.
LARGE = ".one-camera video:not(.borrowed)"


@pytest.fixture(scope="module")
def house(
    binary: Path, rtsp_cameras: RTSPCameras, namespace: Namespace | None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    # After the namespace: its interface is among those that the gateway offers.
    cameras = [DOORBELL, rtsp_cameras.camera("drive", "h264", transcodeVideo="never")]
    running = Gateway(binary, tmp_path_factory.mktemp("bench"), cameras)
    for camera in cameras:
        running.wait_until_flowing(camera.id)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


@pytest.fixture(scope="module")
def firefox(namespace: Namespace | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    launched = Firefox(tmp_path_factory.mktemp("firefox"), namespace)
    yield launched
    launched.stop()


@pytest.fixture(params=["chromium", "firefox"])
def page_browser(request: pytest.FixtureRequest) -> PageBrowser:
    if request.param == "firefox":
        return FirefoxBrowser(request.getfixturevalue("firefox"))
    return ChromiumBrowser(request.getfixturevalue("browser"))


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(number) for number in range(20, 0, -1)]
    assert [percentile(values, share) for share in (1, 50, 95, 99, 100)] == [1, 10, 19, 20, 20]
    assert percentile([7], 50) == 7


def test_a_table_shows_growth_and_what_was_not_measured() -> None:
    shown = table([Figure("heap", "MiB", [float(number) for number in range(1, 9)]), Figure("held", "ms")], True)
    assert shown.splitlines()[2:] == [
        "| heap, MiB | 8 | 1 | 4 | 8 | 8 | 8 | 1.50 | 7.50 |",
        "| held, ms | 0" + " | –" * 7 + " |",
    ]


def test_a_line_says_what_was_measured() -> None:
    found = json.loads(line("start", {"cameras": 9, "load": "with a cache"}, [Figure("first", "ms", [3, 1])]))
    assert (found["part"], found["cameras"], found["load"]) == ("start", 9, "with a cache")
    assert found["figures"] == [
        {"figure": "first", "unit": "ms", "count": 2, "min": 1, "p50": 1} | dict.fromkeys(("p95", "p99", "max"), 3)
    ]


def look(cell: Cell, frames: int, is_playing: bool = True, is_stalled: bool = False) -> None:
    cell.look({"frames": frames, "isPlaying": is_playing, "isStalled": is_stalled})


def test_a_picture_that_stops_is_unnoticed_only_while_the_page_calls_it_live() -> None:
    cell = Cell()
    look(cell, 100)
    look(cell, 175)
    assert (cell.frames, cell.silent, cell.absent) == (75, 0, 0)
    look(cell, 175)
    assert cell.silent == 1
    # The page says so, and then begins again with a count of its own.
    look(cell, 175, is_stalled=True)
    look(cell, 0, is_playing=False)
    look(cell, 60)
    assert (cell.frames, cell.silent, cell.absent) == (135, 1, 2)


def test_the_probe_sees_what_the_page_shows(house: Gateway, browser: Browser) -> None:
    chromium = ChromiumBrowser(browser)
    origin, token = f"http://127.0.0.1:{house.port}", house.token
    with chromium.visitor(LONG_START) as visitor, visitor.tab() as tab:
        tab.open(f"{origin}/#wall/{DOORBELL.id}&token={token}")

        def first_pictures() -> Any:
            (times,) = tab.evaluate("pageProbe.pictures('.cell video')") or [[]]
            return times if len(times) == 2 else None

        first, second = eventually(first_pictures, "the picture of the wall moves")
        assert 0 < first <= second
        playing = "document.querySelectorAll('.cell.playing').length === 1"
        eventually(lambda: tab.evaluate(playing), "the page says that it plays")

        figures, happened = watch(chromium, tab, house.process.pid, minutes=0.1)
        assert happened["pictures by camera"].keys() == {DOORBELL.id}  # type: ignore[attr-defined]
        assert happened["new connections"] == 0
        found = {figure.name: figure.values for figure in figures}
        assert set(found["live RTCPeerConnections"]) == {1}
        for name in ("JavaScript heap", "memory of the page (PSS)", "memory of the gateway (PSS)", "DOM nodes"):
            assert found[name] and min(found[name]) > 0, name
    with chromium.visitor(LONG_START) as visitor, visitor.tab() as tab:
        tab.open(f"{origin}/#wall/{DOORBELL.id}&token={token}")
        eventually(lambda: tab.evaluate(playing), "the page says that it plays")
        tab.click(".cell-picture", 0)
        start = eventually(lambda: tab.evaluate(f"pageProbe.start('{LARGE}')"), "the large view has a picture")
        assert start["path"] == "webrtc"
        assert 0 < start["asked"] < start["answered"] < start["shown"]
        # The wall's picture is there until then, if the machine is quick enough to show it.
        assert 0 < start["moving"] <= start["shown"]
        assert tab.evaluate("document.querySelector('.borrowed') === null")

        seen = tab.evaluate(f"pageProbe.ages('{LARGE}', 10, 60000)")
        numbers = [one["number"] for one in seen["pictures"]]
        assert len(numbers) == 10 and numbers == sorted(numbers)
        # The picture that is displayed is not older than the connection's whole backlog, and not from the future.
        assert all(one["age"] > 0 for one in seen["pictures"])
        assert seen["unreadable"] == 0


def test_a_click_is_measured_where_the_picture_comes_over_a_websocket(
    house: Gateway, page_browser: PageBrowser
) -> None:
    # Debian's Firefox needs no script: its WebRTC has no H.264.
    lacks = [] if page_browser.name == "firefox" else ["delete globalThis.RTCPeerConnection;"]
    with page_browser.visitor(*lacks) as visitor, visitor.tab() as tab:
        assert tab.evaluate("[innerWidth, innerHeight]") == [1920, 1080]
        tab.open(f"http://{page_browser.host}:{house.port}/#wall/drive&token={house.token}")
        playing = "document.querySelectorAll('.cell.playing').length === 1"
        eventually(lambda: tab.evaluate(playing), "the wall plays")
        tab.click(".cell-picture", 0)
        start = eventually(lambda: tab.evaluate(f"pageProbe.start('{LARGE}')"), "the large view has a picture")
        assert start["path"] == "websocket"
        assert 0 < start["asked"] < start["answered"] < start["shown"]
        # The wall's picture is not lent. Its last one is there until the large view has its own.
        # The probe does not see it if no frame was drawn in between.
        assert start["still"] is None or 0 < start["still"] < start["shown"]
        assert start["shown"] == start["moving"]
        # The next click is measured by itself.
        tab.evaluate("void (location.hash = '#wall/drive')")
        eventually(lambda: tab.evaluate(playing), "the wall plays again")
        tab.click(".cell-picture", 0)
        again = eventually(lambda: tab.evaluate(f"pageProbe.start('{LARGE}')"), "the large view has a picture again")
        assert 0 < again["asked"] < again["answered"] < again["shown"] == again["moving"]


@pytest.mark.parametrize("way", ["pageProbe.forgetHint();", "pageProbe.forgetExtension();"])
def test_a_page_without_a_wish_for_little_delay_plays_all_the_same(house: Gateway, browser: Browser, way: str) -> None:
    with ChromiumBrowser(browser).visitor(LONG_START, way) as visitor, visitor.tab() as tab:
        tab.open(f"http://127.0.0.1:{house.port}/#camera/{DOORBELL.id}&token={house.token}")
        times = "pageProbe.pictures('.one-camera video:not(.borrowed)')[0] ?? []"
        eventually(lambda: len(tab.evaluate(times)) == 2, "the picture moves")
        if "Hint" in way:
            assert not tab.evaluate("pageProbe.hasHint()")
            assert tab.evaluate("pageProbe.agreesOnPlayoutDelay()")
        else:
            assert not tab.evaluate("pageProbe.agreesOnPlayoutDelay()")
