"""TURN servers that mean no good, named before one that relays. A view goes on, and the gateway stays small."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from aiortc import RTCIceServer
from peers.aiortc_viewer import AiortcViewer
from peers.coroutines import run
from peers.coturn import PASSWORD, USER, Coturn
from peers.gateway import DOORBELL, Gateway
from peers.hostile_turn import HostileTURN, Misdeed
from peers.memory import own_memory
from peers.networks import INTERNET, INTERNET_2, NAT, PAGE, Networks, inside
from peers.polling import PATIENCE, eventually
from peers.remote_gateway import STUN, TURN, path_of_the_session, relays

PORT = 3479
MEBIBYTE = 1 << 20


@contextmanager
def hostile(networks: Networks, *misdeeds: Misdeed) -> Iterator[list[HostileTURN]]:
    servers: list[HostileTURN] = []
    try:
        for number, misdeed in enumerate(misdeeds):
            start = partial(HostileTURN, INTERNET_2, PORT + number, misdeed)
            servers.append(inside(networks.internet, start))
        yield servers
    finally:
        for server in servers:
            server.stop()


@contextmanager
def gateway_with(
    binary: Path, folder: Path, networks: Networks, servers: Sequence[HostileTURN], nat: NAT
) -> Iterator[Gateway]:
    """A gateway that knows these servers, and coturn as the last one. Both routers translate in this way."""
    urls: list[dict[str, object]] = [{"url": server.url} for server in servers]
    turn = [one | {"username": USER, "credential": PASSWORD} for one in [*urls, TURN]]
    gateway = Gateway(
        binary,
        folder,
        [DOORBELL],
        sections={"network": {"stun": [STUN.removeprefix("stun:")], "turn": turn}},
        prefix=networks.prefix(networks.home),
    )
    gateway.client = gateway.client_at(PAGE)
    networks.home_router.set(nat, tcp_port=gateway.port)
    networks.away_router.set(nat)
    try:
        eventually(lambda: relays(networks, gateway), "a TURN server relays for the gateway")
        inside(networks.away, lambda: gateway.wait_until_flowing(DOORBELL.id))
        yield gateway
        assert gateway.process.is_running, f"the gateway ended unexpectedly:\n{gateway.process.output()[-4000:]}"
    finally:
        gateway.stop()
        networks.home_router.set()
        networks.away_router.set()


def relaying_host(answer: str) -> str:
    """The host of the one relayed candidate of an answer."""
    (line,) = [line for line in answer.splitlines() if " typ relay " in line]
    return line.split()[4]


def test_servers_that_refuse_in_every_way_are_passed_over(
    binary: Path, networks: Networks, coturn: Coturn, tmp_path: Path
) -> None:
    kinds = (Misdeed.CLOSING, Misdeed.REDIRECTION, Misdeed.CHALLENGES, Misdeed.CONTRADICTION)
    with (
        hostile(networks, *kinds) as servers,
        gateway_with(binary, tmp_path, networks, servers, NAT.SYMMETRIC) as gateway,
    ):

        async def watch() -> str:
            viewer = AiortcViewer(gateway.client, DOORBELL.id, [RTCIceServer(STUN)])
            try:
                await viewer.start()
                await viewer.expect_media()
                (session,) = gateway.client.sessions()
                assert session["path"] == "relayed", session
                return viewer.answer
            finally:
                await viewer.stop()

        assert relaying_host(inside(networks.away, lambda: run(watch))) == INTERNET
        assert all(one.connections > 0 for one in servers), [(one.misdeed, one.connections) for one in servers]
        assert not any(one.was_followed for one in servers)
        assert own_memory(gateway.process.pid) < 400 * MEBIBYTE


def test_a_server_that_hangs_gives_way_to_the_next_while_a_viewer_plays(
    binary: Path, networks: Networks, coturn: Coturn, tmp_path: Path, report: list[str]
) -> None:
    with (
        hostile(networks, Misdeed.HANGING) as (first,),
        gateway_with(binary, tmp_path, networks, [first], NAT.RESTRICTED) as gateway,
    ):

        async def answer_to_another() -> str:
            other = AiortcViewer(gateway.client, DOORBELL.id, [RTCIceServer(STUN)])
            try:
                await other.start()
                await other.expect_media()
                return other.answer
            finally:
                await other.stop()

        async def on_a_direct_path() -> AiortcViewer:
            """A view that does not end with the server. On a busy machine the relayed path may answer first."""
            for _ in range(5):
                viewer = AiortcViewer(gateway.client, DOORBELL.id, [RTCIceServer(STUN)])
                await viewer.start()
                await viewer.expect_media()
                assert relaying_host(viewer.answer) == INTERNET_2
                if viewer.remote_host != INTERNET_2:
                    return viewer
                await viewer.stop()
            raise AssertionError("each of five views chose the relayed path")

        async def watch() -> tuple[int, int]:
            viewer = await on_a_direct_path()
            try:
                before = peak = own_memory(gateway.process.pid)
                first.hang()
                # Each round waits for a second of sound.
                for _ in range(int(PATIENCE)):
                    if first.is_abandoned.is_set():
                        break
                    await viewer.expect_media()
                    peak = max(peak, own_memory(gateway.process.pid))
                assert first.is_abandoned.is_set(), "the gateway gives up the server that hangs"
                await viewer.expect_media()
                return before, peak
            finally:
                await viewer.stop()

        before, peak = inside(networks.away, lambda: run(watch))
        eventually(lambda: relays(networks, gateway), "the next server relays for the gateway")
        assert relaying_host(inside(networks.away, lambda: run(answer_to_another))) == INTERNET
        report.append(f"a TURN server that hangs: {before >> 20} MiB before, {peak >> 20} MiB at most")
        assert peak - before < 64 * MEBIBYTE


def test_a_flood_of_tiny_channel_data_fills_no_memory_and_stops_no_picture(
    binary: Path, networks: Networks, coturn: Coturn, tmp_path: Path, report: list[str]
) -> None:
    with (
        hostile(networks, Misdeed.TINY_DATA) as (first,),
        gateway_with(binary, tmp_path, networks, [first], NAT.SYMMETRIC) as gateway,
    ):

        async def watch() -> tuple[int, int]:
            before = peak = own_memory(gateway.process.pid)
            viewer = AiortcViewer(gateway.client, DOORBELL.id, [RTCIceServer(STUN)])
            try:
                await viewer.start()
                for _ in range(int(PATIENCE)):
                    await viewer.expect_media(frames=10)
                    peak = max(peak, own_memory(gateway.process.pid))
                    if first.is_flood_over.is_set():
                        break
                # The view goes through the server that floods.
                assert path_of_the_session(networks, gateway) == "relayed"
                assert relaying_host(viewer.answer) == INTERNET_2
                return before, peak
            finally:
                await viewer.stop()

        before, peak = inside(networks.away, lambda: run(watch))
        report.append(
            f"{first.flooded >> 20} MiB of tiny channel data: {before >> 20} MiB before, {peak >> 20} MiB at most"
        )
        assert first.flooded > 0, "the flood has begun"
        assert peak - before < 96 * MEBIBYTE
