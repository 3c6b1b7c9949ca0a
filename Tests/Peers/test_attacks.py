"""Hosts without a token try to take all memory, all connections and the whole log, while the owner uses the page."""

import http.client
import re
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.attackers import Attackers
from peers.client import Client
from peers.gateway import DOORBELL, Gateway
from peers.memory import own_memory
from peers.namespace import Namespace
from peers.polling import PATIENCE, eventually
from peers.ports import free_port

pytestmark = pytest.mark.alone

MEBIBYTE = 1 << 20


@pytest.fixture(scope="module")
def attackers(namespace: Namespace | None) -> Attackers:
    if namespace is None:
        pytest.skip("several hosts need a network namespace")
    return Attackers(namespace, 8)


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    return {"https": free_port(), "rtsp": free_port()}


@pytest.fixture(scope="module")
def besieged(
    binary: Path, attackers: Attackers, ports: dict[str, int], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    running = Gateway(
        binary, tmp_path_factory.mktemp("besieged"), [DOORBELL],
        {"rtsp": {"host": "0.0.0.0", "port": ports["rtsp"]}, "log": {"level": "info", "showAddresses": True}},
        https_port=ports["https"],
    )  # fmt: skip
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


def use(client: Client, count: int = 5) -> float:
    """Requests of the owner, each over a connection of its own; answers how many a second were served."""
    begin = time.monotonic()
    for _ in range(count):
        assert client.request("GET", "/v1/gateway").status == 200
    return count / (time.monotonic() - begin)


def wait_for_calm(gateway: Gateway) -> None:
    # Only of the owner's own request.
    eventually(lambda: gateway.client.metric("gatehouse_connections") <= 2, "all connections have gone")


@pytest.fixture
def owner(besieged: Gateway, attackers: Attackers) -> Client:
    """The owner, who comes from another host than the attackers."""
    return besieged.client_at(attackers.namespace.host_address)


@pytest.mark.parametrize(
    ("kind", "listener"),
    [
        ("pipelined", "http"),
        ("pipelined", "https"),
        ("idle", "https"),
        ("idle", "rtsp"),
        ("slow", "http"),
        # TLS handshakes that begin and go no further: without their last byte, or dropped after the costly answer.
        ("slow", "https"),
        ("hellos", "https"),
    ],
)
def test_the_owner_gets_in_while_strangers_hold_all_connections(
    besieged: Gateway, owner: Client, attackers: Attackers, ports: dict[str, int], report: list[str],
    kind: str, listener: str,
) -> None:  # fmt: skip
    use(owner)
    calm = use(owner)
    before = own_memory(besieged.process.pid)
    # More than there are places, so that the owner's new connections wait with the strangers' in the kernel's queue.
    with attackers.attack(kind, ports.get(listener, besieged.port), 680, listener) as done:
        during = use(owner)
        eventually(lambda: owner.metric("gatehouse_connections") < 660, "the connections are bounded")
        peak = own_memory(besieged.process.pid)
    wait_for_calm(besieged)
    # The gateway returns what the allocator keeps, once most connections have been gone for some seconds.
    eventually(lambda: own_memory(besieged.process.pid) - before < 24 * MEBIBYTE, "the memory goes back to the system")
    after = own_memory(besieged.process.pid)
    report.append(
        f"{kind} at {listener}: {before // MEBIBYTE} MiB before, {peak // MEBIBYTE} during, {after // MEBIBYTE} after; "
        f"{calm:.0f} requests a second before, {during:.0f} during; {done}"
    )
    assert peak - before < 200 * MEBIBYTE


def test_wrong_tokens_fill_no_log(besieged: Gateway, owner: Client, attackers: Attackers) -> None:
    size, began = len(besieged.process.output()), time.monotonic()
    refused = owner.metric("gatehouse_refused_sign_ins_total")
    with attackers.attack("guesses", besieged.port, connections=16) as done:
        eventually(lambda: owner.metric("gatehouse_refused_sign_ins_total") > refused + 500, "guesses are counted")
        eventually(lambda: "refused sign-ins" in besieged.process.output()[size:], "the log tells of them")
        use(owner)
    assert done["answers"] >= 500
    written = besieged.process.output()[size:].splitlines()
    # At most one for each host in a minute; what else happens writes a line or two.
    most = len(attackers.sources) * (1 + (time.monotonic() - began) // 60)
    assert len([line for line in written if "refused sign-ins" in line]) <= most, written
    assert len(written) < 3 * most, written


def test_a_host_is_counted_over_all_listeners(
    besieged: Gateway, owner: Client, attackers: Attackers, ports: dict[str, int]
) -> None:
    """One address opens as many connections as it can everywhere; newer ones replace its own older ones."""
    wait_for_calm(besieged)
    held = []
    try:
        for number in range(180):
            port = (besieged.port, ports["https"])[number % 2]
            held.append(attackers.namespace.connect(attackers.namespace.host_address, port))
        eventually(lambda: owner.metric("gatehouse_connections") <= 130, "the share of one host")
        # The one that came last is served, and those that came first have gone.
        last = held[178]
        last.sendall(b"GET /healthz HTTP/1.1\r\nHost: door\r\n\r\n")
        assert last.recv(100).startswith(b"HTTP/1.1 200 ")
        assert held[0].recv(100) == b""
    finally:
        for connection in held:
            connection.close()


def test_a_client_that_signed_in_keeps_its_connection(besieged: Gateway, owner: Client, attackers: Attackers) -> None:
    kept = http.client.HTTPConnection(owner.host, owner.port, timeout=PATIENCE)

    def status() -> int:
        kept.request("GET", "/v1/gateway", headers={"Authorization": f"Bearer {owner.token}"})
        answer = kept.getresponse()
        answer.read()
        return answer.status

    assert status() == 200
    number = kept.sock.getsockname()[1]
    with attackers.attack("idle", besieged.port, connections=680):
        for _ in range(20):
            assert status() == 200
            # The library would open another one without a word.
            assert kept.sock.getsockname()[1] == number
    kept.close()


def test_hosts_that_flood_rtsp_are_ignored_for_a_moment(
    besieged: Gateway, owner: Client, attackers: Attackers, ports: dict[str, int], report: list[str]
) -> None:
    """The kernel drops their packets, so that they cost little, and somebody else's player gets in."""
    wait_for_calm(besieged)
    before, began = owner.metric("gatehouse_rtsp_connections_refused_total"), time.monotonic()
    served = 0
    with attackers.attack("idle", ports["rtsp"], 680, "rtsp") as done:
        for _ in range(20):
            with socket.create_connection((owner.host, ports["rtsp"]), timeout=PATIENCE) as player:
                player.sendall(b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n")
                served += player.recv(1000).startswith(b"RTSP/1.0 200 ")
        refused, seconds = owner.metric("gatehouse_rtsp_connections_refused_total") - before, time.monotonic() - began
    report.append(f"flood at rtsp: {refused:.0f} connections refused in {seconds:.1f} s; {done}")
    assert served == 20
    # Each host is ignored for a second after 16 of them. What waited in the kernel's queue by then is still accepted.
    assert refused > 0
    assert refused < len(attackers.sources) * 16 * (seconds + 1) + 680


def conversation(port: int, request: bytes, end: bytes = b"") -> bytes:
    """All that the gateway answers, until it closes or `end` has come."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(request)
        answer = b""
        while not (end and end in answer):
            part = connection.recv(65536)
            if not part:
                break
            answer += part
        return answer


def test_an_improper_request_gets_its_status(besieged: Gateway) -> None:
    token = f"Authorization: Bearer {besieged.token}\r\n".encode()
    post = b"POST /whep/front-door HTTP/1.1\r\nHost: x\r\nContent-Type: application/sdp\r\n" + token
    cases = [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (post + b"Transfer-Encoding: chunked\r\n\r\n3\r\nv=0\r\nzz\r\n", 400),
        (post + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nv=0", 400),
        (post + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nv=00", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 40_000 + b"\r\n\r\n", 431),
        (b"GET /" + b"y" * 40_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n", 417),
    ]
    for request, status in cases:
        # The gateway closes after each by itself.
        answer = conversation(besieged.port, request)
        assert re.match(rb"HTTP/1\.1 (\d+)", answer), f"{request[:80]!r}: {answer!r}"
        assert answer.startswith(f"HTTP/1.1 {status} ".encode()), f"{request[:80]!r}: {answer[:300]!r}"
        assert answer.count(b"HTTP/1.1 ") == 1
    assert "request failed" not in besieged.process.output()


def test_a_body_is_requested_only_if_it_is_read(besieged: Gateway) -> None:
    head = b"POST /whep/front-door HTTP/1.1\r\nHost: x\r\nContent-Type: application/sdp\r\nExpect: 100-continue\r\n"
    token = f"Authorization: Bearer {besieged.token}\r\n".encode()
    # Without a token, and for a body that is too long, the answer is final.
    assert conversation(besieged.port, head + b"Content-Length: 3\r\n\r\n").startswith(b"HTTP/1.1 401 ")
    assert conversation(besieged.port, head + token + b"Content-Length: 70000\r\n\r\n").startswith(b"HTTP/1.1 413 ")
    with socket.create_connection(("127.0.0.1", besieged.port), timeout=PATIENCE) as connection:
        connection.sendall(head + token + b"Content-Length: 3\r\n\r\n")
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"v=0")
        assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_reading_stops_below_tls_too(besieged: Gateway, ports: dict[str, int]) -> None:
    """Pipelined requests over TLS are answered one after the other, and all of them once they are read."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    count = 300
    with (
        socket.create_connection(("127.0.0.1", ports["https"]), timeout=PATIENCE) as plain,
        context.wrap_socket(plain, server_hostname="door") as connection,
    ):
        request = b"GET /healthz HTTP/1.1\r\nHost: door\r\n"
        connection.sendall((request + b"\r\n") * (count - 1) + request + b"Connection: close\r\n\r\n")
        answers = b""
        while part := connection.recv(65536):
            answers += part
    assert answers.count(b"HTTP/1.1 200 ") == count


def test_players_of_mediamtx_stay_connected(besieged: Gateway) -> None:
    """What reader.js and publisher.js send: the token with OPTIONS and POST, none with PATCH and DELETE."""
    offer = (Path(__file__).parent.parent.parent / "sdp-samples/offers/chromium-recvonly-av.offer.sdp").read_text()
    client = besieged.client
    assert client.request("OPTIONS", "/whep/front-door").status == 204
    started = client.whep("front-door", offer)
    assert started.status == 201
    location = started.headers["location"]
    lines = offer.splitlines()
    ufrag, password = (next(line for line in lines if line.startswith(name)) for name in ("a=ice-ufrag:", "a=ice-pwd:"))
    first = next(line for line in lines if line.startswith("m="))
    fragment = "\r\n".join(
        [ufrag, password, first, "a=mid:0", "a=candidate:1 1 udp 2130706431 192.0.2.7 50000 typ host", ""]
    )
    headers = {"Content-Type": "application/trickle-ice-sdpfrag", "If-Match": "*"}
    for _ in range(2):
        assert client.request("PATCH", location, fragment, headers, token=None).status == 204
    assert client.request("DELETE", location, token=None).status == 200
    assert client.request("PATCH", location, fragment, headers, token=None).status == 404
    session = re.findall(r"[0-9a-f]{51}", location)[0]
    assert session not in besieged.process.output()
