"""The examples of docs/examples: a package of its own that depends on the library products, built and run."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from peers.gateway import Gateway
from peers.polling import PATIENCE
from peers.rtsp_cameras import RTSPCameras

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def programs() -> Path:
    """The built examples. tools/test has built them before; without it, this takes some minutes."""
    command = ["swift", "build", "--package-path", str(ROOT / "docs/examples")]
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
    words = run(programs / "whep-player", f"http://127.0.0.1:{gateway.port}/whep/{device}", gateway.token, "4")
    found = re.match(r"(\d+) frames of (\w+)", words)
    assert found, words
    # 15 frames a second for most of the four seconds; the connection takes a little of them.
    assert int(found[1]) >= 30 and found[2] == codec, words
    assert all(session["state"] != "connected" for session in gateway.client.sessions()), "the session has ended"


@pytest.mark.parametrize(("device", "sound"), [("h264", ["pcm_alaw"]), ("pcmu", ["pcm_mulaw"]), ("silent", [])])
def test_the_recorder_writes_a_file_that_plays(
    programs: Path, rtsp_cameras: RTSPCameras, tmp_path: Path, device: str, sound: list[str]
) -> None:
    path = tmp_path / "camera.mp4"
    words = run(programs / "rtsp-to-mp4", rtsp_cameras.address(device), str(path), "6")
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


def test_an_address_that_nobody_serves_is_reported(programs: Path, tmp_path: Path) -> None:
    words = run(programs / "rtsp-to-mp4", "rtsp://127.0.0.1:9/x", str(tmp_path / "none.mp4"), "2")
    assert "cannot be reached" in words
