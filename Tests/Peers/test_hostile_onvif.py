"""ONVIF devices that answer with XML bombs, endless bodies, addresses of other hosts and text for the terminal."""

import json
import re
import socket
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.gateway import DOORBELL, Camera, Gateway
from peers.listener import Listener
from peers.polling import PATIENCE, eventually
from peers.ports import free_port

ESCAPES = "\x9b31m\u202eevil"
# XML has no reference for most control characters, but a reader may accept them all the same.
REFERENCES = "&#x1b;]0;owned&#7;&#x9b;31m&#x202e;evil"
SOAP = "http://www.w3.org/2003/05/soap-envelope"
SCHEMA = "http://www.onvif.org/ver10/schema"


def envelope(body: str, before: str = "") -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>{before}<s:Envelope xmlns:s="{SOAP}" '
        f'xmlns:d="http://www.onvif.org/ver10/device/wsdl" xmlns:t="{SCHEMA}" '
        f'xmlns:e="http://www.onvif.org/ver10/events/wsdl"><s:Body>{body}</s:Body></s:Envelope>'
    ).encode()


LAUGHS = "<!DOCTYPE x [" + '<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)
) + "]>"  # fmt: skip
BODIES: dict[str, bytes] = {
    "laughs": envelope("<d:Model>&a11;</d:Model>", LAUGHS),
    "file": envelope("<d:Model>&f;</d:Model>", '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'),
    "deep": envelope("<d:x>" * 100_000 + "</d:x>" * 100_000),
    "open": b"<s:Envelope>" + b"<x>" * 300_000,
    "attributes": envelope("<d:x " + " ".join(f'a{n}="1"' for n in range(100_000)) + "/>"),
    "elements": envelope("<d:x/>" * 300_000),
    "text": envelope("<d:Model>" + "y" * 3_000_000 + "</d:Model>"),
    "references": envelope(
        f"<d:GetDeviceInformationResponse><d:Manufacturer>{REFERENCES}</d:Manufacturer><d:Model>{ESCAPES}</d:Model>"
        f"<d:FirmwareVersion>{REFERENCES}</d:FirmwareVersion></d:GetDeviceInformationResponse>"
    ),
    "fault": envelope(
        f"<s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text>{ESCAPES}</s:Text></s:Reason></s:Fault>"
    ),
    "not-xml": b"\x00\xff\xfe<<<>>>" * 1000,
    "utf-16": ("\ufeff<?xml version='1.0' encoding='UTF-16'?><x/>").encode("utf-16"),
    "empty": b"",
}
# What is wrong below the XML.
SHAPES = ("endless-head", "endless-body", "endless-chunks", "long-length", "slow", "elsewhere", "redirect")


class Devices:
    """One listener; the path of the URL says how the device behaves."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._listener = Listener(self._answer, timeout=5)
        self.port = self._listener.port

    def _answer(self, connection: socket.socket) -> None:
        request = connection.recv(65536)
        found = re.match(rb"\w+ /([\w-]+)/", request)
        kind = found[1].decode() if found else ""
        self.asked[kind] += 1
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/soap+xml\r\n"
        match kind:
            case "endless-head":
                for _ in range(500):
                    connection.sendall(b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 60_000 + b"\r\n")
            case "endless-body":
                connection.sendall(head + b"\r\n")
                for _ in range(500):
                    connection.sendall(b"<x>" * 20_000)
            case "endless-chunks":
                connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
                for _ in range(2_000):
                    connection.sendall(b"ffff\r\n" + b" " * 0xFFFF + b"\r\n")
            case "long-length":
                connection.sendall(head + b"Content-Length: 99999999999999999999\r\n\r\n<x/>")
            case "slow":
                for byte in head:
                    if self._listener.is_stopping.wait(0.2):
                        return
                    connection.sendall(bytes([byte]))
            case "elsewhere":
                self._send(connection, head, self._services())
            case "redirect":
                connection.sendall(
                    f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{self.port}/redirected/\r\n"
                    "Content-Length: 0\r\n\r\n".encode()
                )
            case _:
                self._send(connection, head, BODIES.get(kind, b""))

    @staticmethod
    def _send(connection: socket.socket, head: bytes, body: bytes) -> None:
        connection.sendall(head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def _services(self) -> bytes:
        """Every service at the address of another host."""
        address = f"http://169.254.169.254:{self.port}/stolen/"
        return envelope(
            "<d:GetCapabilitiesResponse><d:Capabilities>"
            + "".join(f"<t:{name}><t:XAddr>{address}</t:XAddr></t:{name}>" for name in ("Device", "Events", "Media"))
            + "</d:Capabilities></d:GetCapabilitiesResponse>"
        )

    def stop(self) -> None:
        self._listener.stop()


@pytest.fixture
def devices() -> Iterator[Devices]:
    running = Devices()
    yield running
    running.stop()


def unprintable(text: str) -> list[str]:
    return sorted(
        {one for one in text if (ord(one) < 32 and one not in "\n\t") or 127 <= ord(one) < 160 or one == "\u202e"}
    )


def resident(gateway: Gateway) -> int:
    return int(Path(f"/proc/{gateway.process.pid}/statm").read_text().split()[1]) * 4_096


def test_a_gateway_lives_with_all_of_them(binary: Path, devices: Devices, tmp_path: Path, report: list[str]) -> None:
    kinds = [*BODIES, *SHAPES]
    cameras = [DOORBELL]
    for kind in kinds:
        url = f"127.0.0.1:{devices.port}/{kind}/device_service"
        # For its events, and for its pictures.
        cameras.append(Camera(f"e-{kind}", settings={"onvif": {"url": f"http://{url}"}}))
        cameras.append(Camera(f"s-{kind}", f"onvif://admin:secret@{url}"))
    gateway = Gateway(binary, tmp_path, cameras)
    try:
        gateway.wait_until_flowing("front-door")
        before = resident(gateway)
        eventually(
            lambda: all(devices.asked[kind] >= 4 for kind in kinds), "each is asked, and asked again", within=300
        )
        report.append(
            f"{2 * len(kinds)} hostile ONVIF cameras: {before >> 20} MiB before, {resident(gateway) >> 20} MiB after "
            f"{devices.asked.total()} answers"
        )
        # A redirect is not followed. Of another host's address the path is used, at the device itself.
        assert devices.asked["redirected"] == 0 and devices.asked["stolen"] > 0
        answer = gateway.client.request("GET", "/v1/devices")
        assert answer.status == 200 and "root:" not in answer.text
        listed: list[dict[str, Any]] = json.loads(answer.text)["devices"]
        texts = json.dumps(listed, ensure_ascii=False)
        assert not unprintable(texts), unprintable(texts)
        assert len(texts) < 200_000
        assert gateway.client.request("GET", "/v1/devices/front-door/snapshot.jpg").status == 200
        assert resident(gateway) < 400 << 20
        assert not unprintable(gateway.process.output())
    finally:
        assert gateway.stop() == 0


def matches(count: int, name: str, address: str, first: int = 0) -> bytes:
    """An answer to a probe from so many cameras."""
    discovery = "http://schemas.xmlsoap.org/ws/2005/04/discovery"
    return (
        f'<s:Envelope xmlns:s="{SOAP}" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" '
        f'xmlns:d="{discovery}"><s:Body><d:ProbeMatches>'
        + "".join(
            f"<d:ProbeMatch><a:EndpointReference><a:Address>urn:uuid:{first + n}{name}</a:Address>"
            f"</a:EndpointReference><d:Scopes>onvif://www.onvif.org/name/{name} "
            f"onvif://www.onvif.org/hardware/{name} onvif://www.onvif.org/location/{name}</d:Scopes>"
            f"<d:XAddrs>{address}</d:XAddrs></d:ProbeMatch>"
            for n in range(count)
        )
        + "</d:ProbeMatches></s:Body></s:Envelope>"
    ).encode()


ANSWERS = [
    matches(1, ESCAPES, f"http://127.0.0.1/{ESCAPES}"),
    matches(1, REFERENCES, f"http://127.0.0.1/{REFERENCES}"),
    matches(1, "%1b%5d0;owned%07%9b%e2%80%ae", "http://127.0.0.1/%1b%0a"),
    matches(200, "many", "http://127.0.0.1/")[:60_000],
    matches(1, "addresses", "http://127.0.0.1/ " * 3_000)[:60_000],
    matches(1, "long", "http://127.0.0.1/" + "y" * 10_000),
    envelope("<d:x>&a11;</d:x>", LAUGHS),
    envelope("<d:x>" * 2_000 + "</d:x>" * 2_000),
    b"\x00\xff" * 30_000,
    b"",
]


def test_a_search_ends_and_prints_plain_text(binary: Path) -> None:
    port = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        device.bind(("127.0.0.1", port))
        device.settimeout(0.2)
        is_over = threading.Event()

        def answer() -> None:
            number = 0
            while not is_over.is_set():
                try:
                    _, sender = device.recvfrom(65536)
                except TimeoutError:
                    continue
                for one in ANSWERS:
                    device.sendto(one, sender)
                # A flood of cameras that nobody has; the buffers of both sockets bound it.
                for _ in range(2_000):
                    device.sendto(matches(10, "flood", "http://127.0.0.1/", first=number * 10), sender)
                    number += 1

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            for form in ([], ["--json"]):
                command = [
                    str(binary),
                    "camera",
                    "discover",
                    "--host",
                    "127.0.0.1",
                    "--port",
                    str(port),
                    "--seconds",
                    "8",
                ]
                result = subprocess.run([*command, *form], capture_output=True, timeout=PATIENCE)
                text = (result.stdout + result.stderr).decode()
                assert result.returncode == 0, text[-2000:]
                assert not unprintable(text), unprintable(text)
                assert "127.0.0.1" in text and len(text) < 2_000_000
                if form:
                    assert len(json.loads(text)["cameras"]) <= 256
        finally:
            is_over.set()
            thread.join()
