"""A TURN server over TCP that knows the gateway's password and means no good."""

import hashlib
import ipaddress
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from typing import Any

from aioice import stun

from .coturn import PASSWORD, USER

REALM = "hostile.test"
KEY = hashlib.md5(f"{USER}:{REALM}:{PASSWORD}".encode()).digest()
ALTERNATE_SERVER = 0x8023
FLOOD_BYTES = 64 << 20
"""How much channel data is sent in all: eight million messages."""
ESTABLISHED = 1
"""The state of a connection that neither side has closed, as the kernel numbers it."""


class Misdeed(Enum):
    """What the server does to its clients."""

    CLOSING = "it closes each connection at once"
    REDIRECTION = "it names another server"
    CHALLENGES = "it wants another nonce each time"
    CONTRADICTION = "it gives two addresses of one kind"
    HANGING = "it relays until it is told to hang, and then leaves the connection open"
    TINY_DATA = "it relays, and sends channel data of one byte without a pause"


class HostileTURN:
    """Listens in the network of the calling thread until `stop`."""

    def __init__(self, address: str, port: int, misdeed: Misdeed) -> None:
        self.misdeed = misdeed
        self.connections = 0
        self.is_abandoned = threading.Event()
        """Whether the client of a server that hangs has closed the connection."""
        self.flooded = 0
        """How many bytes of tiny channel data the client has taken."""
        self.is_flood_over = threading.Event()
        self.url = f"turn:{address}:{port}?transport=tcp"
        self._address = address
        self._hangs = threading.Event()
        self._is_stopping = threading.Event()
        self._nonces = 0
        self._listener = socket.create_server((address, port), backlog=64)
        self._listener.settimeout(0.2)
        # Where a redirection leads.
        self._elsewhere = socket.create_server((address, 0))
        self._threads: list[threading.Thread] = []
        self._begin(self._accept)

    def hang(self) -> None:
        """From now on nothing is read or answered. The kernel goes on acknowledging what comes."""
        self._hangs.set()

    @property
    def was_followed(self) -> bool:
        """Whether anybody has connected to the server that a redirection names."""
        return bool(select.select([self._elsewhere], [], [], 0)[0])

    def stop(self) -> None:
        self._is_stopping.set()
        # A conversation may begin another thread while this one waits.
        while self._threads:
            self._threads.pop().join()
        self._listener.close()
        self._elsewhere.close()

    def _begin(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments)
        self._threads.append(thread)
        # It is in the network of the thread that starts it.
        thread.start()

    def _accept(self) -> None:
        while not self._is_stopping.is_set():
            with suppress(TimeoutError):
                connection, _ = self._listener.accept()
                self.connections += 1
                self._begin(self._converse, connection)

    def _converse(self, connection: socket.socket) -> None:
        if self.misdeed is Misdeed.CLOSING:
            connection.close()
            return
        with connection, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as relay, suppress(OSError):
            # What waits in the kernel delays what peers send.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 << 10)
            connection.settimeout(0.2)
            relay.settimeout(0.2)
            relay.bind((self._address, 0))
            Conversation(self, connection, relay).run()

    # What a conversation asks for.

    @property
    def is_stopping(self) -> bool:
        return self._is_stopping.is_set()

    @property
    def hangs(self) -> bool:
        return self._hangs.is_set()

    def wait(self, connection: socket.socket) -> None:
        """Does nothing until the client has closed, or the server stops."""
        while not self._is_stopping.wait(0.1):
            if connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != ESTABLISHED:
                self.is_abandoned.set()
                return

    def next_nonce(self) -> bytes:
        self._nonces += 1
        return b"nonce %d" % self._nonces

    def elsewhere(self) -> tuple[str, int]:
        host, port = self._elsewhere.getsockname()
        return str(host), int(port)

    def begin(self, work: Callable[..., None], *arguments: object) -> None:
        self._begin(work, *arguments)


class Conversation:
    """One connection, and the allocation that it has got."""

    def __init__(self, server: HostileTURN, connection: socket.socket, relay: socket.socket) -> None:
        self._server, self._connection, self._relay = server, connection, relay
        # A message leaves whole, whichever thread sends it.
        self._sending = threading.Lock()
        self._channels: dict[int, tuple[str, int]] = {}
        self._nonce = b""
        self._is_over = threading.Event()

    def run(self) -> None:
        self._server.begin(self._receive_from_peers)
        try:
            for message in self._messages():
                if self._server.hangs:
                    self._server.wait(self._connection)
                    return
                self._handle(message)
        finally:
            self._is_over.set()

    def _messages(self) -> Iterator[bytes]:
        """The messages of the stream (RFC 8656, section 3.1), until the client closes."""
        stream = b""
        while not self._server.is_stopping:
            try:
                piece = self._connection.recv(65536)
            except TimeoutError:
                continue
            if not piece:
                return
            stream += piece
            while len(stream) >= 4:
                length = int.from_bytes(stream[2:4])
                padded = 4 + (length + 3) // 4 * 4 if stream[0] & 0xC0 else 20 + length
                if len(stream) < padded:
                    break
                yield stream[: 4 + length] if stream[0] & 0xC0 else stream[:padded]
                stream = stream[padded:]

    def _handle(self, message: bytes) -> None:
        if message[0] & 0xC0:
            self._send_to_peer(message[4:], self._channels.get(int.from_bytes(message[:2])))
            return
        request = stun.parse_message(message)
        peer = request.attributes.get("XOR-PEER-ADDRESS")
        if request.message_method == stun.Method.SEND:
            self._send_to_peer(request.attributes["DATA"], peer)
            return
        if request.message_class != stun.Class.REQUEST:
            return
        answer = self._answer(request)
        self._send(answer)
        if request.message_method == stun.Method.CHANNEL_BIND and peer:
            number = int(request.attributes["CHANNEL-NUMBER"])
            is_first = not self._channels
            self._channels[number] = peer
            if is_first and self._server.misdeed is Misdeed.TINY_DATA:
                self._server.begin(self._flood, number)

    def _answer(self, request: stun.Message) -> bytes:
        if self._server.misdeed is Misdeed.REDIRECTION:
            return self._redirection(request)
        if request.attributes.get("NONCE") != self._nonce or not self._nonce:
            return self._challenge(request, 438 if self._nonce else 401)
        if self._server.misdeed is Misdeed.CHALLENGES:
            return self._challenge(request, 438)
        attributes: dict[str, Any] = {"LIFETIME": 600}
        if request.message_method == stun.Method.ALLOCATE:
            attributes["XOR-RELAYED-ADDRESS"] = self._relay.getsockname()
            attributes["XOR-MAPPED-ADDRESS"] = self._connection.getpeername()
        answer = stun.Message(request.message_method, stun.Class.RESPONSE, request.transaction_id, attributes)
        if self._server.misdeed is Misdeed.CONTRADICTION:
            return self._doubled(answer)
        answer.add_message_integrity(KEY)
        return bytes(answer)

    def _challenge(self, request: stun.Message, code: int) -> bytes:
        self._nonce = self._server.next_nonce()
        attributes = {"ERROR-CODE": (code, "Again"), "REALM": REALM, "NONCE": self._nonce}
        return bytes(stun.Message(request.message_method, stun.Class.ERROR, request.transaction_id, attributes))

    def _redirection(self, request: stun.Message) -> bytes:
        attributes = {"ERROR-CODE": (300, "Try Alternate")}
        answer = bytes(stun.Message(request.message_method, stun.Class.ERROR, request.transaction_id, attributes))
        host, port = self._server.elsewhere()
        address = struct.pack("!BBH", 0, 1, port) + ipaddress.IPv4Address(host).packed
        return append_attribute(answer, ALTERNATE_SERVER, address)

    def _doubled(self, answer: stun.Message) -> bytes:
        """The answer with a second relayed address of the same kind, and signed."""
        host, port = self._relay.getsockname()
        second = stun.pack_xor_address((host, port ^ 1), answer.transaction_id)
        kind = stun.ATTRIBUTES_BY_NAME["XOR-RELAYED-ADDRESS"][0]
        unsigned = append_attribute(bytes(answer), kind, second)
        return append_attribute(
            unsigned, stun.ATTRIBUTES_BY_NAME["MESSAGE-INTEGRITY"][0], stun.message_integrity(unsigned, KEY)
        )

    def _send(self, message: bytes) -> None:
        """Sends all of it, unless the client has gone."""
        rest = memoryview(message)
        with self._sending:
            while rest and not self._server.is_stopping:
                with suppress(TimeoutError):
                    rest = rest[self._connection.send(rest) :]

    def _send_to_peer(self, data: bytes, peer: tuple[str, int] | None) -> None:
        # What the kernel cannot send is lost, as on any network.
        with suppress(OSError):
            if peer:
                self._relay.sendto(data, peer)

    def _receive_from_peers(self) -> None:
        with suppress(OSError):
            while not self._is_over.is_set() and not self._server.is_stopping:
                with suppress(TimeoutError):
                    data, peer = self._relay.recvfrom(65536)
                    if not self._server.hangs:
                        self._send(self._indication(data, peer))

    def _indication(self, data: bytes, peer: tuple[str, int]) -> bytes:
        attributes = {"XOR-PEER-ADDRESS": peer, "DATA": data}
        return bytes(stun.Message(stun.Method.DATA, stun.Class.INDICATION, attributes=attributes))

    def _flood(self, number: int) -> None:
        block = struct.pack("!HHB3x", number, 1, 0x80) * 8192
        with suppress(OSError):
            # The pauses let in what peers send: without them this thread would always be the first to take the lock.
            while self._server.flooded < FLOOD_BYTES and not self._is_over.wait(0.001):
                self._send(block)
                self._server.flooded += len(block)
        self._server.is_flood_over.set()


def append_attribute(message: bytes, kind: int, value: bytes) -> bytes:
    """A STUN message with one more attribute, whose length is a multiple of four."""
    longer = message + struct.pack("!HH", kind, len(value)) + value
    return stun.set_body_length(longer, len(longer) - stun.HEADER_LENGTH)
