"""`gatehouse camera probe` against GStreamer's RTSP server."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from peers.polling import eventually
from peers.rtsp_cameras import PASSWORD, QUOTED_PASSWORD, USER, RTSPCameras


def probe(binary: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(binary), "camera", "probe", "--duration", "4", *arguments],
        capture_output=True, text=True, timeout=90, env=os.environ | environment,
    )  # fmt: skip


def expect_that_it_can_be_pasted(binary: Path, printed: str, directory: Path) -> None:
    """The entry goes under `cameras:`, the line for the shell into a shell, and the gateway accepts the config."""
    config = directory / "gatehouse.yaml"
    entry = printed.split("paste this under cameras: in the config\n")[1].split("\n\n")[0]
    config.write_text(f"stateDirectory: state\ncameras:\n{entry}\n")
    check = [str(binary), "serve", "--check", "--config", str(config)]
    without = subprocess.run(check, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    assert without.returncode == 1 and "CAMERA_PASSWORD" in without.stderr
    shell = next(line for line in printed.splitlines() if "read -rsp" in line)
    result = subprocess.run(
        ["bash", "-c", f'{shell}\n"$@"', "shell", *check], input=QUOTED_PASSWORD + "\n", capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert "is valid: 1 camera\n" in result.stdout


def is_rate_usual(found: dict[str, Any]) -> bool:
    """Whether two key frames and enough pictures were seen. The camera makes 15 pictures a second. A key frame comes
    every 2 s, and one more for each client."""
    if not found["tracks"]:
        return False
    video = found["tracks"][0]
    return 0.2 < video.get("keyFrameIntervalSeconds", 0) < 4 and 3 < video["framesPerSecond"] < 20


@pytest.mark.parametrize("words", [False, True])
def test_says_what_a_camera_sends_and_never_its_password(
    binary: Path, rtsp_cameras: RTSPCameras, words: bool, tmp_path: Path
) -> None:
    address = f"rtsp://{USER}:{QUOTED_PASSWORD}@127.0.0.1:{rtsp_cameras.port}/h264"
    result = probe(binary, address, *([] if words else ["--json"]))
    assert result.returncode == 0, result.stderr
    for secret in (PASSWORD, QUOTED_PASSWORD):
        assert secret not in result.stdout + result.stderr
    entry = f'source: "rtsp://{USER}:${{CAMERA_PASSWORD}}@127.0.0.1:{rtsp_cameras.port}/h264"'
    if words:
        assert "H.264" in result.stdout
        assert entry in result.stdout
        expect_that_it_can_be_pasted(binary, result.stdout, tmp_path)
        return
    found = json.loads(result.stdout)

    def has_usual_rate() -> bool:
        """A camera that gets no processor time sends one key frame while it is looked at, or none, and few pictures."""
        nonlocal found
        if is_rate_usual(found):
            return True
        found = json.loads(probe(binary, address, "--json").stdout)
        return is_rate_usual(found)

    eventually(has_usual_rate, "a rate that a camera at work has")
    video, sound = found["tracks"]
    assert (video["codec"], video["width"], video["height"], video["hasBFrames"]) == ("H264", 320, 240, False)
    assert (sound["codec"], sound["clockRate"]) == ("PCMA", 8000)
    assert found["reached"]
    assert entry in found["config"]


def test_the_password_may_come_from_the_environment(binary: Path, rtsp_cameras: RTSPCameras) -> None:
    address = f"rtsp://{USER}:${{YARD_PASSWORD}}@127.0.0.1:{rtsp_cameras.port}/vp8"
    result = probe(binary, "--json", address, YARD_PASSWORD=QUOTED_PASSWORD)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert address in found["config"]
    assert [track["codec"].upper() for track in found["tracks"]] == ["VP8", "OPUS"]


@pytest.mark.parametrize("address", ["rtsp://viewer:a-wrong-word@127.0.0.1:{port}/h264", "rtsp://127.0.0.1:9/"])
def test_an_unusable_camera_gives_exit_code_2(binary: Path, rtsp_cameras: RTSPCameras, address: str) -> None:
    result = probe(binary, address.format(port=rtsp_cameras.port))
    assert result.returncode == 2, result.stdout + result.stderr
    assert "not reached" in result.stdout
    assert "a-wrong-word" not in result.stdout + result.stderr


def test_an_address_of_another_kind_is_a_wrong_command_line(binary: Path) -> None:
    result = probe(binary, "ftp://viewer:a-wrong-word@127.0.0.1/")
    assert result.returncode == 64
    assert "a-wrong-word" not in result.stderr.replace("ftp://viewer:a-wrong-word@127.0.0.1/", "")
