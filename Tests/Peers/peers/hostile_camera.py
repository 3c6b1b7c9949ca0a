"""A camera that answers RTSP with something else each time it is asked."""

import random
import socket

from .listener import Listener

DESCRIPTION = (
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\n"
    "a=rtpmap:96 H264/90000\r\na=control:track1\r\n"
)


def _reply(request: bytes, body: str = "", extra: str = "") -> bytes:
    sequence = b"1"
    for line in request.split(b"\r\n"):
        if line.lower().startswith(b"cseq:"):
            sequence = line.split(b":", 1)[1].strip()
    head = f"RTSP/1.0 200 OK\r\nCSeq: {sequence.decode(errors='replace')}\r\n{extra}"
    if body:
        head += f"Content-Type: application/sdp\r\nContent-Length: {len(body)}\r\n"
    return (head + "\r\n" + body).encode()


class HostileCamera:
    """Listens until `stop`. `conversations` counts what it has been asked and has answered wrongly."""

    def __init__(self, seed: int) -> None:
        self._choice = random.Random(seed)
        self.conversations = 0
        self._listener = Listener(self._converse, timeout=2)
        self.port = self._listener.port

    def _converse(self, connection: socket.socket) -> None:
        try:
            self._talk(connection, self.conversations % 6)
        finally:
            self.conversations += 1

    def _talk(self, connection: socket.socket, kind: int) -> None:
        request = connection.recv(65536)
        match kind:
            case 0:
                connection.sendall(self._choice.randbytes(20_000))
            case 1:
                # A head without an end.
                connection.sendall(b"RTSP/1.0 200 OK\r\n" + b"X-Padding: " + b"y" * 1_000_000)
            case 2:
                connection.sendall(b"RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: -5\r\n\r\n")
            case 3:
                connection.sendall(b"RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 99999999999999999999\r\n\r\nabc")
            case 4:
                connection.sendall(_reply(request, "v=0\r\nm=video x y z\r\na=rtpmap:999999 /\r\n\x00\xff"))
                connection.sendall(_reply(connection.recv(65536), "no description at all"))
            case _:
                self._play_garbage(connection, request)

    def _play_garbage(self, connection: socket.socket, request: bytes) -> None:
        """Behaves until PLAY, and then sends broken interleaved packets."""
        for _ in range(6):
            method = request.split(b" ", 1)[0]
            transport = "Session: 1\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"
            connection.sendall(
                _reply(request, DESCRIPTION if method == b"DESCRIBE" else "", transport if method == b"SETUP" else "")
            )
            if method == b"PLAY":
                break
            request = connection.recv(65536)
        for _ in range(300):
            packet = self._choice.randbytes(self._choice.randrange(0, 200))
            channel = self._choice.choice([0, 0, 0, 1, 2, 255])
            length = len(packet) if self._choice.random() < 0.9 else self._choice.getrandbits(16)
            connection.sendall(b"$" + bytes([channel]) + length.to_bytes(2) + packet)

    def stop(self) -> None:
        self._listener.stop()
