"""ffmpeg and GStreamer publish by RTSP (RFC 2326, sections 10.3 and 10.11) and are cameras like any other."""

import asyncio
import itertools
import json
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from peers.aiortc_viewer import AiortcViewer, expect_live_view
from peers.coroutines import run
from peers.gateway import DOORBELL, Camera, Gateway
from peers.polling import PATIENCE, eventually
from peers.ports import free_port_pair
from peers.processes import OwnedProcess
from peers.publisher import aiortc_publishing

NUMBERS = itertools.count(1)
PICTURE = ["-re", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=15"]
SOUND = ["-re", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000"]
H264 = ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-profile:v", "baseline",
        "-pix_fmt", "yuv420p", "-g", "15"]  # fmt: skip


@pytest.fixture(scope="module")
def rtsp_port() -> int:
    return free_port_pair()


@pytest.fixture(scope="module")
def gateway(binary: Path, rtsp_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    running = Gateway(
        binary,
        tmp_path_factory.mktemp("rtsp-publish"),
        [DOORBELL, Camera("phone", "publisher"), Camera("studio", "whip")],
        {"rtsp": {"host": "127.0.0.1", "port": rtsp_port}},
    )
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"
    assert running.token not in running.process.output(), "the token is in the log"


def source(gateway: Gateway, device: str = "phone") -> dict[str, Any]:
    return dict(gateway.client.get(f"/v1/devices/{device}")["source"])


def codecs(gateway: Gateway, device: str = "phone") -> list[str]:
    return [track["codec"].lower() for track in source(gateway, device)["tracks"]]


def wait_until_waiting(gateway: Gateway, device: str = "phone") -> None:
    eventually(lambda: source(gateway, device)["state"] == "backingOff", "the camera waits again")


def token(gateway: Gateway, *scopes: str, device: str = "phone") -> tuple[str, str]:
    """The id and the secret of a token for one camera."""
    grants = [{"scopes": list(scopes), "deviceID": gateway.client.device_id(device)}]
    body = json.dumps({"name": f"encoder {next(NUMBERS)}", "grants": grants})
    answer = gateway.client.request("POST", "/v1/tokens", body, {"Content-Type": "application/json"})
    assert answer.status == 201, answer.text
    return answer.json["id"], answer.json["token"]


def by_token(port: int, secret: str, device: str = "phone") -> str:
    return f"rtsp://127.0.0.1:{port}/{device}?token={secret}"


def by_password(port: int, secret: str, device: str = "phone") -> str:
    return f"rtsp://anybody:{secret}@127.0.0.1:{port}/{device}"


def encoding(url: str, transport: str = "tcp", sound: str = "libopus") -> list[str]:
    """The command of an encoder that publishes a test picture and a tone."""
    return ["ffmpeg", "-nostdin", "-v", "error", *PICTURE, *SOUND, *H264, "-c:a", sound,
            "-f", "rtsp", "-rtsp_transport", transport, url]  # fmt: skip


@contextmanager
def encoder(command: list[str], folder: Path) -> Iterator[OwnedProcess]:
    process = OwnedProcess(command, folder / f"encoder-{next(NUMBERS)}.log")
    try:
        yield process
    finally:
        process.stop()


def kinds(url: str, transport: str = "tcp") -> list[str]:
    """The kinds of the packets that ffprobe reads in two seconds."""
    probed = subprocess.run(
        ["ffprobe", "-v", "error", "-rtsp_transport", transport, "-read_intervals", "%+2",
         "-show_entries", "packet=codec_type", "-of", "json", url],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert probed.returncode == 0, probed.stderr.replace(url, "")
    return [packet["codec_type"] for packet in json.loads(probed.stdout)["packets"]]


@pytest.mark.parametrize("transport", ["tcp", "udp"])
@pytest.mark.parametrize("login", ["password", "token"])
def test_ffmpeg_is_a_camera_like_any_other(
    gateway: Gateway, rtsp_port: int, tmp_path: Path, transport: str, login: str
) -> None:
    secret = token(gateway, "media")[1]
    url = by_token(rtsp_port, secret) if login == "token" else by_password(rtsp_port, gateway.token)
    with encoder(encoding(url, transport), tmp_path):
        gateway.wait_until_flowing("phone")
        assert codecs(gateway) == ["h264", "opus"]
        run(lambda: expect_live_view(gateway.client, "phone"))
        read = kinds(by_password(rtsp_port, gateway.token))
        assert read.count("video") >= 15 and read.count("audio") >= 20
        assert gateway.client.metric("gatehouse_rtsp_publishers") == 1
        picture = gateway.client.request("GET", "/v1/devices/phone/snapshot.jpg")
        assert picture.status == 200 and picture.body[:2] == b"\xff\xd8"
    wait_until_waiting(gateway)
    assert source(gateway)["reason"] == "the publisher has stopped; waiting for a publisher"
    lines = [line for line in gateway.process.output().splitlines() if "RTSP publisher connected" in line]
    assert f"transport={transport.upper()}" in lines[-1] and "program=Lavf" in lines[-1]
    assert secret not in gateway.process.output()


def test_sound_that_no_browser_plays_is_transcoded(gateway: Gateway, rtsp_port: int, tmp_path: Path) -> None:
    with encoder(encoding(by_password(rtsp_port, gateway.token, "studio"), sound="aac"), tmp_path):
        gateway.wait_until_flowing("studio")
        run(lambda: expect_live_view(gateway.client, "studio"))
    wait_until_waiting(gateway, "studio")


def has_client_sink() -> bool:
    found = subprocess.run(
        ["gst-inspect-1.0", "rtspclientsink"], capture_output=True, timeout=PATIENCE, check=False
    )  # fmt: skip
    return found.returncode == 0


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_gstreamer_publishes(gateway: Gateway, rtsp_port: int, tmp_path: Path, protocol: str) -> None:
    if not has_client_sink():
        pytest.skip("GStreamer has no rtspclientsink here; the package gstreamer1.0-rtsp brings it")
    command = [
        "gst-launch-1.0", "-e", "rtspclientsink", "name=out", f"protocols={protocol}", "latency=0",
        f"location=rtsp://127.0.0.1:{rtsp_port}/phone", "user-id=anybody", f"user-pw={gateway.token}",
        "videotestsrc", "is-live=true", "!", "video/x-raw,width=320,height=240,framerate=15/1", "!",
        "x264enc", "tune=zerolatency", "speed-preset=ultrafast", "key-int-max=15", "!",
        "video/x-h264,profile=constrained-baseline", "!", "out.sink_0",
        "audiotestsrc", "is-live=true", "!", "audioconvert", "!", "opusenc", "!", "out.sink_1",
    ]  # fmt: skip
    with encoder(command, tmp_path) as publisher:
        try:
            gateway.wait_until_flowing("phone")
        except AssertionError as failure:
            raise AssertionError(f"{failure}\n{publisher.output()[-4000:]}") from None
        assert codecs(gateway) == ["h264", "opus"]
        run(lambda: expect_live_view(gateway.client, "phone"))
    wait_until_waiting(gateway)


def takeovers(gateway: Gateway) -> int:
    """How often a publisher has replaced another one."""
    ends = re.findall(r'publisher ended .*reason="([^"]*)"', gateway.process.output())
    return ends.count("another publisher has taken over the camera")


@asynccontextmanager
async def encoder_taking_over(gateway: Gateway, command: list[str], folder: Path) -> AsyncIterator[OwnedProcess]:
    """An encoder that replaces another publisher, and tries again if the last takeover was less than a second ago."""
    before = takeovers(gateway)
    for _ in range(5):
        with encoder(command, folder) as process:
            await asyncio.to_thread(
                eventually, lambda: takeovers(gateway) > before or not process.is_running, "the encoder begins or ends"
            )
            if takeovers(gateway) > before:
                yield process
                return
    raise AssertionError(f"no encoder could begin: {process.output()[-4000:]}")


def test_publishers_of_two_protocols_replace_each_other(gateway: Gateway, rtsp_port: int, tmp_path: Path) -> None:
    """One camera has one publisher. A viewer stays when the codecs stay."""
    before = takeovers(gateway)

    async def exchange() -> None:
        url = by_password(rtsp_port, gateway.token)
        with encoder(encoding(url), tmp_path) as first:
            await asyncio.to_thread(gateway.wait_until_flowing, "phone")
            async with aiortc_publishing(gateway.client, "phone"):
                await asyncio.to_thread(eventually, lambda: not first.is_running, "the encoder has ended")
                await asyncio.to_thread(eventually, lambda: codecs(gateway) == ["vp8", "opus"], "WHIP has taken over")
                await asyncio.to_thread(gateway.wait_until_flowing, "phone")
                async with encoder_taking_over(gateway, encoding(url), tmp_path) as second:
                    await asyncio.to_thread(
                        eventually, lambda: codecs(gateway) == ["h264", "opus"], "RTSP has taken over"
                    )
                    await asyncio.to_thread(gateway.wait_until_flowing, "phone")
                    viewer = AiortcViewer(gateway.client, "phone")
                    try:
                        await viewer.start()
                        await viewer.expect_media()
                        async with encoder_taking_over(gateway, encoding(url), tmp_path):
                            await asyncio.to_thread(eventually, lambda: not second.is_running, "the next one is there")
                            await viewer.expect_media()
                    finally:
                        await viewer.stop()

    run(exchange)
    wait_until_waiting(gateway)
    assert takeovers(gateway) - before == 3


def test_a_lost_connection_ends_the_publisher_at_once(gateway: Gateway, rtsp_port: int, tmp_path: Path) -> None:
    with encoder(encoding(by_password(rtsp_port, gateway.token)), tmp_path) as publisher:
        gateway.wait_until_flowing("phone")
        publisher.kill()
        wait_until_waiting(gateway)
    assert source(gateway)["reason"] == "the publisher closed the connection; waiting for a publisher"


def test_the_end_of_a_token_ends_its_publisher(gateway: Gateway, rtsp_port: int, tmp_path: Path) -> None:
    identifier, secret = token(gateway, "media")
    with encoder(encoding(by_token(rtsp_port, secret)), tmp_path) as publisher:
        gateway.wait_until_flowing("phone")
        assert gateway.client.request("DELETE", f"/v1/tokens/{identifier}").status == 204
        eventually(lambda: not publisher.is_running, "the encoder has ended")
        wait_until_waiting(gateway)
    assert "token no longer permits publishing" in source(gateway)["reason"]


def refused(url: str) -> str:
    """What ffmpeg says about a publisher that is refused."""
    done = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=15", "-t", "5",
         *H264, "-f", "rtsp", "-rtsp_transport", "tcp", url],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    return done.stderr


def test_who_may_not_publish_reads_why(gateway: Gateway, rtsp_port: int) -> None:
    viewer, encoding_token = token(gateway, "view")[1], token(gateway, "media")[1]
    assert "401" in refused(by_token(rtsp_port, "gatehouse_no"))
    assert "401" in refused(by_password(rtsp_port, "wrong"))
    assert "401" in refused(f"rtsp://127.0.0.1:{rtsp_port}/phone")
    answer = refused(by_token(rtsp_port, viewer))
    assert "403" in answer and "scope media" in answer
    # A token for one camera publishes to no other, and one that permits more must not be in an address.
    assert "403" in refused(by_token(rtsp_port, encoding_token, "studio"))
    answer = refused(by_token(rtsp_port, gateway.token))
    assert "403" in answer and "permit only the scope media" in answer
    answer = refused(by_password(rtsp_port, gateway.token, "front-door"))
    assert "405" in answer and "source: publisher" in answer
    assert "404" in refused(by_password(rtsp_port, gateway.token, "attic"))
    lines = [line for line in gateway.process.output().splitlines() if "RTSP publisher refused" in line]
    for words in ["it needs the scope media", "permit only the scope media", "source: publisher", "attic"]:
        assert any(words in line for line in lines), f"{words} is not in {lines}"
    assert source(gateway)["state"] == "backingOff"
