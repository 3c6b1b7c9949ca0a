"""What an administrator reads in the log at its default level, with cameras of GStreamer's."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.gateway import Camera, Gateway
from peers.polling import PATIENCE, eventually
from peers.ports import free_port
from peers.rtsp_cameras import PASSWORD, QUOTED_PASSWORD, USER, RTSPCameras

DOWN = ("camera is down", "camera is still down", "camera is down and is tried only occasionally")


class Log:
    """The lines of a gateway, read as they come."""

    def __init__(self, gateway: Gateway, *, is_json: bool) -> None:
        self.gateway, self.is_json = gateway, is_json

    def lines(self, message: str, camera: str) -> list[str]:
        """The lines with this message about this camera."""
        found = []
        for line in self.gateway.process.output().splitlines():
            if self.is_json:
                if line.startswith("{"):
                    fields: dict[str, Any] = json.loads(line)
                    if fields["message"] == message and fields.get("camera") == camera:
                        found.append(line)
            elif f" gatehouse: {message} " in line and f" camera={camera} " in line + " ":
                found.append(line)
        return found

    def wait_for(self, message: str, camera: str, count: int = 1) -> str:
        eventually(
            lambda: len(self.lines(message, camera)) >= count,
            f"the log says {message!r} of {camera} {count} times:\n{self.gateway.process.output()[-4000:]}",
        )
        return self.lines(message, camera)[count - 1]


@pytest.fixture(params=["text", "json"])
def format(request: pytest.FixtureRequest) -> Iterator[str]:
    return request.param


def test_outages_a_wrong_password_and_a_wrong_path_are_lines(binary: Path, tmp_path: Path, format: str) -> None:
    port = str(free_port())
    cameras = RTSPCameras(tmp_path / "cameras.log", "--port", port)
    host = f"127.0.0.1:{port}"
    gateway = Gateway(
        binary,
        tmp_path,
        [
            cameras.camera("door", "vp8-silent"),
            cameras.camera("yard", "silent"),
            Camera("stranger", f"rtsp://{USER}:wrong-word@{host}/silent"),
            Camera("nowhere", f"rtsp://{USER}:{QUOTED_PASSWORD}@{host}/there-is-none"),
        ],
        {"log": {"level": "info", "format": format}},
    )
    try:
        log = Log(gateway, is_json=format == "json")
        for camera in ["door", "yard"]:
            # The first attempt may have failed while the cameras began.
            eventually(
                lambda camera=camera: log.lines("camera is up", camera) or log.lines("camera is up again", camera),
                f"{camera} is up",
            )
        for camera, words in (("stranger", "password"), ("nowhere", "404")):
            eventually(
                lambda camera=camera, words=words: any(
                    words in line for message in DOWN for line in log.lines(message, camera)
                ),
                f"the log says {words} of {camera}",
            )

        view = subprocess.run(
            [str(binary), "live", "door", "--gateway", f"http://127.0.0.1:{gateway.port}", "--token", gateway.token,
             "--duration", "10"],
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert view.returncode == 0, view.stdout + view.stderr
        log.wait_for("view started", "door")
        assert "reason" in log.wait_for("view ended", "door")

        cameras.stop()
        for camera in ["door", "yard"]:
            assert "reason" in log.wait_for("camera is down", camera)
        cameras = RTSPCameras(tmp_path / "cameras-again.log", "--port", port)
        for camera in ["door", "yard"]:
            assert "downFor" in log.wait_for("camera is up again", camera)
    finally:
        cameras.stop()
        code = gateway.stop()
    assert code == 0
    output = gateway.process.output()
    # And little else: the tries of the cameras that are never reached add no lines.
    said = [
        line for line in output.splitlines() if "gatehouse" in line and ("camera" in line or "http request" in line)
    ]
    assert not [line for line in said if "http request" in line]
    assert len(said) < 30, "\n".join(said)
    for secret in [PASSWORD, QUOTED_PASSWORD, "wrong-word", gateway.token]:
        assert secret not in output, "a secret is in the log"
