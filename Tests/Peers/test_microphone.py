"""A camera whose microphone is muted, live or in recordings, by its settings."""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from peers.aiortc_viewer import AiortcViewer
from peers.coroutines import run
from peers.gateway import DOORBELL, Gateway
from peers.polling import PATIENCE, eventually

DEVICE = DOORBELL.id
SETTINGS = f"/v1/devices/{DEVICE}/traits/CameraAvStreamManagement"


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[Gateway]:
    gateway = Gateway(binary, tmp_path, [DOORBELL], {"recording": {"trigger": "continuous"}})
    gateway.wait_until_flowing(DEVICE)
    yield gateway
    assert gateway.stop() == 0, gateway.process.output()[-4000:]


def write(house: Gateway, **settings: bool) -> None:
    answer = house.client.request("PATCH", SETTINGS, json.dumps(settings), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.text
    assert {name: answer.json[name] for name in settings} == settings


def packets(house: Gateway, folder: Path, start: datetime, end: datetime) -> dict[str, int]:
    """How many packets of each kind the export of a range holds."""
    times = [moment.isoformat().replace("+00:00", "Z") for moment in (start, end)]
    answer = house.client.request("GET", f"/v1/devices/{DEVICE}/recordings/export.mp4?from={times[0]}&until={times[1]}")
    if answer.status == 404:
        # Nothing has been recorded in the range.
        return {}
    assert answer.status == 200, answer.text
    file = folder / "export.mp4"
    file.write_bytes(answer.body)
    probe = ["ffprobe", "-v", "error", "-count_packets", "-show_streams", "-of", "json", str(file)]
    result = subprocess.run(probe, capture_output=True, text=True, timeout=PATIENCE, check=True)
    streams = json.loads(result.stdout)["streams"]
    return {one["codec_type"]: int(one.get("nb_read_packets", 0)) for one in streams}


def recorded_since(house: Gateway, folder: Path, start: datetime, **least: int) -> dict[str, int]:
    """Waits until more packets of these kinds than so many were recorded after a moment, and counts all of them. How
    long that takes is not known: a camera that gets no processor time leaves pictures out."""

    def find() -> dict[str, int] | None:
        now = datetime.now(UTC)
        found = packets(house, folder, start, now) if now - start > timedelta(seconds=1) else {}
        return found if all(found.get(kind, 0) > count for kind, count in least.items()) else None

    return eventually(find, f"more than {least} packets are recorded since {start}", every=1) or {}


def test_a_recording_has_no_sound_while_that_is_switched_off(house: Gateway, tmp_path: Path) -> None:
    second = timedelta(seconds=1)
    recorded_since(house, tmp_path, datetime.now(UTC), video=20, audio=50)
    write(house, recordingMicrophoneMuted=True)
    muted = datetime.now(UTC) + second
    # Live views keep the sound.
    viewer = AiortcViewer(house.client, DEVICE)

    async def hear() -> None:
        try:
            await viewer.start()
            await viewer.expect_media()
        finally:
            await viewer.stop()

    run(hear)
    silent = recorded_since(house, tmp_path, muted, video=60)
    assert silent.get("audio", 0) == 0, silent
    write(house, recordingMicrophoneMuted=False)
    recorded_since(house, tmp_path, datetime.now(UTC) + 2 * second, video=20, audio=50)


def test_a_muted_microphone_is_silent_everywhere_and_stays_so(house: Gateway) -> None:
    viewer = AiortcViewer(house.client, DEVICE)

    async def listen() -> None:
        try:
            await viewer.start()
            await viewer.expect_media()
            write(house, microphoneMuted=True)
            # What was on its way arrives first. While Python gets no processor time, that is the sound of seconds.
            for _ in range(5):
                samples = viewer.received.samples
                await viewer.expect_media(frames=60, sound=False)
                if viewer.received.samples == samples:
                    break
            assert viewer.received.samples == samples
            write(house, microphoneMuted=False)
            await viewer.expect_media()
        finally:
            await viewer.stop()

    run(listen)
    write(house, microphoneMuted=True)
    assert house.stop() == 0
    house.start()
    assert house.client.get(SETTINGS)["microphoneMuted"] is True
    house.wait_until_flowing(DEVICE)
    muted = AiortcViewer(house.client, DEVICE)

    async def watch() -> None:
        try:
            await muted.start()
            await muted.expect_media(frames=60, sound=False)
            assert muted.received.samples == 0
        finally:
            await muted.stop()

    run(watch)
