"""A viewer made of aiortc: another WebRTC stack than the browsers', with its own SDP, ICE, DTLS, SRTP and decoders."""

import array
import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from aiortc import (
    MediaStreamTrack,
    RTCConfiguration,
    RTCIceServer,
    RTCIceTransportPolicy,
    RTCPeerConnection,
    RTCSessionDescription,
)
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame, VideoFrame

from .client import Client
from .polling import PATIENCE


@dataclass
class Received:
    """What has been decoded so far."""

    frames: int = 0
    width: int = 0
    samples: int = 0
    loudest: int = 0
    """The greatest sample of the sound, 0 to 32,767."""
    failures: list[str] = field(default_factory=list)


class AiortcViewer:
    """Plays one camera by WHEP."""

    def __init__(
        self, client: Client, device: str, servers: list[RTCIceServer] | None = None, relayed: bool = False
    ) -> None:
        """`servers` are STUN and TURN servers; none unless given. With `relayed`, only relayed candidates are used."""
        self._client, self._device = client, device
        policy = RTCIceTransportPolicy.RELAY if relayed else RTCIceTransportPolicy.ALL
        self._connection = RTCPeerConnection(RTCConfiguration(servers or [], policy))
        self._tasks: list[asyncio.Task[None]] = []
        self.resource = ""
        self.answer = ""
        self.received = Received()
        self._connection.on("track", self._add)

    def _add(self, track: MediaStreamTrack) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(self._count(track)))

    async def _count(self, track: MediaStreamTrack) -> None:
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            if isinstance(frame, VideoFrame):
                self.received.frames += 1
                self.received.width = frame.width
            elif isinstance(frame, AudioFrame):
                samples = array.array("h", bytes(frame.planes[0])[: frame.samples * 2 * len(frame.layout.channels)])
                self.received.samples += frame.samples
                self.received.loudest = max(self.received.loudest, max(samples, default=0))

    async def start(self) -> None:
        self._connection.addTransceiver("audio", direction="recvonly")
        self._connection.addTransceiver("video", direction="recvonly")
        await self._connection.setLocalDescription(await self._connection.createOffer())
        offer = self._connection.localDescription.sdp
        answer = await asyncio.to_thread(self._client.whep, self._device, offer)
        assert answer.status == 201, f"{answer.status} {answer.text}"
        self.resource, self.answer = answer.headers["location"], answer.text
        await self._connection.setRemoteDescription(RTCSessionDescription(answer.text, "answer"))

    @property
    def remote_host(self) -> str | None:
        """The gateway's host in the pair that ICE has chosen."""
        ice = self._connection.getReceivers()[0].transport.transport
        pair = ice._connection._nominated.get(1)
        return str(pair.remote_candidate.host) if pair else None

    async def expect_media(
        self, frames: int = 30, within: float = PATIENCE, sound: bool = True, picture: bool = True
    ) -> None:
        """Waits for so many more decoded frames, a second of sound, and something in it to hear, or for one of both."""
        goal = self.received.frames + (frames if picture else 0)
        samples = self.received.samples + 48_000

        def has_enough() -> bool:
            heard = self.received.samples >= samples and self.received.loudest > 300
            return self.received.frames >= goal and (not sound or heard)

        await self._expect(has_enough, f"{frames} frames and sound", within)

    async def expect_width(self, width: int, within: float = PATIENCE) -> None:
        """Waits for a picture of this width."""
        await self._expect(lambda: self.received.width == width, f"a picture {width} wide", within)

    async def _expect(self, condition: Callable[[], bool], what: str, within: float) -> None:
        async def hold() -> None:
            while not condition():
                await asyncio.sleep(0.05)

        try:
            await asyncio.wait_for(hold(), within)
        except TimeoutError:
            state = self._connection.connectionState
            raise AssertionError(f"{what}, within {within:g} s: {self.received}, {state}") from None

    async def packets_lost(self) -> int:
        """Packets of all tracks that never came."""
        report = await self._connection.getStats()
        return sum(one.packetsLost for one in report.values() if one.type == "inbound-rtp")

    async def packets_numbered(self) -> int:
        """Packets of all tracks by their sequence numbers, whether they came or not."""
        report = await self._connection.getStats()
        return sum(one.packetsReceived + one.packetsLost for one in report.values() if one.type == "inbound-rtp")

    async def stop(self) -> None:
        await self._connection.close()
        for task in self._tasks:
            task.cancel()
        if self.resource:
            await asyncio.to_thread(self._client.request, "DELETE", self.resource)


async def expect_live_view(client: Client, device: str, sound: bool = True, picture: bool = True) -> None:
    """Views a camera until pictures and sound have come, and ends the view."""
    viewer = AiortcViewer(client, device)
    try:
        await viewer.start()
        await viewer.expect_media(sound=sound, picture=picture)
    finally:
        await viewer.stop()
