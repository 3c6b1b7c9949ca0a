"""Live streams without WebRTC: fragmented MP4 over HTTP and a WebSocket, and JPEG pictures. The viewers are ffprobe,
GStreamer, Chromium with its Media Source Extensions, and a WebSocket client."""

import http.client
import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import open_page
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE, eventually
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Browser
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol


@pytest.fixture(scope="module")
def house(binary: Path, rtsp_cameras: RTSPCameras, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    cameras = [
        DOORBELL, rtsp_cameras.camera("drive", "h264"), rtsp_cameras.camera("yard", "aac"),
        rtsp_cameras.camera("garden", "h265"), rtsp_cameras.camera("nursery", "sound"),
        rtsp_cameras.camera("gate", "silent", substream=rtsp_cameras.address("small")),
    ]  # fmt: skip
    running = Gateway(binary, tmp_path_factory.mktemp("live"), cameras)
    for camera in cameras:
        running.wait_until_flowing(camera.id)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def path(device: str, file: str = "live.mp4", query: str = "") -> str:
    return f"/v1/devices/{device}/{file}{query}"


def probed(house: Gateway, device: str, file: str = "live.mp4", query: str = "", count: int = 30) -> dict[str, int]:
    """The streams that ffprobe finds, by codec, and how many frames of each it decoded."""
    token = house.client.viewing_token(f"probe {device} {time.monotonic_ns()}", device)
    address = f"http://127.0.0.1:{house.port}{path(device, file, query)}{'&' if query else '?'}token={token}"
    done = subprocess.run(
        ["ffprobe", "-v", "error", "-count_frames", "-read_intervals", f"%+#{count}", "-show_entries",
         "stream=codec_name,nb_read_frames", "-of", "json", address],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr.lower(), done.stderr
    return {one["codec_name"]: int(one["nb_read_frames"]) for one in json.loads(done.stdout)["streams"]}


@pytest.mark.parametrize(
    ("device", "codecs"),
    [("drive", {"h264", "opus"}), ("yard", {"h264", "aac"}), ("garden", {"hevc", "aac"}),
     ("front-door", {"vp8", "opus"}), ("gate", {"h264"}), ("nursery", {"opus"})],
)  # fmt: skip
def test_ffprobe_plays_each_kind_of_camera(house: Gateway, device: str, codecs: set[str]) -> None:
    frames = probed(house, device)
    assert set(frames) == codecs
    assert all(count > 0 for count in frames.values())


def test_an_address_chooses_the_stream_and_the_sound(house: Gateway) -> None:
    assert set(probed(house, "drive", query="?sound=false")) == {"h264"}
    token = house.client.viewing_token("small", "gate")
    address = f"http://127.0.0.1:{house.port}{path('gate', query='?stream=sub')}&token={token}"
    small = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", "stream=width", "-of", "csv=p=0", address],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert 0 < int(small.stdout.strip()) < 320
    for query in ("?stream=third", "?sound=loud"):
        assert house.client.request("GET", path("drive", query=query)).status == 400
    for query in ("?rate=0", "?rate=fast", "?width=1"):
        assert house.client.request("GET", path("drive", "live.mjpeg", query)).status == 400


def test_gstreamer_plays_it(house: Gateway) -> None:
    address = f"http://127.0.0.1:{house.port}{path('drive')}?token={house.client.viewing_token('gstreamer', 'drive')}"
    done = subprocess.run(
        ["gst-launch-1.0", "-q", "souphttpsrc", f"location={address}", "is-live=true", "!", "qtdemux", "!", "h264parse",
         "!", "avdec_h264", "!", "fakesink", "num-buffers=20"],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@contextmanager
def stream(house: Gateway, device: str, token: str | None = None) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", house.port, timeout=PATIENCE)
    connection.request("GET", path(device), headers={"Authorization": f"Bearer {token or house.token}"})
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def test_the_answer_says_what_follows(house: Gateway) -> None:
    with stream(house, "drive") as answer:
        assert answer.status == 200
        kind = answer.headers["Content-Type"]
        assert kind.startswith('video/mp4; codecs="avc1.') and kind.endswith(', opus"')
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.read(8)[4:] == b"ftyp"


@contextmanager
def socket_of(house: Gateway, device: str, token: str | None = None, **options: Any) -> Iterator[ClientConnection]:
    protocols = [Subprotocol(name) for name in ("gatehouse", f"gatehouse.bearer.{token or house.token}")]
    with connect(
        f"ws://127.0.0.1:{house.port}{path(device)}", subprotocols=protocols, max_size=1 << 24, proxy=None, **options
    ) as connection:  # fmt: skip
        yield connection


def closed_with(connection: ClientConnection) -> int | None:
    """Reads until the gateway closes the connection, and returns its code."""
    try:
        while True:
            connection.recv(PATIENCE)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None


def boxes(message: bytes) -> list[bytes]:
    found = []
    while message:
        found.append(message[4:8])
        message = message[int.from_bytes(message[:4], "big") :]
    return found


def test_a_websocket_brings_the_same(house: Gateway, tmp_path: Path) -> None:
    file = tmp_path / "live.mp4"
    with socket_of(house, "drive") as connection:
        assert connection.subprotocol == "gatehouse"
        words = json.loads(connection.recv(PATIENCE))
        assert words["type"] == "began" and words["mediaType"].startswith('video/mp4; codecs="avc1.')
        header = connection.recv(PATIENCE, decode=False)
        assert boxes(header) == [b"ftyp", b"moov"]
        chunks = [connection.recv(PATIENCE, decode=False) for _ in range(60)]
    assert all(boxes(chunk)[-2:] == [b"moof", b"mdat"] for chunk in chunks)
    file.write_bytes(header + b"".join(chunks))
    decoded = subprocess.run(
        ["ffmpeg", "-v", "error", "-xerror", "-i", str(file), "-f", "null", "-"], capture_output=True, timeout=PATIENCE
    )
    assert decoded.returncode == 0 and decoded.stderr == b"", decoded.stderr


def test_who_may_not_watch_gets_no_websocket(house: Gateway) -> None:
    for token, status in (("wrong", 401), (house.client.viewing_token("others", "yard"), 404)):
        with pytest.raises(InvalidStatus) as refused, socket_of(house, "drive", token):
            pass
        assert refused.value.response.status_code == status
    address = f"ws://127.0.0.1:{house.port}{path('drive')}"
    # A page of another origin, with the token of an address.
    token = house.client.viewing_token("origin", "drive")
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(f"{address}?token={token}", origin=Origin("https://elsewhere.example"), proxy=None),
    ):
        pass
    assert refused.value.response.status_code == 403
    with connect(f"{address}?token={token}", proxy=None) as connection:
        assert json.loads(connection.recv(PATIENCE))["type"] == "began"


def test_a_connection_becomes_a_websocket_after_other_requests(house: Gateway) -> None:
    """Clients with a pool of connections take one that has served requests."""
    with socket.create_connection(("127.0.0.1", house.port), timeout=PATIENCE) as plain:
        for _ in range(2):
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: gateway\r\n\r\n")
            answer = b""
            while b"\r\n\r\n" not in answer:
                answer += plain.recv(4096)
            assert answer.startswith(b"HTTP/1.1 200")
        with socket_of(house, "drive", sock=plain) as connection:
            assert json.loads(connection.recv(PATIENCE))["type"] == "began"


def test_rules_of_websockets_are_kept(house: Gateway) -> None:
    with socket_of(house, "drive") as connection:
        pong = connection.ping(b"still there?")
        assert pong.wait(PATIENCE)
    with socket_of(house, "drive") as connection:
        connection.send("x" * 2_000)
        assert closed_with(connection) == 1009
    head = (
        f"GET {path('drive')} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer {house.token}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    )
    for rest, status in (
        ("Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", 426),
        ("Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n", 400),
        ("Sec-WebSocket-Version: 13\r\n\r\n", 400),
    ):
        with socket.create_connection(("127.0.0.1", house.port), timeout=PATIENCE) as plain:
            plain.sendall((head + rest).encode())
            assert plain.recv(64).startswith(f"HTTP/1.1 {status}".encode())
    # A frame of a client that is not masked (RFC 6455, section 5.1).
    with socket.create_connection(("127.0.0.1", house.port), timeout=PATIENCE) as plain:
        plain.sendall(
            (head + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode()
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += plain.recv(1)
        # The key of the example in RFC 6455, section 1.3.
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in answer
        plain.sendall(b"\x81\x02hi")
        received = b""
        while part := plain.recv(65_536):
            received += part
        assert b"\x88" in received and (1002).to_bytes(2, "big") in received


PLAYER = """async ([address, token]) => {
    const video = document.createElement('video');
    video.muted = true;
    document.body.append(video);
    const source = new MediaSource();
    video.src = URL.createObjectURL(source);
    await new Promise(done => source.addEventListener('sourceopen', done, {once: true}));
    const socket = new WebSocket(address, ['gatehouse', 'gatehouse.bearer.' + token]);
    socket.binaryType = 'arraybuffer';
    const queue = [];
    let buffer;
    const feed = () => {
        if (buffer && !buffer.updating && queue.length) buffer.appendBuffer(queue.shift());
        if (buffer && buffer.buffered.length && video.paused) {
            video.currentTime = buffer.buffered.start(0);
            video.play();
        }
    };
    window.live = {video, socket, type: null, protocol: () => socket.protocol, closed: null};
    socket.onclose = event => { window.live.closed = event.code; };
    socket.onmessage = ({data}) => {
        if (typeof data === 'string') {
            window.live.type = JSON.parse(data).mediaType;
            buffer = source.addSourceBuffer(window.live.type);
            buffer.onupdateend = feed;
            return;
        }
        queue.push(data);
        feed();
    };
}"""


@pytest.mark.parametrize("device", ["drive", "gate"])
def test_chromium_plays_it_by_media_source_extensions(
    house: Gateway, browser: Browser, device: str, report: list[str]
) -> None:
    with open_page(browser, f"http://127.0.0.1:{house.port}") as opened:
        opened.page.evaluate(PLAYER, [f"ws://127.0.0.1:{house.port}{path(device)}", house.token])
        eventually(lambda: opened.page.evaluate("window.live.video.videoWidth") == 320, "there are pictures")
        begun = opened.page.evaluate("window.live.video.currentTime")
        eventually(lambda: opened.page.evaluate("window.live.video.currentTime") > begun + 3, "it plays")
        assert opened.page.evaluate("window.live.protocol()") == "gatehouse"
        behind = opened.page.evaluate("(v => v.buffered.end(v.buffered.length - 1) - v.currentTime)(window.live.video)")
        assert opened.page.evaluate("window.live.video.error") is None
        report.append(f"MSE, {device}: {behind * 1000:.0f} ms of {opened.page.evaluate('window.live.type')} buffered")


def test_chromium_shows_the_pictures_of_an_image(house: Gateway, browser: Browser) -> None:
    with open_page(browser, f"http://127.0.0.1:{house.port}") as opened:
        token = house.client.viewing_token("image", "drive")
        opened.page.evaluate(
            """address => {
                window.picture = new Image();
                window.picture.src = address;
                document.body.append(window.picture);
            }""",
            path("drive", "live.mjpeg", f"?rate=5&width=160&token={token}"),
        )
        eventually(lambda: opened.page.evaluate("window.picture.naturalWidth") == 160, "there are pictures")


def test_ffprobe_reads_the_pictures(house: Gateway) -> None:
    assert probed(house, "garden", "live.mjpeg", "?rate=10", count=5)["mjpeg"] >= 3


def playlist(house: Gateway, device: str, query: str = "") -> str:
    answer = house.client.request("GET", path(device, "live.m3u8", query))
    assert answer.status == 200, answer.text
    assert answer.headers["content-type"] == "application/vnd.apple.mpegurl"
    return answer.text


@pytest.mark.parametrize(("device", "codecs"), [("drive", {"h264", "opus"}), ("garden", {"hevc", "aac"})])
def test_players_of_playlists_play_it(house: Gateway, device: str, codecs: set[str]) -> None:
    frames = probed(house, device, "live.m3u8", count=60)
    assert set(frames) == codecs
    assert all(count > 0 for count in frames.values())


def test_gstreamer_plays_the_playlist(house: Gateway, tmp_path: Path) -> None:
    address = (
        f"http://127.0.0.1:{house.port}{path('drive', 'live.m3u8')}?token={house.client.viewing_token('hls', 'drive')}"
    )
    # A sink that wants no more does not end the demultiplexer of a playlist without an end.
    player = subprocess.Popen(
        ["gst-launch-1.0", "-q", "souphttpsrc", f"location={address}", "!", "hlsdemux", "!", "qtdemux", "!",
         "h264parse", "!", "avdec_h264", "!", "multifilesink", f"location={tmp_path}/%d.raw"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        eventually(lambda: player.poll() is not None or len(list(tmp_path.iterdir())) >= 20, "twenty pictures")
        assert player.poll() is None, player.communicate()[1]
    finally:
        player.kill()
        player.wait(PATIENCE)


def test_a_playlist_waits_for_what_is_asked_for(house: Gateway) -> None:
    def ask() -> tuple[str, str, str] | None:
        """Asks for the announced part, and returns the answer, the part's file and its segment. Returns None if that
        took too long: a playlist names the parts of the newest three segments only."""
        text = playlist(house, "drive", "?sound=false")
        hint = next(line for line in text.splitlines() if line.startswith("#EXT-X-PRELOAD-HINT"))
        file = hint.split('URI="')[1].rstrip('"')
        assert file.endswith("?sound=false")
        segment, part = file.removeprefix("live/").split(".")[:2]
        later = playlist(house, "drive", f"?sound=false&_HLS_msn={segment}&_HLS_part={part}")
        named = [int(number) for number in re.findall(r'#EXT-X-PART:.*URI="live/(\d+)\.', later)]
        return (later, file, segment) if not named or min(named) <= int(segment) else None

    later, file, segment = eventually(ask, "the segment that was asked for is among the newest")
    assert f'URI="{file}"' in later and "EXT-X-PART" in later
    # The part that was only announced is there, and so is the header.
    header = next(line.split('"')[1] for line in later.splitlines() if line.startswith("#EXT-X-MAP"))
    whole = b""
    for name in (header, file):
        answer = house.client.request("GET", f"/v1/devices/drive/{name}")
        assert answer.status == 200 and answer.headers["content-type"] == "video/mp4"
        whole += answer.body
    assert boxes(whole)[:2] == [b"ftyp", b"moov"] and boxes(whole)[-1] == b"mdat"
    # What is announced now is sent when it is made.
    hint = next(line for line in later.splitlines() if line.startswith("#EXT-X-PRELOAD-HINT"))
    answer = house.client.request("GET", "/v1/devices/drive/" + hint.split('URI="')[1].rstrip('"'))
    assert answer.status == 200 and answer.body
    for wrong in ("?_HLS_part=1", "?_HLS_msn=x", f"?_HLS_msn={int(segment) + 100}"):
        assert house.client.request("GET", path("drive", "live.m3u8", wrong)).status == 400
    for wrong in ("init-99.mp4", "9999.m4s", "0.999.m4s", "x.m4s"):
        assert house.client.request("GET", path("drive", f"live/{wrong}")).status == 404


def test_a_playlist_of_a_camera_that_is_off_says_so(house: Gateway) -> None:
    text = playlist(house, "gate")
    files = [line.split('"')[1] for line in text.splitlines() if line.startswith("#EXT-X-PART:")]

    def switch(status: str) -> None:
        answer = house.client.command(
            "gate", "PushAvStreamTransport", "setTransportStatus", {"transportStatus": status}
        )
        assert answer.status == 200, answer.text

    switch("inactive")
    try:
        for file in ("live.m3u8", *files):
            answer = house.client.request("GET", path("gate", file))
            assert answer.status == 409 and "off" in answer.text, answer.text
    finally:
        switch("active")
    eventually(lambda: house.client.request("GET", path("gate", "live.m3u8")).status == 200, "it plays again")


def test_taking_a_link_back_ends_its_streams(house: Gateway) -> None:
    token = house.client.viewing_token("guest", "drive")
    with stream(house, "drive", token) as answer, socket_of(house, "drive", token) as connection:
        assert answer.read(1_000) and connection.recv(PATIENCE)
        held = next(one for one in house.client.get("/v1/tokens")["tokens"] if one["name"] == "guest")
        assert house.client.request("DELETE", f"/v1/tokens/{held['id']}").status == 204
        assert closed_with(connection) is not None
        # Reads until the end, which comes now.
        answer.read()


def test_a_principal_has_its_share_of_places(house: Gateway) -> None:
    token = house.client.viewing_token("many", "drive")
    opened = []
    try:
        for _ in range(16):
            connection = http.client.HTTPConnection("127.0.0.1", house.port, timeout=PATIENCE)
            connection.request("GET", path("drive"), headers={"Authorization": f"Bearer {token}"})
            opened.append(connection)
            assert connection.getresponse().status == 200
        refused = house.client.request("GET", path("drive"), token=token)
        assert refused.status == 429 and "share" in refused.text
    finally:
        for connection in opened:
            connection.close()
    # Places are free again when the connections have gone.
    eventually(lambda: is_served(house, token), "there is a place again")


def is_served(house: Gateway, token: str) -> bool:
    with stream(house, "drive", token) as answer:
        return answer.status == 200


def test_a_client_that_reads_nothing_does_not_hold_up_others(house: Gateway) -> None:
    slow = http.client.HTTPConnection("127.0.0.1", house.port, timeout=PATIENCE)
    slow.connect()
    slow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.request("GET", path("drive"), headers={"Authorization": f"Bearer {house.token}"})
    assert slow.getresponse().status == 200
    # Others are served meanwhile.
    with socket_of(house, "drive") as connection:
        for _ in range(50):
            connection.recv(PATIENCE)
    slow.close()


def test_a_camera_without_media_says_so(house: Gateway) -> None:
    assert house.client.request("GET", path("nobody")).status == 404


@pytest.mark.parametrize(
    ("file", "kind"),
    [("snapshot.jpg", "image/jpeg"), ("live.mp4", "video/mp4"), ("live.m3u8", "application/vnd.apple.mpegurl"),
     ("live.mjpeg", "multipart/x-mixed-replace; boundary=gatehouse")],
)  # fmt: skip
def test_a_player_that_asks_for_the_headers_gets_them(house: Gateway, file: str, kind: str) -> None:
    token = house.client.viewing_token(f"head {file} {time.monotonic_ns()}", "drive")
    for query, own in ((f"?token={token}", None), ("", "")):
        answer = house.client.request("HEAD", path("drive", file, query), token=own)
        assert answer.status == 200 and answer.body == b"", answer.text
        assert answer.headers["content-type"] == kind
        assert answer.headers["cache-control"] == "no-store"
        assert ("content-length" in answer.headers) == (file == "snapshot.jpg")
    assert house.client.request("HEAD", path("drive", file), token=None).status == 401


def test_two_requests_for_headers_share_a_connection(house: Gateway) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", house.port, timeout=PATIENCE)
    try:
        for method in ("HEAD", "HEAD", "GET"):
            connection.request(method, path("drive", "live.m3u8"), headers={"Authorization": f"Bearer {house.token}"})
            answer = connection.getresponse()
            assert answer.status == 200
            assert (answer.read() == b"") == (method == "HEAD")
    finally:
        connection.close()


def test_a_camera_that_fails_says_why_it_shows_nothing(binary: Path, tmp_path: Path) -> None:
    password = "hush-hush-password"
    shed = Camera("shed", f"rtsp://viewer:{password}@127.0.0.1:9/")
    gateway = Gateway(binary, tmp_path, [shed])
    try:
        with ThreadPoolExecutor() as pool:
            answers = pool.map(
                lambda file: gateway.client.request("GET", path("shed", file)), ("live.mp4", "live.m3u8")
            )
            for answer in answers:
                assert answer.status == 503, answer.text
                assert "shed has sent nothing that can be shown for 15 s: " in answer.text
                assert "refused" in answer.text and password not in answer.text
    finally:
        assert gateway.stop() == 0, gateway.process.output()[-4000:]


def test_streams_of_a_camera_that_goes_end(binary: Path, tmp_path: Path) -> None:
    """Nothing would ever come again, and a player that waits for it holds a place."""
    cameras = [DOORBELL, Camera("porch")]
    gateway = Gateway(binary, tmp_path, cameras)
    try:
        gateway.wait_until_flowing("porch")
        playlist(gateway, "porch")
        with stream(gateway, "porch", gateway.token) as answer, socket_of(gateway, "porch") as connection:
            assert answer.read(1_000) and connection.recv(PATIENCE)
            gateway.write_config(cameras[:1])
            # Both read until the end.
            answer.read()
            assert closed_with(connection) is not None
        eventually(lambda: gateway.client.request("GET", path("porch")).status == 404, "it is gone")
        gateway.write_config(cameras)
        eventually(lambda: gateway.client.request("GET", "/v1/devices/porch").status == 200, "it is back")
        gateway.wait_until_flowing("porch")
        assert set(probed(gateway, "porch")) == {"vp8", "opus"}
    finally:
        assert gateway.stop() == 0, gateway.process.output()[-4000:]
