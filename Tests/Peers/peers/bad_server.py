"""A server that does to uploads what a bad one does, for some connections, and then becomes a good one."""

import socket
import ssl
import struct
import threading
from contextlib import suppress
from pathlib import Path

from peers.ports import free_port


class BadServer:
    """Stands in front of a good server. Its first connections end badly, in the way that `kind` says."""

    def __init__(self, kind: str, bad: int, good_port: int, certificate: Path, key: Path) -> None:
        self.kind = kind
        self.port = free_port()
        self.good_port = good_port
        self.sent = 0
        self.connections = 0
        self._remaining = bad
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._remaining -= 1
            target = self._misbehave if self._remaining >= 0 else self._relay
            threading.Thread(target=target, args=(connection,), daemon=True).start()

    def _relay(self, connection: socket.socket) -> None:
        good = socket.create_connection(("127.0.0.1", self.good_port))
        threading.Thread(target=_copy, args=(good, connection), daemon=True).start()
        _copy(connection, good)

    def _misbehave(self, connection: socket.socket) -> None:
        if self.kind == "silence":
            threading.Event().wait(4)
            connection.close()
            return
        with suppress(OSError), self._context.wrap_socket(connection, server_side=True) as secure:
            secure.settimeout(4)
            head = b""
            while b"\r\n\r\n" not in head:
                piece = secure.recv(4096)
                if not piece:
                    return
                head += piece
            self._answer(secure)

    def _answer(self, secure: ssl.SSLSocket) -> None:
        if self.kind == "reset":
            secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif self.kind == "stall":
            threading.Event().wait(4)
        elif self.kind == "close":
            secure.shutdown(socket.SHUT_RDWR)
        elif self.kind == "redirect":
            secure.sendall(
                b"HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:%d/strict/elsewhere\r\n"
                b"Content-Length: 0\r\nConnection: close\r\n\r\n" % self.good_port
            )
        elif self.kind == "gigabyte":
            secure.sendall(b"HTTP/1.1 500 Oops\r\nContent-Length: 1073741824\r\n\r\n")
            while self.sent < 1 << 30:
                secure.sendall(bytes(65536))
                self.sent += 65536
        elif self.kind == "endless head":
            secure.sendall(b"HTTP/1.1 201 Created\r\n")
            while self.sent < 1 << 30:
                secure.sendall(b"X-Filler: %s\r\n" % (b"a" * 1000))
                self.sent += 1012
        elif self.kind == "nonsense":
            secure.sendall(b"\x00\x01\x02 this is not HTTP\r\n\r\n")
        else:
            status = int(self.kind)
            secure.sendall(b"HTTP/1.1 %d Status\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status)

    def stop(self) -> None:
        self._listener.close()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
    for one in (source, sink):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
