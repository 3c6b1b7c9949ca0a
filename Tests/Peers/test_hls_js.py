"""Low-latency HTTP Live Streaming in hls.js, the player of most web pages."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.gateway import Gateway
from peers.hls_js import playing
from peers.polling import eventually
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
    errors: list[list[str]] = []

    def plays() -> dict[str, Any] | None:
        """The state of a player that has played for six seconds without an error. One that gets no processor time for
        some seconds may then ask for a part that has left the playlist."""
        with playing(browser, *address(house, device)) as player:
            now = player.play(6)
        errors.append(now["errors"])
        assert all("404" in error for error in now["errors"]), now["errors"]
        return None if now["errors"] else now

    try:
        state = eventually(plays, "hls.js plays without an error")
    except AssertionError as failure:
        raise AssertionError(f"{failure}; {errors}") from None
    assert state["width"] == width
    # The first segments may be whole; what follows is fetched before its segment is complete.
    assert state["parts"] >= 8


def test_parts_bring_it_closer_to_the_camera(house: Gateway, browser: Browser, report: list[str]) -> None:
    """Beside the same player without parts, in the same seconds."""
    origin, playlist = address(house, "drive")
    with playing(browser, origin, playlist) as near, playing(browser, origin, playlist, low_latency=False) as far:
        near.play(8)
        far.play(8)

        def states() -> tuple[dict[str, Any], dict[str, Any]] | None:
            """Of both, once the one with parts is closer. A player that gets no processor time falls behind, and then
            catches up. By chance alone, neither would be half a second closer."""
            with_parts, without = near.state, far.state
            return (with_parts, without) if with_parts["latency"] + 0.5 < without["latency"] else None

        with_parts, without = eventually(states, "the player with parts is closer to the camera")
    report.append(
        f"hls.js {with_parts['version']}: {with_parts['latency']:.2f} s behind the newest part with "
        f"{with_parts['stalls']} stalls, {without['latency']:.2f} s and {without['stalls']} without parts"
    )
    assert without["parts"] == 0 and without["segments"] > 0
