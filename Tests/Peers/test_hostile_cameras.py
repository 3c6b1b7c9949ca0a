"""Cameras that answer in every way that could fill memory, end the process, garble a terminal or lead elsewhere."""

import base64
import re
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from peers.gateway import DOORBELL, Camera, Gateway
from peers.listener import Listener
from peers.polling import eventually

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\x08\x08\u202eevil"
HEAD = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns={title}\r\nt=0 0\r\n"
VIDEO = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n{more}"


def sps(width: int, height: int) -> str:
    """A sequence parameter set of Baseline with these dimensions in macroblocks less one, as base64."""

    def golomb(value: int) -> str:
        bits = f"{value + 1:b}"
        return "0" * (len(bits) - 1) + bits

    bits = golomb(0) + golomb(0) + golomb(2) + golomb(1) + "0" + golomb(width) + golomb(height) + "11001"
    bits += "0" * (-len(bits) % 8)
    return base64.b64encode(b"\x67\x42\x00\x1e" + int(bits, 2).to_bytes(len(bits) // 8)).decode()


def described(title: str = "x", more: str = "", media: str = "") -> str:
    return HEAD.format(title=title) + (media or VIDEO.format(more=more))


KINDS: dict[str, str] = {
    "loop": "",
    "words": "",
    "endless-head": "",
    "endless-interleaved": "",
    "far-channels": described(),
    "negative-channels": described(),
    "title": described(title=ESCAPES, more=f"i={ESCAPES}\r\na=tool:{ESCAPES}\r\na=fmtp:96 x={ESCAPES}\r\n"),
    "codec": described(media=f"m=video 0 RTP/AVP 96\r\na=rtpmap:96 {ESCAPES}/90000\r\na=control:track1\r\n"),
    "sections": described(media=VIDEO.format(more="") * 10_000),
    "attributes": described(more="a=x:y\r\n" * 100_000),
    "huge-sps": described(
        more=f"a=fmtp:96 packetization-mode=1;sprop-parameter-sets={sps(0xFFFFFFF0, 0xFFFFFFF0)},aM4=\r\n"
    ),
    "long-sps": described(more=f"a=fmtp:96 packetization-mode=1;sprop-parameter-sets={'Z' * 400_000},aM4=\r\n"),
    "large-sps": described(more=f"a=fmtp:96 packetization-mode=1;sprop-parameter-sets={sps(4_000, 4_000)},aM4=\r\n"),
}


class Cameras:
    """One listener; the path of the URL says how the camera behaves."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._listener = Listener(self._talk)
        self.port = self._listener.port

    def _talk(self, connection: socket.socket) -> None:
        while not self._listener.is_stopping.is_set():
            request = connection.recv(65536).decode(errors="replace")
            if not request:
                return
            self._answer(connection, request)

    def _answer(self, connection: socket.socket, request: str) -> None:
        found = re.match(r"(\w+) rtsp://[^/]*/([\w-]+)", request)
        sequence = re.search(r"(?i)^cseq: *(\d+)", request, re.MULTILINE)
        method, kind = (found[1], found[2]) if found else ("", "")
        number = sequence[1] if sequence else "1"
        self.asked[kind] += 1

        def send(head: str, body: str = "") -> None:
            content = body.encode()
            length = f"Content-Type: application/sdp\r\nContent-Length: {len(content)}\r\n" if body else ""
            connection.sendall(f"RTSP/1.0 {head}\r\nCSeq: {number}\r\n{length}\r\n".encode() + content)

        if kind == "loop":
            return send(f"302 Found\r\nLocation: rtsp://127.0.0.1:{self.port}/loop")
        if kind == "words":
            return send(f'453 {ESCAPES}\r\nServer: {ESCAPES}\r\nWWW-Authenticate: Basic realm="{ESCAPES}"')
        if kind == "endless-head":
            for _ in range(2_000):
                connection.sendall(b"RTSP/1.0 200 OK\r\n" + b"X: " + b"y" * 60_000 + b"\r\n")
        if kind == "endless-interleaved":
            for _ in range(500):
                connection.sendall((b"$\x09\xff\xff" + bytes(65_535)) * 2)
        if method == "SETUP" and kind.endswith("-channels"):
            channels = "254-256" if kind.startswith("far") else "-1--2"
            return send(f"200 OK\r\nSession: 1\r\nTransport: RTP/AVP/TCP;unicast;interleaved={channels}")
        if method == "SETUP":
            return send(
                "200 OK\r\nSession: 1;timeout=99999999999999999999\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1"
            )
        send("200 OK" + ("\r\nPublic: DESCRIBE, SETUP, PLAY" if method == "OPTIONS" else ""),
             KINDS[kind] if method == "DESCRIBE" and kind in KINDS else "")  # fmt: skip
        return None

    def stop(self) -> None:
        self._listener.stop()


@pytest.fixture(scope="module")
def cameras() -> Iterator[Cameras]:
    running = Cameras()
    yield running
    running.stop()


def unprintable(text: str) -> list[str]:
    return sorted(
        {one for one in text if (ord(one) < 32 and one not in "\n\t") or 127 <= ord(one) < 160 or one == "\u202e"}
    )


def test_a_probe_ends_and_reports_it_in_plain_text(binary: Path, cameras: Cameras) -> None:
    def probe(kind: str) -> tuple[str, subprocess.CompletedProcess[bytes]]:
        address = f"rtsp://127.0.0.1:{cameras.port}/{kind}"
        command = [str(binary), "camera", "probe", "--duration", "1", address]
        return kind, subprocess.run(command, capture_output=True, timeout=90)

    with ThreadPoolExecutor(5) as pool:
        results = list(pool.map(probe, KINDS))
    for kind, result in results:
        output = (result.stdout + result.stderr).decode()
        assert result.returncode in (0, 1, 2), f"{kind}: {result.returncode} {output[-2000:]}"
        assert output and not unprintable(output), f"{kind}: {unprintable(output)} in {output[:2000]!r}"
        assert len(output) < 20_000, f"{kind}: {len(output)} characters"


def test_a_gateway_lives_with_all_of_them(binary: Path, cameras: Cameras, tmp_path: Path) -> None:
    hostile = [Camera(f"c-{kind}", f"rtsp://127.0.0.1:{cameras.port}/{kind}") for kind in KINDS]
    before = cameras.asked.copy()
    gateway = Gateway(binary, tmp_path, [DOORBELL, *hostile])
    try:
        gateway.wait_until_flowing("front-door")
        eventually(
            lambda: all(cameras.asked[kind] > before[kind] + 1 for kind in KINDS if not kind.startswith("endless")),
            "each is asked, and asked again",
        )
        listed = gateway.client.request("GET", "/v1/devices").text
        assert not unprintable(listed) and "\\u001b" not in listed.replace("\\\\u001b", "")
        # Damaged video brings no picture, and none of it harms the process or another camera.
        picture = gateway.client.request("GET", "/v1/devices/front-door/snapshot.jpg")
        assert picture.status == 200
        resident = int(Path(f"/proc/{gateway.process.pid}/statm").read_text().split()[1]) * 4_096
        assert resident < 400 << 20
        assert not unprintable(gateway.process.output())
    finally:
        assert gateway.stop() == 0
