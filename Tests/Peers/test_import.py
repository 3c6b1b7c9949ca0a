"""The config of another gateway, made into one of ours, and a camera that is watched with it."""

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.aiortc_viewer import expect_live_view
from peers.coroutines import run
from peers.gateway import Gateway
from peers.polling import PATIENCE, eventually
from peers.rtsp_cameras import QUOTED_PASSWORD, RTSPCameras

GO2RTC = """
streams:
  yard:
    - {h264}#transport=tcp#video=copy
    - ffmpeg:yard#audio=opus
  yard_sub: {vp8}
  desk: exec:ffmpeg -f v4l2 -i /dev/video0 -f rtsp {{output}}
"""
MEDIAMTX = """
paths:
  yard: {{source: "{h264}", sourceOnDemand: yes}}
  ~^any: {{source: publisher}}
"""
FRIGATE = """
go2rtc: {{streams: {{yard: "{h264}"}}}}
cameras:
  yard:
    ffmpeg:
      inputs:
        - {{path: "rtsp://127.0.0.1:8554/yard", roles: [record]}}
        - {{path: "{vp8}", roles: [detect]}}
birdseye: {{enabled: true}}
"""


@pytest.fixture(scope="module")
def cameras(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RTSPCameras]:
    served = RTSPCameras(tmp_path_factory.mktemp("cameras") / "cameras.log")
    yield served
    served.stop()


def imported(binary: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(binary), "import", *arguments], capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.parametrize("text", [GO2RTC, MEDIAMTX, FRIGATE], ids=["go2rtc", "mediamtx", "frigate"])
def test_an_imported_camera_is_watched(binary: Path, tmp_path: Path, cameras: RTSPCameras, text: str) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(text.format(h264=cameras.address("h264"), vp8=cameras.address("vp8")))
    result = imported(binary, str(old), "--output", str(new))
    assert result.returncode == 0, result.stderr
    assert "1 camera" in result.stdout and result.stderr.count("\n") >= 1
    assert QUOTED_PASSWORD not in result.stdout + result.stderr
    assert stat.S_IMODE(os.stat(new).st_mode) == 0o600
    check = subprocess.run([str(binary), "serve", "--config", str(new), "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stderr
    gateway = Gateway(binary, tmp_path, [])
    try:
        # The gateway keeps its ports and reads the cameras from what was made.
        own = {key: value for key, value in json.loads(gateway.config.read_text()).items() if key != "cameras"}
        # A new file in the place of the old one, so that the gateway does not read half of it.
        written = tmp_path / "written.yaml"
        written.write_text(new.read_text() + "".join(f"{key}: {json.dumps(own[key])}\n" for key in own))
        written.rename(gateway.config)
        eventually(lambda: "yard" in gateway.client.request("GET", "/v1/devices").text, "the camera is there")
        # One that is pulled on demand waits for the viewer.
        eventually(
            lambda: gateway.client.get("/v1/devices/yard")["source"]["state"] in ("flowing", "idle"),
            "the camera answers",
        )
        run(lambda: expect_live_view(gateway.client, "yard"))
    finally:
        gateway.stop()


def test_a_file_that_exists_is_left_alone(binary: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text('streams: {yard: "rtsp://192.0.2.1/1"}')
    new.write_text("mine")
    result = imported(binary, str(old), "--output", str(new))
    assert result.returncode == 1 and "already exists" in result.stderr
    assert new.read_text() == "mine"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another group")
def test_the_service_can_read_what_root_imports(binary: Path, tmp_path: Path) -> None:
    old, folder = tmp_path / "old.yaml", tmp_path / "gatehouse"
    old.write_text('streams: {yard: "rtsp://u:${YARD_PASSWORD}@192.0.2.1/1"}')
    # As the package makes /etc/gatehouse: root's, with the group of the service.
    folder.mkdir()
    os.chown(folder, 0, 65534)
    folder.chmod(0o2750)
    new = folder / "gatehouse.yaml"
    result = imported(binary, str(old), "--open", "--output", str(new))
    assert result.returncode == 0, result.stderr
    status = os.stat(new)
    assert (stat.S_IMODE(status.st_mode), status.st_gid) == (0o640, 65534)
    assert os.listdir(folder) == ["gatehouse.yaml"]
    assert "YARD_PASSWORD" in result.stderr and "UDP" in result.stdout.upper()
    environment = {**os.environ, "YARD_PASSWORD": "x"}
    check = subprocess.run(
        [str(binary), "serve", "--config", str(new), "--check"], capture_output=True, text=True, env=environment
    )
    assert check.returncode == 0, check.stderr


def test_what_is_no_config_is_refused_in_one_line(binary: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    old.write_text("[1, 2]")
    result = imported(binary, str(old))
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.startswith("gatehouse: ") and result.stderr.count("\n") == 1
