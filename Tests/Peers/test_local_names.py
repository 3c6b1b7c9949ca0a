"""The gateway's name in the local network, and viewers that hide their addresses behind names."""

import subprocess
from pathlib import Path

from peers.avahi import Avahi
from peers.chromium import launch_inside, open_page
from peers.gateway import DOORBELL, Gateway
from peers.mdns_host import MulticastDNSHost
from peers.networks import Networks, inside
from peers.polling import eventually
from peers.viewer import viewing
from playwright.sync_api import Playwright

HOME, ROUTER = "192.168.1.10", "192.168.1.1"
"""The gateway's machine, and the other one in its network."""


def gateway_at_home(binary: Path, folder: Path, networks: Networks, mdns: object = True) -> Gateway:
    gateway = Gateway(
        binary, folder, [DOORBELL], sections={"network": {"mdns": mdns}}, prefix=networks.prefix(networks.home)
    )
    gateway.client = gateway.client_at(HOME)
    return gateway


def finding(gateway: Gateway, subject: str) -> dict[str, str]:
    """What the doctor says about one thing."""
    found = [one for one in gateway.client.get("/v1/doctor")["findings"] if one["subject"] == subject]
    return found[0] if found else {}


def test_the_name_is_announced_answered_and_withdrawn(binary: Path, networks: Networks, tmp_path: Path) -> None:
    gateway = gateway_at_home(binary, tmp_path, networks)

    def resolve() -> None:
        with MulticastDNSHost(ROUTER) as host:
            eventually(lambda: host.addresses("gatehouse.local") == [HOME], "the name leads to the gateway")
            eventually(lambda: finding(gateway, "localName").get("state") == "good", "the doctor knows the name")
            assert gateway.client.metric("gatehouse_mdns_announced") == 1
            assert gateway.stop() == 0
            eventually(lambda: not host.knows("gatehouse.local"), "the name is forgotten", within=30)

    try:
        inside(networks.home_router.name, resolve)
    finally:
        gateway.stop()


def test_a_name_that_another_machine_has_is_left_to_it(binary: Path, networks: Networks, tmp_path: Path) -> None:
    owner = Avahi("gatehouse", "lan", tmp_path, networks.prefix(networks.home_router.name))
    try:
        owner.wait_until_announced()
        gateway = gateway_at_home(binary, tmp_path, networks)

        def resolve() -> None:
            with MulticastDNSHost(ROUTER) as host:
                eventually(lambda: host.addresses("gatehouse-2.local") == [HOME], "the gateway takes the next name")
                # A responder without processor time does not answer within the three seconds of a question.
                found = eventually(lambda: host.addresses("gatehouse.local"), "the other machine answers")
                assert found == [ROUTER]

                def told() -> bool:
                    note = finding(gateway, "localName")
                    return note.get("state") == "note" and "gatehouse-2.local" in note["message"]

                eventually(told, "the doctor tells of the next name")

        try:
            inside(networks.home_router.name, resolve)
        finally:
            gateway.stop()
    finally:
        owner.stop()


def test_without_multicast_dns_there_is_no_name(binary: Path, networks: Networks, tmp_path: Path) -> None:
    gateway = gateway_at_home(binary, tmp_path, networks, mdns=False)

    def resolve() -> None:
        with MulticastDNSHost(ROUTER) as host:
            assert host.addresses("gatehouse.local") == []
            assert finding(gateway, "localName") == {}

    try:
        inside(networks.home_router.name, resolve)
    finally:
        gateway.stop()


def test_a_viewer_that_hides_its_address_is_reached_by_its_name(
    binary: Path, driver: Playwright, networks: Networks, tmp_path: Path
) -> None:
    """A firewall drops what the media port has not asked for, so the viewer's own checks do not arrive. The gateway has
    to send first, to an address that it knows only by the name in the offer. Without permission to use a microphone
    Chromium offers the address of its default route alone, so it runs where that leads into the gateway's network."""
    gateway = gateway_at_home(binary, tmp_path, networks)
    rules = f"""
        table inet shut {{
            chain input {{
                type filter hook input priority 0
                udp dport {gateway.media_port} ct state new drop
                tcp dport {gateway.media_port} drop
            }}
        }}
    """
    prefix = networks.prefix(networks.home)
    subprocess.run([*prefix, "nft", "-f", "-"], input=rules, text=True, check=True)
    try:
        inside(networks.home_router.name, lambda: gateway.wait_until_flowing(DOORBELL.id))
        browser = launch_inside(driver, prefix, tmp_path)
        try:
            with open_page(browser, f"http://{HOME}:{gateway.port}") as page, viewing(page, gateway.token) as viewer:
                viewer.call("playWHEP", device=DOORBELL.id, gathered=True)
                viewer.expect_media(frames=10)
                offer = page.evaluate("window.viewer.pc.localDescription.sdp")
                hosts = [line.split()[4] for line in offer.splitlines() if " typ host" in line]
                assert hosts and all(host.endswith(".local") for host in hosts), hosts
            resolved = inside(
                networks.home_router.name, lambda: gateway.client.metric("gatehouse_mdns_resolved_names_total")
            )
            assert resolved >= 1
        finally:
            browser.close()
    finally:
        subprocess.run([*prefix, "nft", "delete", "table", "inet", "shut"], check=True)
        gateway.stop()
