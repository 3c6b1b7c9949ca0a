"""Other programs read the gateway's cameras by RTSP: ffmpeg, GStreamer, and some that mean harm."""

import itertools
import json
import random
import re
import socket
import struct
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from peers.gateway import DOORBELL, Camera, Gateway
from peers.gstreamer import play
from peers.memory import own_memory
from peers.polling import PATIENCE, eventually
from peers.ports import free_port, free_port_pair
from peers.processes import OwnedProcess
from peers.rtsp_cameras import RTSPCameras

SECONDS = 4
Packets = dict[str, list[dict[str, str]]]


@pytest.fixture(scope="module")
def rtsp_port() -> int:
    return free_port_pair()


@pytest.fixture(scope="module")
def sharing(
    binary: Path, rtsp_cameras: RTSPCameras, rtsp_port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    running = Gateway(
        binary,
        tmp_path_factory.mktemp("sharing"),
        [DOORBELL, rtsp_cameras.camera("drive", "h264")],
        {"rtsp": {"host": "127.0.0.1", "port": rtsp_port}},
    )
    running.wait_until_flowing("front-door")
    running.wait_until_flowing("drive")
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"
    assert running.token not in running.process.output(), "the token is in the log"


def address(port: int, device: str, password: str) -> str:
    return f"rtsp://anybody:{password}@127.0.0.1:{port}/{device}"


def packets(url: str, transport: str, seconds: float = SECONDS) -> Packets:
    """What ffprobe reads in some seconds, by the kind of track."""
    # It reads until enough time of the stream has passed; a reader that gets nothing is ended.
    result = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", transport, "-read_intervals", f"%+{seconds}",
         "-show_entries", "packet=codec_type,pts_time,size,flags", "-of", "json", url],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr.replace(url, "")
    found: Packets = {"video": [], "audio": []}
    for packet in json.loads(result.stdout)["packets"]:
        # ffmpeg gives no time to the first part of a key frame of several slices.
        if "pts_time" not in packet:
            continue
        found[packet["codec_type"]].append(packet)
    return found


DEVICES, TRANSPORTS = ["front-door", "drive"], ["tcp", "udp"]


@pytest.fixture(scope="module")
def reading(sharing: Gateway, rtsp_port: int) -> Iterator[dict[tuple[str, str], Future[Packets]]]:
    """What ffprobe reads of each camera over each transport, all at the same time."""
    with ThreadPoolExecutor() as pool:
        yield {
            (device, transport): pool.submit(packets, address(rtsp_port, device, sharing.token), transport)
            for device, transport in itertools.product(DEVICES, TRANSPORTS)
        }


# A camera that gets no processor time makes gaps of its own.
@pytest.mark.alone
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("device", DEVICES)
def test_ffmpeg_reads_picture_and_sound(
    reading: dict[tuple[str, str], Future[Packets]], device: str, transport: str
) -> None:
    """VP8 with Opus, and H.264 with PCMA: every frame arrives, and both tracks cover the same time."""
    found = reading[device, transport].result()
    video, sound = found["video"], found["audio"]
    # 15 frames and 50 packets of sound a second; a player begins up to one key-frame interval before the sound.
    assert len(video) >= 15 * SECONDS * 0.9
    assert len(sound) >= 10
    assert "K" in video[0]["flags"], "the first frame is a key frame"
    times = [float(packet["pts_time"]) for packet in video]
    steps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert max(steps) < 0.2, f"frames are missing: {max(steps):.3f} s between two"
    ends = abs(times[-1] - float(sound[-1]["pts_time"]))
    assert ends < 1, f"picture and sound end {ends:.3f} s apart"


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_first_reader_of_a_resting_camera_gets_picture_and_sound(
    binary: Path, rtsp_cameras: RTSPCameras, tmp_path_factory: pytest.TempPathFactory, transport: str
) -> None:
    """Nobody else reads: what a reader waits for must not depend on what the server does for others."""
    port = free_port_pair()
    house = Gateway(
        binary,
        tmp_path_factory.mktemp("resting"),
        [
            rtsp_cameras.camera("drive", "h264", pull="on-demand"),
            Camera("door", type="doorbell", settings={"pull": "on-demand"}),
        ],
        {"rtsp": {"host": "127.0.0.1", "port": port}},
    )
    try:
        for device in ("drive", "door"):
            found = packets(address(port, device, house.token), transport, seconds=1)
            assert found["video"] and found["audio"], device
    finally:
        house.stop()


HOSTS = itertools.count(2)


def described(port: int, path: str) -> int:
    """The status of a `DESCRIBE` without a password. It comes from a host of its own: a host that is refused again and
    again waits for its answers."""
    host = f"127.0.1.{next(HOSTS)}"
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE, source_address=(host, 0)) as connection:
        request = f"DESCRIBE rtsp://127.0.0.1:{port}/{path} RTSP/1.0\r\nCSeq: 1\r\nAccept: application/sdp\r\n\r\n"
        connection.sendall(request.encode())
        with connection.makefile("rb") as answer:
            return int(answer.readline().split()[1])


def token(sharing: Gateway, name: str, *scopes: str) -> tuple[str, str]:
    """The id and the secret of a token for one camera."""
    grants = [{"scopes": list(scopes), "deviceID": sharing.client.device_id("drive")}]
    body = json.dumps({"name": name, "grants": grants})
    answer = sharing.client.request("POST", "/v1/tokens", body, {"Content-Type": "application/json"})
    assert answer.status == 201, answer.text
    return answer.json["id"], answer.json["token"]


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_a_token_in_the_address_shows_its_camera(sharing: Gateway, rtsp_port: int, transport: str) -> None:
    _, secret = token(sharing, f"reader over {transport}", "view")
    found = packets(f"rtsp://127.0.0.1:{rtsp_port}/drive?token={secret}", transport)
    assert found["video"] and found["audio"]
    assert described(rtsp_port, f"drive?token={secret}") == 200
    everything = token(sharing, f"more over {transport}", "view", "media")[1]
    for refused in (f"front-door?token={secret}", f"drive?token={everything}", f"drive?token={sharing.token}"):
        assert described(rtsp_port, refused) == 401
    # A player says so, too.
    done = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", transport,
         f"rtsp://127.0.0.1:{rtsp_port}/front-door?token={secret}"],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode != 0 and "401" in done.stderr
    assert secret not in sharing.process.output()


def test_a_token_in_the_address_shows_no_recordings(sharing: Gateway, rtsp_port: int) -> None:
    """Even one that shows all cameras of the home: recordings need more than the right to watch."""
    body = json.dumps({"name": "all cameras", "grants": [{"scopes": ["view"]}]})
    answer = sharing.client.request("POST", "/v1/tokens", body, {"Content-Type": "application/json"})
    assert answer.status == 201, answer.text
    secret = answer.json["token"]
    assert packets(f"rtsp://127.0.0.1:{rtsp_port}/drive?token={secret}", "tcp", 1)["video"]
    assert described(rtsp_port, f"drive?token={secret}") == 200
    for refused in ("recordings/drive", "recordings%2Fdrive"):
        assert described(rtsp_port, f"{refused}?token={secret}") == 401


def test_gstreamer_reads_with_a_token_in_the_address(sharing: Gateway, rtsp_port: int) -> None:
    address = f"rtsp://127.0.0.1:{rtsp_port}/drive?token={token(sharing, 'gstreamer', 'view')[1]}"
    done = subprocess.run(
        ["gst-launch-1.0", "-q", "rtspsrc", f"location={address}", "protocols=tcp", "!", "rtph264depay", "!",
         "avdec_h264", "!", "fakesink", "num-buffers=20"],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_end_of_a_token_ends_its_readers(sharing: Gateway, rtsp_port: int, tmp_path: Path) -> None:
    eventually(lambda: sharing.client.metric("gatehouse_rtsp_connections") == 0, "the readers before have gone")
    identifier, secret = token(sharing, "guest", "view")
    address = f"rtsp://127.0.0.1:{rtsp_port}/drive?token={secret}"
    reader = OwnedProcess(
        ["ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", "tcp", "-i", address, "-c", "copy", "-f", "null", "-"],
        tmp_path / "reader.log",
    )
    try:
        sample = 'gatehouse_rtsp_readers{camera="drive"}'
        eventually(lambda: sample + " 1" in sharing.client.request("GET", "/metrics").text, "it reads")
        assert sharing.client.request("DELETE", f"/v1/tokens/{identifier}").status == 204
        eventually(lambda: not reader.is_running, "the reader has ended")
    finally:
        reader.kill()
    assert "its token no longer permits" in sharing.process.output()


@pytest.mark.parametrize("protocols", ["tcp", "udp"])
def test_gstreamer_reads(sharing: Gateway, rtsp_port: int, protocols: str) -> None:
    url = f"rtsp://127.0.0.1:{rtsp_port}/drive"
    elements = "rtph264depay ! video/x-h264,alignment=au"
    assert len(play(url, sharing.token, elements, "--pictures", "40", protocols=protocols).shown) >= 40


def test_the_server_agrees_with_its_metrics(sharing: Gateway, rtsp_port: int) -> None:
    metric = sharing.client.metric
    before = metric("gatehouse_rtsp_readers_started_total")
    packets(address(rtsp_port, "front-door", sharing.token), "tcp", 1)
    assert metric("gatehouse_rtsp_readers_started_total") == before + 1
    assert metric("gatehouse_rtsp_frames_dropped_total") == 0
    eventually(lambda: metric("gatehouse_rtsp_connections") == 0, "all readers have gone")


@pytest.mark.parametrize("password", ["wrong", ""])
def test_a_wrong_password_is_refused(sharing: Gateway, rtsp_port: int, password: str) -> None:
    result = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", "tcp", address(rtsp_port, "drive", password)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert result.returncode != 0
    assert "401" in result.stderr


def test_an_unknown_device_is_not_found(sharing: Gateway, rtsp_port: int) -> None:
    result = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", "tcp", address(rtsp_port, "attic", sharing.token)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert "404" in result.stderr


def hostile_conversations(port: int, seed: int) -> None:
    """Sends broken and hostile requests, and leaves in the middle of them."""
    generator = random.Random(seed)
    good = b"DESCRIBE rtsp://127.0.0.1/drive RTSP/1.0\r\nCSeq: 1\r\nAccept: application/sdp\r\n\r\n"
    for number in range(120):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            match number % 6:
                case 0:
                    data = generator.randbytes(3000)
                case 1:
                    data = b"OPTIONS * RTSP/1.0\r\n" + b"X: y\r\n" * 5000
                case 2:
                    broken = bytearray(good * 20)
                    for _ in range(20):
                        broken[generator.randrange(len(broken))] = generator.randrange(256)
                    data = bytes(broken)
                case 3:
                    data = b"$\x00\xff\xff" + generator.randbytes(500)
                case 4:
                    data = good.replace(b"CSeq", b'Authorization: Digest username="a", nonce="b", uri="c"\r\nCSeq')
                case _:
                    data = b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n" * 2000
            try:
                connection.sendall(data)
                if number % 2:
                    connection.recv(1000)
                if number % 3 == 0:
                    # The connection is reset instead of closed.
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            except OSError:
                pass


@pytest.mark.alone
# As above: the gaps that it looks for must be the gateway's.
@pytest.mark.alone
def test_hostile_clients_do_not_disturb_a_reader(sharing: Gateway, rtsp_port: int) -> None:
    """A reader loses no frame while others send garbage, guess passwords and do not read what they have asked for."""
    url = address(rtsp_port, "drive", sharing.token)
    before = own_memory(sharing.process.pid)
    reader = subprocess.Popen(
        ["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-read_intervals", "%+10",
         "-show_entries", "packet=codec_type,pts_time", "-of", "json", url],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    # A reader that plays and then stops reading.
    stalled = subprocess.Popen(
        ["ffmpeg", "-v", "quiet", "-rtsp_transport", "tcp", "-i", url, "-c", "copy", "-f", "mpegts", "pipe:1"],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        for seed in range(3):
            hostile_conversations(rtsp_port, seed)
        output, _ = reader.communicate(timeout=PATIENCE)
    finally:
        stalled.kill()
        stalled.wait()
        if reader.poll() is None:
            reader.kill()
    times = [
        float(p["pts_time"]) for p in json.loads(output)["packets"] if p["codec_type"] == "video" and "pts_time" in p
    ]
    assert len(times) >= 130
    assert max(later - earlier for earlier, later in itertools.pairwise(times)) < 0.2
    grown = own_memory(sharing.process.pid) - before
    assert grown < 64 << 20, f"the gateway has grown by {grown >> 20} MiB"


def test_readers_learn_of_the_end(binary: Path, tmp_path_factory: pytest.TempPathFactory, rtsp_port: int) -> None:
    """A gateway that stops ends its readers at once, instead of leaving them to a timeout."""
    port = free_port()
    running = Gateway(
        binary, tmp_path_factory.mktemp("ending"), [DOORBELL], {"rtsp": {"host": "127.0.0.1", "port": port}}
    )
    running.wait_until_flowing("front-door")
    reader = subprocess.Popen(
        ["ffprobe", "-v", "quiet", "-rtsp_transport", "tcp", "-show_entries", "packet=pts", "-of", "csv",
         address(port, "front-door", running.token)],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    # A search for the lines of a camera finds these, too.
    line = re.compile(r"RTSP reader started .*\bcamera=front-door ")
    eventually(lambda: line.search(running.process.output()), "the reader plays")
    assert running.stop() == 0
    # ffprobe itself would wait for ever.
    reader.wait(timeout=PATIENCE)
