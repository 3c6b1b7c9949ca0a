"""The examples of docs/examples: a package of its own that depends on the library products, built and run."""

import base64
import contextlib
import json
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from aioice import stun
from peers.gateway import Gateway
from peers.polling import PATIENCE
from peers.ports import free_port
from peers.rtsp_cameras import RTSPCameras

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def programs() -> Path:
    """The built examples. Building them takes a minute or more."""
    command = ["swift", "build", "-debug-info-format", "none", "--package-path", str(ROOT / "docs/examples")]
    command += ["--scratch-path", str(ROOT / ".build/examples")]
    # The products that they use need no package: without the floors above, none is fetched.
    environment = os.environ | {"GATEHOUSE_CORE": "1"}
    built = subprocess.run(command, capture_output=True, text=True, timeout=1200, env=environment)
    assert built.returncode == 0, built.stdout[-4000:] + built.stderr[-4000:]
    return ROOT / ".build/examples/debug"


def run(program: Path, *arguments: str) -> str:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("device", "codec"), [("front-door", "VP8"), ("drive", "H264")])
def test_the_whep_player_receives_frames(programs: Path, gateway: Gateway, device: str, codec: str) -> None:
    gateway.wait_until_flowing(device)
    words = run(programs / "whep-player", f"http://127.0.0.1:{gateway.port}/whep/{device}", gateway.token, "10")
    found = re.match(r"(\d+) frames of (\w+)", words)
    assert found, words
    # 15 frames a second for most of the ten seconds. A busy machine takes some of them for the connection.
    assert int(found[1]) >= 30 and found[2] == codec, words
    assert all(session["state"] != "connected" for session in gateway.client.sessions()), "the session has ended"


@pytest.mark.parametrize(("device", "sound"), [("h264", ["pcm_alaw"]), ("pcmu", ["pcm_mulaw"]), ("silent", [])])
def test_the_recorder_writes_a_file_that_plays(
    programs: Path, rtsp_cameras: RTSPCameras, tmp_path: Path, device: str, sound: list[str]
) -> None:
    path = tmp_path / "camera.mp4"
    words = run(programs / "rtsp-to-mp4", rtsp_cameras.address(device), str(path), "12")
    found = re.match(r"(\d+) frames in", words)
    assert found and int(found[1]) > 30, words
    probe = ["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-of", "json", str(path)]
    streams = json.loads(subprocess.run(probe, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout)[
        "streams"
    ]
    assert [stream["codec_name"] for stream in streams] == ["h264", *sound]
    assert int(streams[0]["nb_read_frames"]) == int(found[1])
    for stream in streams[1:]:
        assert float(stream["duration"]) > 2 and int(stream["nb_read_frames"]) > 0


@contextlib.contextmanager
def stun_server() -> Iterator[str]:
    """Says at which address it sees a socket; aioice reads and writes the messages."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            while True:
                try:
                    data, address = server.recvfrom(2_000)
                except OSError:
                    return
                if not data:
                    return
                request = stun.parse_message(data)
                answer = stun.Message(request.message_method, stun.Class.RESPONSE, request.transaction_id)
                answer.attributes["XOR-MAPPED-ADDRESS"] = address
                answer.add_fingerprint()
                server.sendto(bytes(answer), address)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"stun:127.0.0.1:{server.getsockname()[1]}"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(b"", server.getsockname())
        thread.join(PATIENCE)


def test_the_listener_decrypts_what_ffmpeg_sends(programs: Path) -> None:
    key, port = base64.b64encode(bytes(range(30))).decode(), free_port()
    source = ["-re", "-f", "lavfi", "-i", "testsrc=size=320x240:rate=15", "-c:v", "libvpx", "-g", "15"]
    secure = ["-f", "rtp", "-srtp_out_suite", "AES_CM_128_HMAC_SHA1_80", "-srtp_out_params", key]
    sender = subprocess.Popen(
        ["ffmpeg", "-v", "error", *source, *secure, f"srtp://127.0.0.1:{port}?pkt_size=1200"],
        stdout=subprocess.DEVNULL,
    )
    try:
        with stun_server() as server:
            words = run(programs / "srtp-listener", key, str(port), "10", server)
    finally:
        sender.kill()
        sender.wait()
    found = re.match(r"(\d+) frames, (\d+) of them key frames; 0 packets refused; seen at 127\.0\.0\.1:\d+$", words)
    assert found, words
    # It begins with a key frame, and one follows each second.
    assert int(found[1]) >= 16 and int(found[2]) >= 2, words


def test_an_address_that_nobody_serves_is_reported(programs: Path, tmp_path: Path) -> None:
    words = run(programs / "rtsp-to-mp4", "rtsp://127.0.0.1:9/x", str(tmp_path / "none.mp4"), "2")
    assert "cannot be reached" in words
