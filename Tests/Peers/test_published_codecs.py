"""Publishers by RTSP and RTMP with H.265, AV1 and G.711: what is passed through, and what is transcoded."""

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.aiortc_viewer import expect_live_view
from peers.chromium import open_page
from peers.coroutines import run
from peers.gateway import Camera, Gateway
from peers.parts import chosen
from peers.polling import PATIENCE
from peers.ports import free_port, free_port_pair
from peers.publishing_process import published
from peers.viewer import viewing
from playwright.sync_api import Browser

NUMBERS = itertools.count(1)
SCRIPT = Path(__file__).parent / "av-publisher.py"
DEVICE = "phone"
PICTURE = ["-re", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=15"]
SOUND = ["-re", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000"]
H264 = ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-profile:v", "baseline",
        "-pix_fmt", "yuv420p", "-g", "15"]  # fmt: skip
H265 = ["-c:v", "libx265", "-preset", "ultrafast", "-tune", "zerolatency", "-x265-params",
        "log-level=none:keyint=15:min-keyint=15", "-pix_fmt", "yuv420p"]  # fmt: skip
G711 = {
    "pcmu": ["-c:a", "pcm_mulaw", "-ar", "8000", "-ac", "1"],
    "pcma": ["-c:a", "pcm_alaw", "-ar", "8000", "-ac", "1"],
}


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    return {"rtsp": free_port_pair(), "rtmp": free_port()}


@pytest.fixture(scope="module")
def gateway(binary: Path, ports: dict[str, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    sections = {name: {"host": "127.0.0.1", "port": port} for name, port in ports.items()}
    running = Gateway(binary, tmp_path_factory.mktemp("published"), [Camera(DEVICE, "publisher")], sections)
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


def source(gateway: Gateway) -> dict[str, Any]:
    return dict(gateway.client.get(f"/v1/devices/{DEVICE}")["source"])


def codecs(gateway: Gateway) -> list[str]:
    return [track["codec"].lower() for track in source(gateway)["tracks"]]


def address(gateway: Gateway, ports: dict[str, int], protocol: str) -> str:
    grants = [{"scopes": ["media"], "deviceID": gateway.client.device_id(DEVICE)}]
    body = json.dumps({"name": f"encoder {next(NUMBERS)}", "grants": grants})
    answer = gateway.client.request("POST", "/v1/tokens", body, {"Content-Type": "application/json"})
    assert answer.status == 201, answer.text
    folder = "live/" if protocol == "rtmp" else ""
    return f"{protocol}://127.0.0.1:{ports[protocol]}/{folder}{DEVICE}?token={answer.json['token']}"


def encoding(url: str, video: list[str], audio: list[str]) -> list[str]:
    """Debian's ffmpeg, which publishes a test picture and a tone."""
    form = ["-f", "flv"] if url.startswith("rtmp:") else ["-f", "rtsp", "-rtsp_transport", "tcp"]
    return ["ffmpeg", "-nostdin", "-v", "error", *PICTURE, *SOUND, *video, *audio, *form, url]


def read_by_rtsp(gateway: Gateway, port: int) -> list[str]:
    """The codecs of the streams that ffprobe reads, each of which brings packets."""
    url = f"rtsp://anybody:{gateway.token}@127.0.0.1:{port}/{DEVICE}"
    probed = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-read_intervals", "%+2",
         "-show_entries", "stream=index,codec_name:packet=stream_index", "-of", "json", url],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert probed.returncode == 0, probed.stderr.replace(url, "")
    read = json.loads(probed.stdout)
    indices = [packet["stream_index"] for packet in read["packets"]]
    for stream in read["streams"]:
        assert indices.count(stream["index"]) >= 15, (stream, len(indices))
    return [stream["codec_name"] for stream in read["streams"]]


def seen_in_chromium(browser: Browser, gateway: Gateway, **options: str) -> tuple[str, set[str]]:
    """The codec of the picture that Chromium decodes, and all codecs of its session."""
    with open_page(browser, f"http://127.0.0.1:{gateway.port}") as page, viewing(page, gateway.token) as viewer:
        viewer.call("playWHEP", device=DEVICE, **options)
        codec = viewer.expect_media().codec
        (session,) = gateway.client.sessions()
    return codec, set(session["codecs"])


@pytest.mark.parametrize("law", chosen(["pcmu", "pcma"], "GATEHOUSE_LAWS"))
@pytest.mark.parametrize("protocol", ["rtsp", "rtmp"])
def test_the_sound_of_a_telephone_is_passed_through(
    gateway: Gateway, ports: dict[str, int], browser: Browser, tmp_path: Path, protocol: str, law: str
) -> None:
    command = encoding(address(gateway, ports, protocol), H264, G711[law])
    with published(gateway, DEVICE, command, tmp_path):
        assert codecs(gateway) == ["h264", law]
        assert seen_in_chromium(browser, gateway) == ("video/H264", {"H264", law.upper()})
        # A browser that would rather have Opus may have it.
        assert seen_in_chromium(browser, gateway, sound="opus") == ("video/H264", {"H264", "opus"})
        run(lambda: expect_live_view(gateway.client, DEVICE))
        expected = {"pcmu": "pcm_mulaw", "pcma": "pcm_alaw"}[law]
        assert read_by_rtsp(gateway, ports["rtsp"]) == ["h264", expected]


@pytest.mark.parametrize("publisher", ["RTSP by Debian's ffmpeg", "RTSP", "RTMP"])
def test_h265_is_transcoded_for_viewers_that_cannot_play_it(
    gateway: Gateway, ports: dict[str, int], browser: Browser, tmp_path: Path, publisher: str
) -> None:
    protocol = publisher[:4].lower()
    url = address(gateway, ports, protocol)
    is_debians = publisher.endswith("ffmpeg")
    command = encoding(url, H265, G711["pcma"]) if is_debians else [sys.executable, str(SCRIPT), url, "hevc"]
    sound, read = {
        "RTSP by Debian's ffmpeg": ("pcma", "pcm_alaw"),
        "RTSP": ("opus", "opus"),
        "RTMP": ("mpeg4-generic", "aac"),
    }[publisher]
    with published(gateway, DEVICE, command, tmp_path):
        assert codecs(gateway) == ["h265", sound]
        # Some builds of Chromium offer H.265 where the machine decodes it, so the offer names what it takes.
        heard = {"pcma": "PCMA", "opus": "opus", "mpeg4-generic": "opus"}[sound]
        assert seen_in_chromium(browser, gateway, codec="VP8") == ("video/VP8", {"VP8", heard})
        run(lambda: expect_live_view(gateway.client, DEVICE))
        # Nothing is transcoded for those who read by RTSP.
        assert read_by_rtsp(gateway, ports["rtsp"]) == ["hevc", read]


def test_av1_is_passed_through_and_transcoded(
    gateway: Gateway, ports: dict[str, int], browser: Browser, tmp_path: Path
) -> None:
    command = [sys.executable, str(SCRIPT), address(gateway, ports, "rtsp"), "av1"]
    with published(gateway, DEVICE, command, tmp_path):
        assert codecs(gateway) == ["av1", "opus"]
        assert seen_in_chromium(browser, gateway) == ("video/AV1", {"AV1", "opus"})
        # aiortc plays no AV1.
        run(lambda: expect_live_view(gateway.client, DEVICE))


def test_av1_over_rtmp_is_left_out_and_logged(gateway: Gateway, ports: dict[str, int], tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), address(gateway, ports, "rtmp"), "av1"]
    with published(gateway, DEVICE, command, tmp_path):
        assert codecs(gateway) == ["mpeg4-generic"]
        log = gateway.process.output().splitlines()
        said = [line for line in log if "a part of what is published by RTMP is left out" in line]
        assert len(said) == 1 and f"camera={DEVICE}" in said[0] and "av01" in said[0], said
        run(lambda: expect_live_view(gateway.client, DEVICE, picture=False))
