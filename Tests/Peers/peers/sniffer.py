"""What leaves by the loopback interface, with the kernel's time of each packet."""

import socket
import struct
import threading
from dataclasses import dataclass

SO_TIMESTAMPNS = 35
PACKET_OUTGOING = 4
EVERY_PROTOCOL = 3


class SnifferUnavailable(Exception):
    """Only root may look at packets."""


@dataclass(frozen=True)
class Sent:
    """A TCP segment or a UDP datagram."""

    at: int
    """Nanoseconds since 1970."""
    protocol: str
    source: int
    destination: int
    length: int
    """Bytes of its content."""
    head: bytes
    """The first of them."""

    @property
    def is_rtp(self) -> bool:
        """Whether a datagram is media, not a report or a check (RFC 7983, RFC 5761)."""
        return (
            self.protocol == "udp" and self.length > 1 and 128 <= self.head[0] < 192 and not 192 <= self.head[1] < 224
        )


class Sniffer:
    """Keeps what is sent from some ports, or to them, until `stop`."""

    def __init__(self, *ports: int) -> None:
        self._ports = set(ports)
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(EVERY_PROTOCOL))
        except PermissionError as error:
            raise SnifferUnavailable(str(error)) from None
        self._socket.bind(("lo", EVERY_PROTOCOL))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        # A packet that found no room in the buffer would not be counted.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
        self._socket.settimeout(0.2)
        self._sent: list[Sent] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._is_over.is_set():
            try:
                data, ancillary, _, address = self._socket.recvmsg(128, 64)
            except TimeoutError:
                continue
            # Loopback shows each packet twice: on its way out, and on its way in.
            if address[2] == PACKET_OUTGOING and (packet := self._parse(data, ancillary)):
                self._sent.append(packet)

    def _parse(self, data: bytes, ancillary: list[tuple[int, int, bytes]]) -> Sent | None:
        if data[0] >> 4 == 4:
            header, number, end = (data[0] & 15) * 4, data[9], int.from_bytes(data[2:4], "big")
        else:
            # Without extension headers, which nothing here sends.
            header, number, end = 40, data[6], 40 + int.from_bytes(data[4:6], "big")
        protocol = {6: "tcp", 17: "udp"}.get(number)
        if protocol is None:
            return None
        source, destination = struct.unpack(">HH", data[header : header + 4])
        if not self._ports & {source, destination}:
            return None
        content = header + (8 if protocol == "udp" else (data[header + 12] >> 4) * 4)
        seconds, nanoseconds = struct.unpack("qq", ancillary[0][2][:16])
        return Sent(
            seconds * 1_000_000_000 + nanoseconds, protocol, source, destination,
            end - content, data[content : content + 16],
        )  # fmt: skip

    def sent(self, *, source: int | None = None, destination: int | None = None, since: int = 0) -> list[Sent]:
        """What left from a port or to a port after a moment, in nanoseconds since 1970; without empty segments."""
        return [
            one
            for one in list(self._sent)
            if one.length > 0
            and one.at > since
            and source in (None, one.source)
            and destination in (None, one.destination)
        ]

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()
        self._socket.close()
