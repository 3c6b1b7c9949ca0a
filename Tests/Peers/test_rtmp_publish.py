"""ffmpeg and GStreamer publish by RTMP, as OBS and cameras that push do, and are cameras like any other."""

import asyncio
import itertools
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from peers.aiortc_viewer import AiortcViewer, expect_live_view
from peers.coroutines import run
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE, eventually
from peers.ports import free_port, free_port_pair
from peers.processes import OwnedProcess
from peers.publisher import aiortc_publishing

NUMBERS = itertools.count(1)
PICTURE = ["-re", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=15"]
SOUND = ["-re", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000"]
H264 = ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-profile:v", "baseline",
        "-pix_fmt", "yuv420p", "-g", "15"]  # fmt: skip
AAC = ["-c:a", "aac"]


@pytest.fixture(scope="module")
def rtsp_port() -> int:
    return free_port_pair()


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def gateway(binary: Path, port: int, rtsp_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(
        binary,
        tmp_path_factory.mktemp("rtmp-publish"),
        [DOORBELL, Camera("yard", "publisher")],
        {"rtsp": {"host": "127.0.0.1", "port": rtsp_port}, "rtmp": {"host": "127.0.0.1", "port": port}},
    )
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"
    assert running.token not in running.process.output(), "the token is in the log"


def source(gateway: Gateway, device: str = "yard") -> dict[str, Any]:
    return dict(gateway.client.get(f"/v1/devices/{device}")["source"])


def codecs(gateway: Gateway) -> list[str]:
    return [track["codec"].lower() for track in source(gateway)["tracks"]]


def wait_until_waiting(gateway: Gateway) -> None:
    eventually(lambda: source(gateway)["state"] == "backingOff", "the camera waits again")


def token(gateway: Gateway, *scopes: str, device: str | None = "yard") -> tuple[str, str]:
    """The id and the secret of a token for one camera, or for the whole home."""
    grant: dict[str, object] = {"scopes": list(scopes)}
    if device:
        grant["deviceID"] = gateway.client.device_id(device)
    body = json.dumps({"name": f"encoder {next(NUMBERS)}", "grants": [grant]})
    answer = gateway.client.request("POST", "/v1/tokens", body, {"Content-Type": "application/json"})
    assert answer.status == 201, answer.text
    return answer.json["id"], answer.json["token"]


def destination(form: str, port: int, secret: str) -> list[str]:
    """The end of ffmpeg's command, for each way of writing the address."""
    key = f"yard?token={secret}"
    server = f"rtmp://127.0.0.1:{port}"
    return {
        "with an application": ["-f", "flv", f"{server}/live/{key}"],
        "without an application": ["-f", "flv", f"{server}/{key}"],
        # OBS has two fields, and sends them as they are.
        "as OBS does": ["-f", "flv", "-rtmp_app", "live", "-rtmp_playpath", key, f"{server}/live"],
    }[form]


def publishing(port: int, secret: str, video: bool = True, audio: bool = True) -> list[str]:
    """The command of an encoder that publishes a test picture and a tone."""
    picture, sound = (PICTURE if video else []), (SOUND if audio else [])
    encoding = (H264 if video else []) + (AAC if audio else [])
    return ["ffmpeg", "-nostdin", "-v", "error", *picture, *sound, *encoding,
            *destination("with an application", port, secret)]  # fmt: skip


@contextmanager
def encoder(command: list[str], folder: Path) -> Iterator[OwnedProcess]:
    process = OwnedProcess(command, folder / f"encoder-{next(NUMBERS)}.log")
    try:
        yield process
    finally:
        process.stop()


def flowing(gateway: Gateway, publisher: OwnedProcess) -> None:
    try:
        gateway.wait_until_flowing("yard")
    except AssertionError as failure:
        raise AssertionError(f"{failure}\n{publisher.output()[-4000:]}") from None


def kinds(gateway: Gateway, rtsp_port: int) -> list[str]:
    """The kinds of the packets that ffprobe reads by RTSP in two seconds."""
    url = f"rtsp://anybody:{gateway.token}@127.0.0.1:{rtsp_port}/yard"
    probed = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-read_intervals", "%+2",
         "-show_entries", "packet=codec_type", "-of", "json", url],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert probed.returncode == 0, probed.stderr.replace(url, "")
    return [packet["codec_type"] for packet in json.loads(probed.stdout)["packets"]]


@pytest.mark.parametrize("form", ["with an application", "without an application", "as OBS does"])
def test_ffmpeg_is_a_camera_like_any_other(
    gateway: Gateway, port: int, rtsp_port: int, tmp_path: Path, form: str
) -> None:
    secret = token(gateway, "media")[1]
    command = ["ffmpeg", "-nostdin", "-v", "error", *PICTURE, *SOUND, *H264, *AAC, *destination(form, port, secret)]
    with encoder(command, tmp_path) as publisher:
        flowing(gateway, publisher)
        assert codecs(gateway) == ["h264", "mpeg4-generic"]
        run(lambda: expect_live_view(gateway.client, "yard"))
        read = kinds(gateway, rtsp_port)
        assert read.count("video") >= 15 and read.count("audio") >= 20
        assert gateway.client.metric("gatehouse_rtmp_publishers") == 1
        picture = gateway.client.request("GET", "/v1/devices/yard/snapshot.jpg")
        assert picture.status == 200 and picture.body[:2] == b"\xff\xd8"
    wait_until_waiting(gateway)
    assert source(gateway)["reason"] == "the publisher has stopped; waiting for a publisher"
    assert secret not in gateway.process.output()


@pytest.mark.parametrize(("video", "audio"), [(True, False), (False, True)], ids=["picture alone", "sound alone"])
def test_one_track_alone_is_enough(
    gateway: Gateway, port: int, rtsp_port: int, tmp_path: Path, video: bool, audio: bool
) -> None:
    secret = token(gateway, "media")[1]
    with encoder(publishing(port, secret, video, audio), tmp_path) as publisher:
        flowing(gateway, publisher)
        assert codecs(gateway) == (["h264"] if video else ["mpeg4-generic"])
        run(lambda: expect_live_view(gateway.client, "yard", sound=audio, picture=video))
        assert set(kinds(gateway, rtsp_port)) == {"video" if video else "audio"}
    wait_until_waiting(gateway)


def has_element(name: str) -> bool:
    found = subprocess.run(["gst-inspect-1.0", name], capture_output=True, timeout=PATIENCE, check=False)
    return found.returncode == 0


@pytest.mark.parametrize("sink", ["rtmp2sink", "rtmpsink"])
def test_gstreamer_publishes(gateway: Gateway, port: int, tmp_path: Path, sink: str) -> None:
    if not all(has_element(name) for name in (sink, "flvmux", "avenc_aac")):
        pytest.skip(f"GStreamer has no {sink} here")
    secret = token(gateway, "media")[1]
    command = [
        "gst-launch-1.0", "-e", "flvmux", "name=mux", "streamable=true", "!", sink,
        f"location=rtmp://127.0.0.1:{port}/live/yard?token={secret}",
        "videotestsrc", "is-live=true", "!", "video/x-raw,width=320,height=240,framerate=15/1", "!",
        "x264enc", "tune=zerolatency", "speed-preset=ultrafast", "key-int-max=15", "!",
        "video/x-h264,profile=constrained-baseline", "!", "h264parse", "!", "mux.video",
        "audiotestsrc", "is-live=true", "!", "audioconvert", "!", "audioresample", "!",
        "audio/x-raw,rate=48000", "!", "avenc_aac", "!", "aacparse", "!", "mux.audio",
    ]  # fmt: skip
    with encoder(command, tmp_path) as publisher:
        flowing(gateway, publisher)
        assert codecs(gateway) == ["h264", "mpeg4-generic"]
        run(lambda: expect_live_view(gateway.client, "yard"))
    wait_until_waiting(gateway)


def test_publishers_replace_each_other(gateway: Gateway, port: int, tmp_path: Path) -> None:
    """One camera has one publisher. A viewer stays when the codecs stay."""
    secret = token(gateway, "media")[1]

    async def exchange() -> None:
        with encoder(publishing(port, secret), tmp_path) as first:
            await asyncio.to_thread(flowing, gateway, first)
            viewer = AiortcViewer(gateway.client, "yard")
            try:
                await viewer.start()
                await viewer.expect_media()
                with encoder(publishing(port, secret), tmp_path) as second:
                    await asyncio.to_thread(eventually, lambda: not first.is_running, "the encoder has ended")
                    await viewer.expect_media()
                    assert "another publisher has taken over the camera" in first.output()
                    async with aiortc_publishing(gateway.client, "yard"):
                        await asyncio.to_thread(eventually, lambda: not second.is_running, "the next one has ended")
                        # A publisher of both codecs gets the one that the viewer has.
                        await asyncio.to_thread(
                            eventually, lambda: codecs(gateway) == ["h264", "opus"], "WHIP has taken over"
                        )
            finally:
                await viewer.stop()
        with encoder(publishing(port, secret), tmp_path) as third:
            await asyncio.to_thread(flowing, gateway, third)

    run(exchange)
    wait_until_waiting(gateway)


def test_a_lost_connection_ends_the_publisher(gateway: Gateway, port: int, tmp_path: Path) -> None:
    with encoder(publishing(port, token(gateway, "media")[1]), tmp_path) as publisher:
        flowing(gateway, publisher)
        publisher.kill()
        wait_until_waiting(gateway)
    assert source(gateway)["reason"] == "the publisher closed the connection; waiting for a publisher"


def test_the_end_of_a_token_ends_its_publisher(gateway: Gateway, port: int, tmp_path: Path) -> None:
    identifier, secret = token(gateway, "media")
    with encoder(publishing(port, secret), tmp_path) as publisher:
        flowing(gateway, publisher)
        assert gateway.client.request("DELETE", f"/v1/tokens/{identifier}").status == 204
        eventually(lambda: not publisher.is_running, "the encoder has ended")
        wait_until_waiting(gateway)
    assert "token no longer permits publishing" in source(gateway)["reason"]


def refused(port: int, key: str) -> str:
    """What ffmpeg says about a publisher that is refused."""
    done = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=15", "-t", "5",
         *H264, "-f", "flv", f"rtmp://127.0.0.1:{port}/live/{key}"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    return done.stderr


def test_who_may_not_publish_reads_why(gateway: Gateway, port: int) -> None:
    one, home = token(gateway, "media")[1], token(gateway, "media", device=None)[1]
    viewing = token(gateway, "view")[1]
    assert "KEY?token=TOKEN" in refused(port, "yard")
    assert "not valid or has expired" in refused(port, "yard?token=wrong")
    assert "scope media" in refused(port, f"yard?token={viewing}")
    # A token for one camera publishes to no other, and one that permits more must not be in an address.
    assert "unauthorized" in refused(port, f"front-door?token={one}")
    assert "permit only the scope media" in refused(port, f"yard?token={gateway.token}")
    assert "source: publisher" in refused(port, f"front-door?token={home}")
    assert "there is no camera attic" in refused(port, f"attic?token={home}")
    assert gateway.client.metric("gatehouse_rtmp_refused_credentials_total") == 1
    assert source(gateway)["state"] == "backingOff"


def test_what_is_published_is_not_played_by_rtmp(gateway: Gateway, port: int) -> None:
    url = f"rtmp://127.0.0.1:{port}/live/yard?token={token(gateway, 'media')[1]}"
    played = subprocess.run(
        ["ffprobe", "-v", "error", url], capture_output=True, text=True, timeout=PATIENCE, check=False
    )  # fmt: skip
    assert played.returncode != 0 and "it serves its cameras by RTSP, HLS and WHEP" in played.stderr
