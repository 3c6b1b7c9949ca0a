"""An app with a camera's live view, as the Home APIs' guide writes it, with aiortc as its peer."""

import asyncio
import fractions
import json
import math
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiortc import MediaStreamTrack, RTCConfiguration, RTCDataChannel, RTCPeerConnection, RTCSessionDescription
from av import AudioFrame
from peers.client import Client, traits_of
from peers.coroutines import run
from peers.gateway import DOORBELL, Gateway
from peers.polling import PATIENCE

DEVICE = "front-door"
LEASE = 300
"""In seconds. It lasts for all that a test does, also on a machine that is busy."""
WAIT = 10
"""So many seconds after the start, or later, an app renews its lease."""
TONE = 1_000


@pytest.fixture(scope="module")
def gateway(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    sections = {"sessions": {"durationSeconds": LEASE}}
    running = Gateway(binary, tmp_path_factory.mktemp("app"), [DOORBELL], sections)
    yield running
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


class Microphone(MediaStreamTrack):
    """A tone in frames of 20 ms."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._position = 0

    async def recv(self) -> AudioFrame:
        await asyncio.sleep(0.02)
        start, self._position = self._position, self._position + 960
        samples = array("h", (int(12_000 * math.sin(math.tau * TONE * n / 48_000)) for n in range(start, start + 960)))
        frame = AudioFrame(format="s16", layout="mono", samples=960)
        frame.planes[0].update(samples.tobytes())
        frame.sample_rate, frame.pts, frame.time_base = 48_000, start, fractions.Fraction(1, 48_000)
        return frame


class App:
    """The part of an app that shows one camera: its offer has no candidates, and it trickles none."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.channel: RTCDataChannel = self.connection.createDataChannel("dataSendChannel")
        self.messages: list[dict[str, Any]] = []
        self.frames = {"audio": 0, "video": 0}
        self.session = ""
        self.duration = 0
        self._tasks: list[asyncio.Task[None]] = []
        self.channel.on("message", lambda text: self.messages.append(json.loads(text)))
        self.connection.on("track", lambda track: self._tasks.append(asyncio.ensure_future(self._count(track))))

    async def _count(self, track: MediaStreamTrack) -> None:
        while True:
            await track.recv()
            self.frames[track.kind] += 1

    async def command(self, trait: str, name: str, **parameters: Any) -> Any:
        answer = await asyncio.to_thread(self.client.command, DEVICE, trait, name, parameters)
        assert answer.status == 200, f"{name}: {answer.status} {answer.text}"
        return answer.json

    async def start(self) -> None:
        self.connection.addTransceiver(Microphone(), direction="sendrecv")
        self.connection.addTransceiver("video", direction="recvonly")
        await self.connection.setLocalDescription(await self.connection.createOffer())
        lines = self.connection.localDescription.sdp.splitlines(keepends=True)
        offer = "".join(line for line in lines if not line.startswith(("a=candidate", "a=end-of-candidates")))
        started = await self.command("WebRtcLiveView", "startLiveView", offerSdp=offer)
        self.session, self.duration = started["mediaSessionId"], started["liveSessionDurationSeconds"]
        await self.connection.setRemoteDescription(RTCSessionDescription(started["answerSdp"], "answer"))

    async def extend(self) -> int:
        result = await self.command("WebRtcLiveView", "extendLiveView", mediaSessionId=self.session)
        return int(result["liveSessionDurationSeconds"])

    async def expect_media(self) -> None:
        """Waits for a few more frames of both kinds."""
        goal = {kind: count + 10 for kind, count in self.frames.items()}
        await until(lambda: all(self.frames[kind] >= goal[kind] for kind in goal), "sound and picture")

    def newest(self, kind: str) -> dict[str, Any]:
        return next((one for one in reversed(self.messages) if one.get("type") == kind), {})

    async def close(self) -> None:
        """Closes the connection, and does not stop the live view."""
        await self.connection.close()
        for task in self._tasks:
            task.cancel()


async def until(holds: Any, what: str) -> None:
    async def wait() -> None:
        while not holds():
            await asyncio.sleep(0.02)

    try:
        await asyncio.wait_for(wait(), PATIENCE)
    except TimeoutError:
        raise AssertionError(f"not within {PATIENCE:g} s: {what}") from None


async def views_talks_and_renews(client: Client) -> None:
    app = App(client)
    try:
        await app.start()
        begun = asyncio.get_running_loop().time()
        assert app.duration == LEASE
        # iOS renews 30 s before the end, Android 5 s before it. LeaseTests has both in virtual time.
        timer = asyncio.create_task(asyncio.sleep(WAIT))
        await app.expect_media()
        await until(lambda: app.newest("session").get("state") == "connected", "the channel tells the session's state")
        before = app.newest("session")["expiresInSeconds"]
        assert 0 < before <= LEASE

        await app.command("WebRtcLiveView", "startTalkback", mediaSessionId=app.session)
        await until(lambda: app.newest("talkback").get("floor") == "you", "the channel tells who talks")

        def is_heard() -> bool:
            reading = client.get(f"/v1/devices/{DEVICE}/speaker")["reading"]
            return reading["rootMeanSquare"] > 0.05 and abs((reading["dominantFrequency"] or 0) - TONE) < 50

        async def heard() -> None:
            while not await asyncio.to_thread(is_heard):
                await asyncio.sleep(0.05)

        await asyncio.wait_for(heard(), PATIENCE)
        await app.command("WebRtcLiveView", "stopTalkback", mediaSessionId=app.session)
        await until(lambda: app.newest("talkback").get("floor") == "free", "the channel tells that nobody talks")

        await timer
        told = sum(one.get("type") == "session" for one in app.messages)
        # The first lease has at most this many seconds left.
        left = LEASE - (asyncio.get_running_loop().time() - begun)
        assert await app.extend() == LEASE
        await until(
            lambda: (
                sum(one.get("type") == "session" for one in app.messages) > told
                and app.newest("session")["expiresInSeconds"] > left
            ),
            "the channel tells the session's longer life",
        )
        await app.expect_media()
        await app.command("WebRtcLiveView", "stopLiveView", mediaSessionId=app.session)
        await until(lambda: app.newest("session").get("state") == "ended", "the channel tells the session's end")
    finally:
        await app.close()


def test_an_app_views_talks_and_renews(gateway: Gateway) -> None:
    gateway.wait_until_flowing(DEVICE)
    run(lambda: views_talks_and_renews(gateway.client))


async def reconnects(client: Client) -> None:
    first, second = App(client), App(client)
    try:
        await first.start()
        await first.expect_media()
        # The app's network has changed: it begins again, and nobody stops the session before.
        await second.start()
        assert second.session != first.session
        await second.expect_media()
        await first.expect_media()
        await first.close()
        left = [second.session]

        def remaining() -> list[str]:
            return [one["mediaSessionId"] for one in client.sessions()]

        async def ended() -> None:
            while await asyncio.to_thread(remaining) != left:
                await asyncio.sleep(0.05)

        await asyncio.wait_for(ended(), PATIENCE)
        await second.expect_media()
        # Stopping what has ended already is not an error.
        await second.command("WebRtcLiveView", "stopLiveView", mediaSessionId=first.session)
        await second.command("WebRtcLiveView", "stopLiveView", mediaSessionId=second.session)
    finally:
        await first.close()
        await second.close()


def test_an_app_reconnects_without_stopping_the_session_before(gateway: Gateway) -> None:
    gateway.wait_until_flowing(DEVICE)
    run(lambda: reconnects(gateway.client))


async def toggles_recording(client: Client) -> None:
    app, again = App(client), App(client)
    try:
        await app.start()
        await app.expect_media()
        await app.command("PushAvStreamTransport", "setTransportStatus", transportStatus="inactive")
        # Nothing leaves a camera that is off, so the channel does not tell it either.
        assert await asyncio.to_thread(client.sessions) == []
        # The guide's order: the app lets its player go afterwards, which stops a session that has ended already.
        await app.command("WebRtcLiveView", "stopLiveView", mediaSessionId=app.session)
        await app.command("PushAvStreamTransport", "setTransportStatus", transportStatus="active")
        await again.start()
        await again.expect_media()
        await again.command("WebRtcLiveView", "stopLiveView", mediaSessionId=again.session)
    finally:
        await app.close()
        await again.close()


def test_an_app_switches_recording_off_and_on(gateway: Gateway) -> None:
    gateway.wait_until_flowing(DEVICE)
    run(lambda: toggles_recording(gateway.client))


def test_an_app_reads_and_writes_the_settings(gateway: Gateway) -> None:
    client = gateway.client
    path = f"/v1/devices/{DEVICE}/traits/CameraAvStreamManagement"
    for value in (True, False):
        answer = client.request(
            "PATCH",
            path,
            json.dumps({"softRecordingPrivacyModeEnabled": value}),
            {"Content-Type": "application/json"},
        )
        assert answer.status == 200, answer.text
        settings = traits_of(client.get(f"/v1/devices/{DEVICE}"))["CameraAvStreamManagement"]
        assert settings["softRecordingPrivacyModeEnabled"] is value
    refused = client.request(
        "PATCH", path, '{"softRecordingPrivacyModeEnabled": 7}', {"Content-Type": "application/json"}
    )
    assert refused.status == 400
