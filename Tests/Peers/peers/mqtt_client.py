"""A bare MQTT client: 3.1.1 at quality of service 0, with nothing in between that would cost time."""

import socket
import struct
from collections.abc import Iterator


class BareClient:
    """One connection to a broker."""

    def __init__(self, port: int, name: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")
        # Protocol MQTT, level 4, a clean session, no keep-alive (section 3.1).
        self._send(0x10, b"\x00\x04MQTT\x04\x02\x00\x00" + self._text(name))
        assert self._read()[0] == 0x20

    @staticmethod
    def _text(text: str) -> bytes:
        data = text.encode()
        return struct.pack(">H", len(data)) + data

    def _send(self, kind: int, body: bytes) -> None:
        length, size = len(body), b""
        while True:
            length, digit = divmod(length, 128)
            size += bytes([digit | (0x80 if length else 0)])
            if not length:
                break
        self._socket.sendall(bytes([kind]) + size + body)

    def _read(self) -> tuple[int, bytes]:
        kind = self._file.read(1)[0]
        length = shift = 0
        while True:
            digit = self._file.read(1)[0]
            length |= (digit & 0x7F) << shift
            shift += 7
            if digit < 0x80:
                break
        return kind, self._file.read(length)

    def publish(self, topic: str, payload: str, retain: bool = False) -> None:
        self._send(0x31 if retain else 0x30, self._text(topic) + payload.encode())

    def subscribe(self, *topics: str) -> None:
        """Subscribes to topics, and waits for the broker's answer."""
        self._send(0x82, b"\x00\x01" + b"".join(self._text(topic) + b"\x00" for topic in topics))
        assert self._read()[0] == 0x90

    def retained_topics(self) -> set[str]:
        """The topics of all messages that the broker keeps. The client is of no use afterwards."""
        self._send(0x82, b"\x00\x01" + self._text("#") + b"\x00")
        # A message that mosquitto handles after the subscription comes after all that it has kept.
        self.publish("retained-topics/end", "")
        topics: set[str] = set()
        while True:
            kind, body = self._read()
            if kind & 0xF0 != 0x30:
                continue
            (size,) = struct.unpack(">H", body[:2])
            topic = body[2 : 2 + size].decode()
            if topic == "retained-topics/end":
                return topics
            if kind & 0x01:
                topics.add(topic)

    def messages(self) -> Iterator[tuple[str, str]]:
        """Topic and payload of each message, until the connection ends."""
        for topic, payload in self.raw_messages():
            yield topic, payload.decode(errors="replace")

    def raw_messages(self) -> Iterator[tuple[str, bytes]]:
        """The same with payloads that need not be text."""
        try:
            while True:
                kind, body = self._read()
                if kind & 0xF0 == 0x30:
                    (size,) = struct.unpack(">H", body[:2])
                    yield body[2 : 2 + size].decode(), body[2 + size :]
        except (OSError, IndexError, ValueError):
            return

    def close(self) -> None:
        """Ends the connection, and with it `messages`."""
        # A reader in another thread would otherwise keep the socket open.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
