"""Networks in which a view has one path only: a camera, a gateway and a browser in each of them."""

import pathlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from page_browsers import ChromiumBrowser
from path_kinds import STUN, Case, Kind
from peers import chromium
from peers.coturn import PASSWORD, PORT, USER, Coturn
from peers.gateway import Camera, Gateway
from peers.links import Links
from peers.networks import INTERNET, PAGE, Networks, inside
from peers.polling import eventually
from peers.ports import free_port
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Playwright

CAMERA = ("--width", "640", "--height", "360", "--rate", "15", "--bitrate", "900", "--key-interval", "4")
SECTIONS: dict[str, object] = {"log": {"level": "warning"}, "sessions": {"perCamera": 200, "perPrincipal": 400}}
# The addresses of a home, none of which the Internet knows.
GATEWAY, VIEWER = "192.168.1.10", "192.168.2.10"


@dataclass
class House:
    """A running gateway, and the browser that watches its camera from elsewhere."""

    gateway: Gateway
    browser: ChromiumBrowser
    host: str
    """The address by which the browser reaches the gateway."""
    network: str
    """The network namespace of the gateway."""

    @property
    def address(self) -> str:
        """The page of the camera, signed in."""
        return f"http://{self.host}:{self.gateway.port}/camera/{self.camera}#token={self.gateway.token}"

    @property
    def camera(self) -> str:
        return self.gateway.cameras[0].id

    def sessions(self) -> list[dict[str, Any]]:
        """The views, as the gateway reports them."""
        return inside(self.network, self.gateway.client.sessions)

    def wait_until_alone(self) -> None:
        """Waits until no view is left, so that none disturbs what is measured next."""
        eventually(lambda: not self.sessions(), "the last views have ended")


class Site(Protocol):
    """Networks with a camera and a browser, for one gateway after the other."""

    def house(self, program: pathlib.Path, folder: pathlib.Path, case: Case) -> AbstractContextManager[House]:
        """A gateway whose camera delivers, and from now on only the path of this case."""


@contextmanager
def running(
    program: pathlib.Path,
    folder: pathlib.Path,
    camera: Camera,
    network: str,
    sections: dict[str, object],
) -> Iterator[Gateway]:
    """A gateway in a network namespace."""
    folder.mkdir()
    gateway = Gateway(program, folder, [camera], sections=SECTIONS | sections, prefix=Networks.prefix(network))
    try:
        inside(network, lambda: gateway.wait_until_flowing(camera.id))
        yield gateway
    finally:
        gateway.stop()


class OneHome:
    """Gateway and viewer in one home. The host between them only forwards."""

    def __init__(self, resources: ExitStack, playwright: Playwright, folder: pathlib.Path) -> None:
        folder.mkdir()
        self.links = Links()
        resources.callback(self.links.close)
        for host, address, device in (
            (self.links.gateway, GATEWAY, "gateway"),
            (self.links.viewer, VIEWER, "viewer"),
        ):
            router = address.rsplit(".", 1)[0] + ".1"
            host.add_address(f"{address}/24")
            self.links.middle.add_address(f"{router}/24", device)
            host.add_route("default", router)
            # A run of datagrams that the kernel splits late would reach the router whole, and be lost whole.
            host.run("ethtool", "-K", "eth0", "tx-udp-segmentation", "off")
        self._camera = camera_in(self.links.gateway.name, resources, folder)
        self._browser = browser_in(self.links.viewer.name, resources, playwright, folder)

    @contextmanager
    def house(self, program: pathlib.Path, folder: pathlib.Path, case: Case) -> Iterator[House]:
        network = self.links.gateway.name
        # Where checks over UDP are lost, TCP would be faster.
        sections: dict[str, object] = {"network": {"tcp": False}}
        with running(program, folder, self._camera, network, sections) as gateway:
            self.lose(case.loss)
            yield House(gateway, self._browser, GATEWAY, network)

    def lose(self, loss: int) -> None:
        """Drops this percentage of the datagrams at random, in both directions."""
        rules = [f"meta l4proto udp numgen random mod 100 < {loss} drop"] if loss else []
        self.links.middle.set_forwarding(*rules)


class TwoHomes:
    """Gateway and viewer in two homes, each behind a router that translates addresses, and coturn between them."""

    def __init__(self, resources: ExitStack, playwright: Playwright, folder: pathlib.Path) -> None:
        folder.mkdir()
        self._networks = Networks()
        resources.callback(self._networks.close)
        server = Coturn(INTERNET, folder, self._networks.prefix(self._networks.internet))
        resources.callback(server.stop)
        self._camera = camera_in(self._networks.home, resources, folder)
        self._browser = browser_in(self._networks.away, resources, playwright, folder)

    @contextmanager
    def house(self, program: pathlib.Path, folder: pathlib.Path, case: Case) -> Iterator[House]:
        kind, networks, port = case.kind, self._networks, free_port()
        sections: dict[str, object] = {
            "media": {"port": port, "iceServers": [viewers_server(kind)]},
            "network": network_section(kind),
        }
        networks.home_router.set()
        networks.away_router.set()
        with running(program, folder, self._camera, networks.home, sections) as gateway:

            def is_ready() -> bool:
                names = ["gatehouse_media_port_outside_addresses"]
                names += ["gatehouse_turn_allocated"] if kind.is_relayed_for_gateway else []
                return inside(networks.home, lambda: all(gateway.client.metric(name) == 1 for name in names))

            eventually(is_ready, "the gateway knows its address outside")
            media_port = None if kind.tcp_port is None else kind.tcp_port or port
            networks.home_router.set(kind.nat, tcp_port=gateway.port, media_tcp_port=media_port)
            networks.away_router.set(kind.nat, blocks_udp=kind.blocks_udp, loss=case.loss)
            yield House(gateway, self._browser, PAGE, networks.home)


def camera_in(network: str, resources: ExitStack, folder: pathlib.Path) -> Camera:
    cameras = RTSPCameras(folder / "camera.log", *CAMERA, prefix=Networks.prefix(network))
    resources.callback(cameras.stop)
    return cameras.camera("camera", "silent")


def browser_in(network: str, resources: ExitStack, playwright: Playwright, folder: pathlib.Path) -> ChromiumBrowser:
    # coturn's certificate is from an authority that nobody trusts.
    launched = chromium.launch_inside(playwright, Networks.prefix(network), folder, trusts_everybody=True)
    resources.callback(launched.close)
    return ChromiumBrowser(launched)


def viewers_server(kind: Kind) -> dict[str, str]:
    credentials = {} if kind.viewers_server == STUN else {"username": USER, "credential": PASSWORD}
    return {"url": kind.viewers_server} | credentials


def network_section(kind: Kind) -> dict[str, object]:
    section: dict[str, object] = {"stun": [f"{INTERNET}:{PORT}"]}
    if kind.is_relayed_for_gateway:
        section["turn"] = [{"url": f"turn:{INTERNET}:{PORT}", "username": USER, "credential": PASSWORD}]
    if kind.tcp_port:
        section["tcp"] = kind.tcp_port
    return section
