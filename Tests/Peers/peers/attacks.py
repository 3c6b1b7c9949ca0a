"""Attacks on a gateway's listeners by hosts without a token. Run as a program of its own, inside of the attackers'
network namespace:

    python3 attacks.py KIND HOST PORT --listener http|https|rtsp --connections N --sources ADDRESS,ADDRESS,...

It prints `ready` when the attack is at its full size and goes on until its standard input closes. Then it prints as
JSON what it did.
"""

import argparse
import contextlib
import json
import select
import socket
import ssl
import sys
import time

PIPELINES = {
    "http": b"GET / HTTP/1.1\r\nHost: door\r\n\r\n" * 2000,
    "https": b"GET / HTTP/1.1\r\nHost: door\r\n\r\n" * 500,
    "rtsp": b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n" * 2000,
}
WRONG = (
    b"GET /v1/devices HTTP/1.1\r\nHost: door\r\nAuthorization: Bearer gatehouse_wrong-wrong-wrong-wrong-wrong\r\n\r\n"
)
SLOW = b"POST /whep/front-door HTTP/1.1\r\nHost: door\r\nX: "


class Attack:
    """Holds connections of several hosts, and opens another one for each that is closed."""

    def __init__(self, kind: str, host: str, port: int, listener: str, sources: list[str], count: int) -> None:
        self.kind, self.listener, self.target = kind, listener, (host, port)
        self.sources, self.count = sources, count
        self.sockets: dict[int, socket.socket] = {}
        self.poll = select.epoll()
        self.connecting: set[int] = set()
        self.opened = self.refused = self.sent = 0
        self.answers = 0
        self.tls = ssl.create_default_context()
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE
        self.hello = self.client_hello()

    def client_hello(self) -> bytes:
        """The first message of a TLS handshake. The server answers it with its certificate and a signature."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.wrap_bio(incoming, outgoing).do_handshake()
        return outgoing.read()

    def open_one(self) -> bool:
        family = socket.AF_INET6 if ":" in self.target[0] else socket.AF_INET
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            connection.bind((self.sources[self.opened % len(self.sources)], 0))
            if self.kind == "pipelined":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            if self.kind == "pipelined" and self.listener == "https":
                connection.settimeout(0.5)
                connection.connect(self.target)
                connection = self.tls.wrap_socket(connection)
            else:
                # A host that is ignored keeps trying, and does something else meanwhile.
                connection.setblocking(False)
                connection.connect_ex(self.target)
                self.connecting.add(connection.fileno())
        except OSError:
            self.refused += 1
            connection.close()
            return False
        self.opened += 1
        connection.setblocking(False)
        self.sockets[connection.fileno()] = connection
        if connection.fileno() in self.connecting:
            self.poll.register(connection.fileno(), select.EPOLLOUT)
        else:
            self.begin(connection)
        return True

    def begin(self, connection: socket.socket) -> None:
        """The connection is there: does what this attack does first."""
        interest = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR
        if self.kind == "pipelined":
            interest |= select.EPOLLOUT
        elif self.kind == "guesses":
            interest |= select.EPOLLIN
            connection.send(WRONG)
        elif self.kind == "slow":
            connection.send(SLOW if self.listener == "http" else self.hello[:-1])
        elif self.kind == "hellos":
            interest |= select.EPOLLIN
            connection.send(self.hello)
        try:
            self.poll.modify(connection.fileno(), interest)
        except FileNotFoundError:
            self.poll.register(connection.fileno(), interest)

    def close_one(self, number: int) -> None:
        connection = self.sockets.pop(number, None)
        if connection is None:
            return
        self.connecting.discard(number)
        self.poll.unregister(number)
        connection.close()

    def handle(self, number: int, events: int) -> None:
        if events & (select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR):
            return self.close_one(number)
        try:
            if number in self.connecting:
                self.connecting.discard(number)
                return self.begin(self.sockets[number])
            if events & select.EPOLLOUT:
                self.sent += self.sockets[number].send(PIPELINES[self.listener])
            if events & select.EPOLLIN:
                if not self.sockets[number].recv(65536):
                    return self.close_one(number)
                self.answers += 1
                if self.kind == "hellos":
                    return self.close_one(number)
                self.sent += self.sockets[number].send(WRONG)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError:
            self.close_one(number)

    def run(self) -> None:
        is_ready, begin = False, time.monotonic()
        # A host that opens all that it can, but leaves the processor to the others now and then.
        while not select.select([sys.stdin], [], [], 0)[0]:
            for _ in range(64):
                if len(self.sockets) >= self.count or not self.open_one():
                    break
            for number, events in self.poll.poll(0.005, 256):
                self.handle(number, events)
            has_grown = len(self.sockets) >= self.count or time.monotonic() - begin > 3
            if not is_ready and has_grown:
                is_ready = True
                print("ready", flush=True)
        open_now = len(self.sockets)
        for number in list(self.sockets):
            self.close_one(number)
        print(
            json.dumps(
                {"opened": self.opened, "open": open_now, "refused": self.refused, "sent": self.sent,
                 "answers": self.answers}
            ),
            flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Attacks a gateway's listener until the standard input closes.")
    parser.add_argument("kind", choices=["idle", "pipelined", "guesses", "slow", "hellos"])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--listener", choices=sorted(PIPELINES), default="http")
    parser.add_argument("--connections", type=int, default=512)
    parser.add_argument("--sources", required=True)
    given = parser.parse_args()
    Attack(given.kind, given.host, given.port, given.listener, given.sources.split(","), given.connections).run()
