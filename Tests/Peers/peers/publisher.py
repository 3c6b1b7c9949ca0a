"""Publishers: a browser's page with `publisher.js`, and aiortc."""

import asyncio
import fractions
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from av import AudioFrame, VideoFrame

from .client import Client
from .viewer import Page

PUBLISHER = (Path(__file__).parent / "publisher.js").read_text()


class BrowserPublisher:
    def __init__(self, page: Page, token: str) -> None:
        self._page = page
        page.evaluate(
            f"(() => {{ {PUBLISHER}; window.publisher = new GatehousePublisher({json.dumps(token)}); return 0; }})()"
        )

    def call(self, method: str, **options: Any) -> Any:
        argument = json.dumps(options) if options else ""
        return self._page.evaluate(f"window.publisher.{method}({argument})")


@contextmanager
def publishing(page: Page, token: str, device: str, codec: str = "VP8", **options: Any) -> Iterator[BrowserPublisher]:
    """A publisher that ends its session."""
    publisher = BrowserPublisher(page, token)
    try:
        publisher.call("publish", device=device, codec=codec, **options)
        yield publisher
    finally:
        publisher.call("stop")


class Picture(MediaStreamTrack):
    """Grey pictures that grow lighter, fifteen a second."""

    kind = "video"

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    async def recv(self) -> VideoFrame:
        await asyncio.sleep(1 / 15)
        frame = VideoFrame(320, 240, "gray")
        plane = frame.planes[0]
        plane.update(bytes([self._count * 4 % 256]) * plane.buffer_size)
        frame = frame.reformat(format="yuv420p")
        frame.pts, frame.time_base = self._count * 6_000, fractions.Fraction(1, 90_000)
        self._count += 1
        return frame


class Tone(MediaStreamTrack):
    """A square wave of 400 Hz, in frames of 20 ms."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    async def recv(self) -> AudioFrame:
        await asyncio.sleep(0.02)
        frame = AudioFrame(format="s16", layout="mono", samples=960)
        samples = [8_000 if index // 60 % 2 == 0 else -8_000 for index in range(960)]
        frame.planes[0].update(b"".join(one.to_bytes(2, "little", signed=True) for one in samples))
        frame.sample_rate, frame.pts, frame.time_base = 48_000, self._count * 960, fractions.Fraction(1, 48_000)
        self._count += 1
        return frame


@asynccontextmanager
async def aiortc_publishing(client: Client, device: str, silent: bool = False) -> AsyncIterator[str]:
    """Publishes by aiortc while the block runs; gives the session's path."""
    # Without a list it asks a server in the Internet for its address, and waits for that.
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    resource = ""
    try:
        for track in (Picture(),) if silent else (Tone(), Picture()):
            connection.addTransceiver(track, direction="sendonly")
        await connection.setLocalDescription(await connection.createOffer())
        answer = await asyncio.to_thread(client.whip, device, connection.localDescription.sdp)
        # A camera is taken over once a second at most.
        if answer.status == 429:
            await asyncio.sleep(int(answer.headers["retry-after"]))
            answer = await asyncio.to_thread(client.whip, device, connection.localDescription.sdp)
        assert answer.status == 201, f"{answer.status} {answer.text}"
        resource = answer.headers["location"]
        await connection.setRemoteDescription(RTCSessionDescription(answer.text, "answer"))
        yield resource
    finally:
        if resource:
            await asyncio.to_thread(client.request, "DELETE", resource)
        await connection.close()
