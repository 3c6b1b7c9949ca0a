"""Every transport of RTP from a camera, through the gateway to a viewer: UDP, TLS, HTTP and HTTPS."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.aiortc_viewer import expect_live_view
from peers.coroutines import run
from peers.gateway import Gateway
from peers.rtsp_cameras import PASSWORD, QUOTED_PASSWORD, RTSPCameras


@pytest.fixture(scope="module")
def carried(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    directory = tmp_path_factory.mktemp("transports")
    datagrams = RTSPCameras(directory / "udp.log", "--transport", "udp")
    secure = RTSPCameras(directory / "tls.log", "--tls")
    plain = RTSPCameras(directory / "plain.log")
    gateway = Gateway(
        binary,
        directory,
        [
            # The server offers nothing but UDP, which `auto` finds out.
            datagrams.camera("datagrams", "h264"),
            datagrams.camera("pinned", "vp8", transport="udp"),
            secure.camera("secure", "vp8"),
            plain.camera("tunnel", "vp8", transport="http"),
            secure.camera("secure-tunnel", "vp8", transport="http"),
        ],
    )
    yield gateway
    gateway.stop()
    for cameras in (datagrams, secure, plain):
        cameras.stop()


@pytest.mark.parametrize("device", ["datagrams", "pinned", "secure", "tunnel", "secure-tunnel"])
def test_reaches_a_viewer(carried: Gateway, device: str) -> None:
    carried.wait_until_flowing(device)
    run(lambda: expect_live_view(carried.client, device))


def test_no_password_is_revealed(carried: Gateway) -> None:
    log = carried.process.log.read_text()
    assert PASSWORD not in log and QUOTED_PASSWORD not in log
