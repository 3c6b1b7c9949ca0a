"""A camera that is recorded by the whole gateway: switched off and on, killed, and read back by FFmpeg."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import patient
from peers.firefox import Firefox
from peers.gateway import DOORBELL, Gateway
from peers.polling import PATIENCE, eventually
from peers.ports import free_port
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Browser, expect

DEVICE = DOORBELL.id


def started(binary: Path, rtsp_cameras: RTSPCameras, folder: Path) -> Gateway:
    """A doorbell that is recorded all the time, and an H.264 camera with sound that is recorded on command."""
    return Gateway(
        binary,
        folder,
        [DOORBELL, rtsp_cameras.camera("drive", "h264")],
        {
            "recording": {"trigger": "continuous", "cameras": [{"id": "drive", "trigger": "command"}]},
            "rtsp": {"host": "127.0.0.1", "port": free_port()},
        },
    )


@pytest.fixture
def house(binary: Path, rtsp_cameras: RTSPCameras, tmp_path: Path) -> Iterator[Gateway]:
    gateway = started(binary, rtsp_cameras, tmp_path)
    yield gateway
    gateway.stop()


@pytest.fixture(scope="module")
def recorded(binary: Path, rtsp_cameras: RTSPCameras, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """The same, for the browsers: its oldest recording has ended and has some segments."""
    gateway = started(binary, rtsp_cameras, tmp_path_factory.mktemp("recorded"))
    eventually(lambda: (running(gateway) or {"segments": 0})["segments"] > 6, "it has some segments")
    switch(gateway, "inactive")
    switch(gateway, "active")
    yield gateway
    gateway.stop()


def recordings(house: Gateway, device: str = DEVICE) -> list[dict[str, Any]]:
    """The newest first."""
    return house.client.get(f"/v1/devices/{device}/recordings")["recordings"]


def running(house: Gateway, device: str = DEVICE) -> dict[str, Any] | None:
    return next((one for one in recordings(house, device) if one["isRunning"] and one["segments"] > 1), None)


def switch(house: Gateway, status: str) -> None:
    reply = house.client.command(DEVICE, "PushAvStreamTransport", "setTransportStatus", {"transportStatus": status})
    assert reply.status == 200, reply.text


def test_a_camera_that_is_switched_off_and_on_is_recorded_again(house: Gateway) -> None:
    first = eventually(lambda: running(house), "the doorbell is recorded")
    switch(house, "inactive")
    # Nothing of it leaves or is kept from the moment at which the command has returned.
    ended = next(one for one in recordings(house) if one["id"] == first["id"])
    assert (ended["isRunning"], ended["endReason"]) == (False, "inactive")
    assert house.client.request("GET", f"/v1/devices/{DEVICE}/snapshot.jpg").status == 409
    export = f"/v1/devices/{DEVICE}/recordings/export.mp4?from={first['start']}&until={first['end']}"
    assert house.client.request("GET", export).status == 409
    refused = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", "tcp", reader_address(house)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert refused.returncode != 0 and "403" in refused.stderr
    offer = house.client.command(DEVICE, "WebRtcLiveView", "startLiveView", {"offerSdp": "v=0"})
    assert (offer.status, offer.json["error"]["status"]) == (409, "FAILED_PRECONDITION"), offer.text
    assert [one["id"] for one in recordings(house)] == [first["id"]]

    switch(house, "active")
    again = eventually(lambda: running(house), "the doorbell is recorded again")
    assert again["id"] != first["id"] and again["connectionID"] == 1
    assert house.client.request("GET", export).status == 200


def test_what_was_kept_survives_a_kill(house: Gateway) -> None:
    before = eventually(lambda: running(house), "the doorbell is recorded")
    os.kill(house.process.pid, signal.SIGKILL)
    house.stop()
    house.start()
    eventually(lambda: running(house), "it is recorded again")
    after = next(one for one in recordings(house) if one["id"] == before["id"])
    assert (after["isRunning"], after["endReason"]) == (False, "interrupted")
    # Two roundings of the same time may differ by a microsecond.
    assert after["durationSeconds"] > before["durationSeconds"] - 0.001 and after["bytes"] >= before["bytes"]


def test_chromium_plays_recorded_vp8_on_the_page(recorded: Gateway, browser: Browser) -> None:
    """Chromium plays VP8 in WebM alone, and recordings are MP4."""
    page = patient(browser.new_page())
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"http://127.0.0.1:{recorded.port}/#token={recorded.token}")
    page.get_by_role("button", name="Recordings of Front door").click()
    happenings = page.locator("dialog.recordings .happenings li")
    expect(happenings.last).to_be_visible()
    happenings.last.click()
    video = "document.querySelector('dialog.recordings video')"
    eventually(lambda: page.evaluate(f"{video}.getVideoPlaybackQuality().totalVideoFrames") > 20, "the picture moves")
    shown = page.evaluate(f"[{video}.videoWidth, {video}.videoHeight, {video}.error, {video}.currentTime]")
    page.close()
    assert shown[:3] == [640, 360, None]
    assert not problems


def test_firefox_plays_recorded_vp8_on_the_page(recorded: Gateway, firefox: Firefox, gateway: Gateway) -> None:
    firefox.open(f"http://{firefox.host}:{recorded.port}/#token={recorded.token}")
    try:
        button = "document.querySelector('button[aria-label=\"Recordings of Front door\"]')"
        eventually(lambda: firefox.evaluate(f"{button} !== null"), "the page shows the doorbell")
        firefox.evaluate(f"{button}.click()")
        last = "[...document.querySelectorAll('dialog.recordings .happenings li')].at(-1)"
        eventually(lambda: firefox.evaluate(f"{last} !== undefined"), "the recordings are listed")
        firefox.evaluate(f"({last}.querySelector('button') ?? {last}).click()")
        video = "document.querySelector('dialog.recordings video')"
        moving = f"{video}?.getVideoPlaybackQuality().totalVideoFrames ?? 0"
        eventually(lambda: firefox.evaluate(moving) > 20, "the picture moves")
        shown = firefox.evaluate(f"[{video}.videoWidth, {video}.videoHeight, {video}.error]")
        assert shown == [640, 360, None]
    finally:
        # The other tests of this browser use the page of the gateway that all share.
        firefox.open(f"http://{firefox.host}:{gateway.port}/")


def test_a_command_records_a_camera_with_its_sound(house: Gateway, tmp_path: Path) -> None:
    house.wait_until_flowing("drive")
    # Long enough for some seconds of each track from a camera that stands still meanwhile.
    time_control = {"initialDuration": 8, "augmentationDuration": 1, "maxDuration": 10, "blindDuration": 0}
    reply = house.client.command(
        "drive",
        "PushAvStreamTransport",
        "manuallyTriggerTransport",
        {"connectionID": 1, "activationReason": "userInitiated", "timeControl": time_control},
    )
    assert reply.status == 200, reply.text
    ended = eventually(
        lambda: next((one for one in recordings(house, "drive") if not one["isRunning"]), None), "it ends by itself"
    )
    assert (ended["trigger"]["kind"], ended["endReason"], ended["gaps"]) == ("command", "lengthReached", 0)
    path = f"/v1/devices/drive/recordings/export.mp4?from={ended['start']}&until={ended['end']}"
    (tmp_path / "drive.mp4").write_bytes(house.client.request("GET", path).body)
    shown = ["-show_entries", "stream=codec_name,duration", "-of", "json"]
    report = subprocess.run(
        ["ffprobe", "-v", "error", *shown, tmp_path / "drive.mp4"],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert report.stderr == ""
    streams = {one["codec_name"]: float(one["duration"]) for one in json.loads(report.stdout)["streams"]}
    assert set(streams) == {"h264", "opus"}
    # What a busy machine has not brought when the time is over is not recorded.
    assert abs(max(streams.values()) - ended["durationSeconds"]) < 0.5 and min(streams.values()) > 2, (streams, ended)
    decoded = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", tmp_path / "drive.mp4", "-f", "null", "-"],
        capture_output=True,
        timeout=PATIENCE,
    )
    assert (decoded.returncode, decoded.stderr) == (0, b"")


def reader_address(house: Gateway) -> str:
    port = json.loads(house.config.read_text())["rtsp"]["port"]
    return f"rtsp://viewer:{house.token}@127.0.0.1:{port}/{DEVICE}"
