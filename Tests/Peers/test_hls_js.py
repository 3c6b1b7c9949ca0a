"""Low-latency HTTP Live Streaming in hls.js, the player of most web pages."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.gateway import Gateway
from peers.hls_js import playing
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def house(binary: Path, rtsp_cameras: RTSPCameras, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    cameras = [
        rtsp_cameras.camera("drive", "h264"), rtsp_cameras.camera("yard", "aac"),
        rtsp_cameras.camera("gate", "silent"), rtsp_cameras.camera("nursery", "sound"),
    ]  # fmt: skip
    running = Gateway(binary, tmp_path_factory.mktemp("hls.js"), cameras)
    for camera in cameras:
        running.wait_until_flowing(camera.id)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def address(house: Gateway, device: str) -> tuple[str, str]:
    """The gateway's origin, and the address of a camera's playlist with a token that only permits watching."""
    origin = f"http://127.0.0.1:{house.port}"
    token = house.client.viewing_token(f"hls.js {device} {time.monotonic_ns()}", device)
    return origin, f"{origin}/v1/devices/{device}/live.m3u8?token={token}"


# Sound that became Opus, sound as the camera sends it, no sound, and nothing but sound.
@pytest.mark.parametrize(("device", "width"), [("drive", 320), ("yard", 320), ("gate", 320), ("nursery", 0)])
def test_it_plays_parts_of_each_kind_of_camera(house: Gateway, browser: Browser, device: str, width: int) -> None:
    with playing(browser, *address(house, device)) as player:
        state = player.play(6)
    assert not state["errors"]
    assert state["width"] == width
    # The first segments may be whole; what follows is fetched before its segment is complete.
    assert state["parts"] >= 8


def test_parts_bring_it_closer_to_the_camera(house: Gateway, browser: Browser, report: list[str]) -> None:
    """Beside the same player without parts, in the same seconds."""
    origin, playlist = address(house, "drive")
    with playing(browser, origin, playlist) as near, playing(browser, origin, playlist, low_latency=False) as far:
        near.play(8)
        behind, without = far.play(8), near.state
    parts, whole = without["latency"], behind["latency"]
    report.append(
        f"hls.js {without['version']}: {parts:.2f} s behind the newest part with {without['stalls']} stalls, "
        f"{whole:.2f} s and {behind['stalls']} without parts"
    )
    assert behind["parts"] == 0 and behind["segments"] > 0
    assert parts < whole
