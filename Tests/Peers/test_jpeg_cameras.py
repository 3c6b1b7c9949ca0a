"""Cameras that send JPEG pictures over HTTP are like any other: browsers play them, and snapshots show them."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.chromium import open_page
from peers.gateway import Camera, Gateway
from peers.jpeg_cameras import PASSWORD, SIZE, MotionServer, PictureServer
from peers.viewer import viewing
from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PictureServer]:
    server = PictureServer(tmp_path_factory.mktemp("pictures"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def motion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MotionServer]:
    server = MotionServer(tmp_path_factory.mktemp("motion"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def house(
    binary: Path, pictures: PictureServer, motion: MotionServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    gauge = Camera("gauge", pictures.address(), settings={"framesPerSecond": 5})
    gateway = Gateway(binary, tmp_path_factory.mktemp("house"), [gauge, motion.camera("printer")])
    yield gateway
    assert gateway.stop() == 0, gateway.process.output()[-4000:]


def size_of(picture: bytes, folder: Path) -> str:
    path = folder / "picture.jpg"
    path.write_bytes(picture)
    found = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0", str(path)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return found.stdout.strip()


def test_a_picture_that_is_requested_again_and_again_is_a_camera(house: Gateway, tmp_path: Path) -> None:
    assert house.client.get("/v1/cameras/gauge")["pull"] == "on-demand"
    answer = house.client.request("GET", "/v1/devices/gauge/snapshot.jpg")
    assert answer.status == 200, answer.text
    assert size_of(answer.body, tmp_path) == f"mjpeg,{SIZE.replace('x', ',')}"
    camera = house.client.request("GET", "/v1/cameras/gauge").text
    assert "one for each request" in camera and PASSWORD not in camera
    assert PASSWORD not in house.process.output()


def test_a_browser_plays_a_stream_of_pictures_as_h264(house: Gateway, browser: Browser) -> None:
    house.wait_until_flowing("printer")
    with open_page(browser, f"http://127.0.0.1:{house.port}") as page, viewing(page, house.token) as viewer:
        viewer.call("playWHEP", device="printer", codec="H264")
        reception = viewer.expect_media(frames=10, sound=False)
    assert (reception.codec, reception.width) == ("video/H264", 320)


def test_the_probe_says_what_such_a_camera_sends(binary: Path, pictures: PictureServer) -> None:
    def probe(address: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(binary), "camera", "probe", "--json", "--duration", "2", address],
            capture_output=True, text=True, timeout=90, env=os.environ | {"CAMERA_PASSWORD": PASSWORD},
        )  # fmt: skip

    result = probe(pictures.address("${CAMERA_PASSWORD}"))
    assert result.returncode == 0, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert [(track["codec"], track["width"], track["height"]) for track in found["tracks"]] == [("H264", 320, 240)]
    assert any("one for each request" in note for note in found["notes"])
    assert PASSWORD not in result.stdout + result.stderr
    refused = probe(pictures.address("a-wrong-word"))
    assert refused.returncode == 2
    assert "does not accept the user name and password" in refused.stdout and "a-wrong-word" not in refused.stdout
