"""Cameras that send HLS, MPEG-TS, FLV or RTMP are like any other: viewers see their pictures and hear their sound."""

import json
import random
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeVar

import pytest
from peers.aiortc_viewer import expect_live_view
from peers.coroutines import run
from peers.gateway import Camera, Gateway
from peers.polling import eventually
from peers.ports import free_port
from peers.stream_cameras import H264, FFmpegCamera, FileServer, PlaylistCamera, RTMPServer

Peer = TypeVar("Peer", FFmpegCamera, PlaylistCamera, RTMPServer)


@pytest.fixture(scope="module")
def house(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    def folder(name: str) -> Path:
        return tmp_path_factory.mktemp(name)

    with ExitStack() as running:

        def start(peer: Peer) -> Peer:
            running.callback(peer.stop)
            return peer

        ports: set[int] = set()
        while len(ports) < 6:
            ports.add(free_port())
        web, flash, tcp, udp, mute, group = ports
        rtmp = start(RTMPServer(folder("rtmp")))
        start(rtmp.publish(folder("publisher"), "gate"))
        start(FFmpegCamera(folder("web"), ["-f", "mpegts", "-listen", "1", f"http://127.0.0.1:{web}/live.ts"]))
        start(FFmpegCamera(folder("flash"), ["-f", "flv", "-listen", "1", f"http://127.0.0.1:{flash}/flv"]))
        start(FFmpegCamera(folder("tcp"), ["-f", "mpegts", f"tcp://127.0.0.1:{tcp}?listen=1"]))
        start(FFmpegCamera(folder("udp"), ["-f", "mpegts", f"udp://127.0.0.1:{udp}?pkt_size=1316"]))
        start(FFmpegCamera(folder("group"), ["-f", "mpegts", f"udp://239.1.2.3:{group}?pkt_size=1316&ttl=1"]))
        start(FFmpegCamera(folder("mute"), ["-f", "mpegts", f"udp://127.0.0.1:{mute}?pkt_size=1316"], [*H264, "-an"]))
        cameras = [
            Camera("playlist", start(PlaylistCamera(folder("playlist"), segments_host="localhost")).address),
            Camera("fragments", start(PlaylistCamera(folder("fragments"), fragments=True)).address),
            Camera("web", f"http://127.0.0.1:{web}/live.ts"),
            Camera("flash", f"http://127.0.0.1:{flash}/flv?app=bcs"),
            Camera("tcp", f"tcp://127.0.0.1:{tcp}"),
            Camera("udp", f"udp://127.0.0.1:{udp}"),
            Camera("group", f"udp://239.1.2.3:{group}"),
            Camera("mute", f"udp://127.0.0.1:{mute}"),
            Camera("rtmp", rtmp.address("gate")),
            Camera("rtmps", rtmp.address("gate", secure=True)),
        ]
        gateway = Gateway(binary, folder("house"), cameras)
        yield gateway
        assert gateway.stop() == 0, gateway.process.output()[-4000:]


@pytest.mark.parametrize("camera", ["playlist", "fragments", "web", "flash", "tcp", "udp", "group", "rtmp", "rtmps"])
def test_a_viewer_sees_and_hears_the_camera(house: Gateway, camera: str) -> None:
    house.wait_until_flowing(camera)
    run(lambda: expect_live_view(house.client, camera))


def test_a_camera_without_sound_is_shown(house: Gateway) -> None:
    house.wait_until_flowing("mute")
    run(lambda: expect_live_view(house.client, "mute", sound=False))


def probe(binary: Path, address: str) -> tuple[int, dict[str, object]]:
    result = subprocess.run(
        [str(binary), "camera", "probe", "--json", "--duration", "2", address],
        capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert result.stdout, result.stderr
    return result.returncode, json.loads(result.stdout)


def test_the_probe_says_what_comes_and_what_is_left_out(binary: Path, tmp_path: Path) -> None:
    port = free_port()
    camera = FFmpegCamera(
        tmp_path, ["-f", "mpegts", f"udp://127.0.0.1:{port}?pkt_size=1316"], [*H264, "-c:a", "libmp3lame", "-ac", "1"]
    )
    try:
        code, found = probe(binary, f"udp://127.0.0.1:{port}")
    finally:
        camera.stop()
    assert code == 0
    tracks = found["tracks"]
    assert isinstance(tracks, list)
    assert [(track["codec"], track["width"], track["height"]) for track in tracks] == [("H264", 320, 240)]
    assert any("MP3" in note for note in found["notes"]), found["notes"]  # type: ignore[attr-defined]


def test_an_rtmp_server_that_is_killed_and_comes_back_is_found_again(binary: Path, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("server", "first", "second", "house")]
    for folder in folders:
        folder.mkdir()
    server = RTMPServer(folders[0])
    publisher = server.publish(folders[1], "yard")
    gateway = Gateway(binary, folders[3], [Camera("yard", server.address("yard"))])
    try:
        gateway.wait_until_flowing("yard")
        publisher.stop()
        eventually(lambda: gateway.client.get("/v1/devices/yard")["source"]["state"] != "flowing", "its end is noticed")
        publisher = server.publish(folders[2], "yard")
        gateway.wait_until_flowing("yard")
        run(lambda: expect_live_view(gateway.client, "yard"))
    finally:
        assert gateway.stop() == 0
        publisher.stop()
        server.stop()


# MARK: Hostile servers


def failure_of(binary: Path, address: str) -> str:
    code, found = probe(binary, address)
    assert code == 2 and found["tracks"] == [], found
    return str(found["failure"])


MEDIA = b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n"


@pytest.mark.parametrize(
    "segment",
    ["file:///etc/passwd", "http://169.254.169.254/a.ts", "concat:/etc/passwd|/etc/group", "//169.254.169.254/a.ts"],
)
def test_a_playlist_leads_to_no_file_and_no_other_network(binary: Path, tmp_path: Path, segment: str) -> None:
    body = MEDIA + segment.encode() + b"\n"
    server = FileServer(tmp_path, {"/live.m3u8": (200, {}, body)})
    try:
        failure = failure_of(binary, f"http://127.0.0.1:{server.port}/live.m3u8")
    finally:
        server.stop()
    assert "which is not requested" in failure and set(server.paths) == {"/live.m3u8"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((302, {"Location": "http://169.254.169.254/live.m3u8"}, b""), "leads to http://169.254.169.254/"),
        ((302, {"Location": "file:///etc/passwd"}, b""), "redirects to file:///etc/passwd"),
        ((200, {"Content-Type": "text/html"}, b"<html>no</html>"), "#EXTM3U is missing"),
        ((200, {}, MEDIA + b"a.ts\n" * 400_000), "more at once"),
        ((200, {}, b"#EXTM3U\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key\"\n#EXTINF:1,\na.ts\n"), "(SAMPLE-AES)"),
        ((404, {}, b""), "404"),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_playlist_is_said(
    binary: Path, tmp_path: Path, answer: tuple[int, dict[str, str], bytes], expected: str
) -> None:
    server = FileServer(tmp_path, {"/live.m3u8": answer})
    try:
        assert expected in failure_of(binary, f"http://127.0.0.1:{server.port}/live.m3u8")
    finally:
        server.stop()


class RawServer:
    """Accepts connections, and has `speak` send what it likes on each until the client leaves."""

    def __init__(self, speak: Callable[[socket.socket], None]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._speak = speak
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(60)
            with suppress(OSError):
                self._speak(connection)

    def stop(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)


def test_a_server_that_says_nothing_is_given_up(binary: Path) -> None:
    def speak(connection: socket.socket) -> None:
        connection.recv(1)

    server = RawServer(speak)
    try:
        assert "no picture and no sound for 15 s" in failure_of(binary, f"tcp://127.0.0.1:{server.port}")
    finally:
        server.stop()


@pytest.mark.parametrize("scheme", ["tcp", "rtmp", "flv+http"])
def test_garbage_ends_an_attempt_and_nothing_else(binary: Path, scheme: str) -> None:
    def speak(connection: socket.socket) -> None:
        chance = random.Random(1)
        begin = {
            "tcp": b"",
            "rtmp": b"\x03",
            "flv+http": b"HTTP/1.1 200 OK\r\n\r\nFLV\x01\x05\x00\x00\x00\x09\x00\x00\x00\x00",
        }
        connection.sendall(begin[scheme])
        for _ in range(4_000):
            connection.sendall(chance.randbytes(1_000))

    server = RawServer(speak)
    path = {"tcp": "", "rtmp": "/live/gate", "flv+http": "/live"}[scheme]
    try:
        assert failure_of(binary, f"{scheme}://127.0.0.1:{server.port}{path}")
    finally:
        server.stop()
