"""An RTSP camera whose pictures carry numbers, so that what it sent can be compared with what was recorded.

It speaks RTSP over TCP (RFC 7826, RFC 6184) with 25 pictures a second of 1,000 bytes, and a key frame each second. The
pictures cannot be decoded: only their headers are those of H.264. Each connection begins with a key frame.
"""

import array
import fcntl
import re
import socket
import struct
import subprocess
import termios
import threading
import time

RATE = 25
SIZE = 1000
MARK = re.compile(rb"<f(\d{10})>")
PARAMETERS = [bytes.fromhex("6764001facdb05067e74"), bytes.fromhex("68ee3c80")]
DESCRIPTION = (
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=numbers\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
    "a=fmtp:96 packetization-mode=1;profile-level-id=64001f;sprop-parameter-sets=Z2QAH6zbBQZ+dA==,aO48gA==\r\n"
    "a=control:track1\r\n"
)


def numbers_in(data):
    """The numbers of the pictures in some bytes."""
    return [int(match) for match in MARK.findall(data)]


class Connection:
    """One connection of the gateway: what was sent on it."""

    def __init__(self, peer):
        self.socket = peer
        self.port = peer.getpeername()[1]
        self.sent = 0
        self.channel = 0
        self.plays = False
        self.pictures = []
        """The number of each picture, and how many bytes had been sent with it."""


class NumberedCamera:
    """Makes pictures from the start on, whether anybody receives them or not."""

    def __init__(self):
        self._lock = threading.Lock()
        self._sequence = 0
        self.number = 0
        """The number of the next picture."""
        self.made = 0
        """How many pictures there were while the camera was not restarting."""
        self.connection = None
        self._is_away = False
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        for work in (self._accept, self._make):
            threading.Thread(target=work, daemon=True).start()

    @property
    def plays(self):
        connection = self.connection
        return connection is not None and connection.plays

    def restart(self, seconds):
        """Ends the connection, and makes no pictures for a while."""
        with self._lock:
            self._is_away = True
            self._hang_up()
        time.sleep(seconds)
        with self._lock:
            self._is_away = False

    def received(self, inode_owner):
        """What the process has read of the present connection when it was stopped: the numbers of the pictures.
        `inode_owner` is the process. Nothing is sent afterwards."""
        with self._lock:
            connection, self.connection = self.connection, None
            if connection is None:
                return []
            waiting = array.array("i", [0])
            # What is still in the sender's queue, and what is in the receiver's.
            fcntl.ioctl(connection.socket, termios.TIOCOUTQ, waiting)
            read = connection.sent - waiting[0] - _receive_queue(connection.port, inode_owner)
            connection.plays = False
            self._last = connection
            return [number for number, end in connection.pictures if end <= read]

    def hang_up(self):
        with self._lock:
            self._hang_up()

    def _hang_up(self):
        for connection in (self.connection, getattr(self, "_last", None)):
            if connection is not None:
                connection.plays = False
                try:
                    connection.socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    # It has ended already.
                    continue
        self.connection = None

    def sent_numbers(self, connection):
        return [number for number, _ in connection.pictures]

    # --- RTSP

    def _accept(self):
        while True:
            peer, _ = self._server.accept()
            with self._lock:
                if self._is_away:
                    peer.close()
                    continue
            peer.settimeout(5)
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._converse, args=(Connection(peer),), daemon=True).start()

    def _converse(self, connection):
        data = b""
        try:
            while True:
                end = data.find(b"\r\n\r\n")
                if data[:1] == b"$" and len(data) >= 4 and len(data) >= 4 + int.from_bytes(data[2:4], "big"):
                    # RTCP of the receiver.
                    data = data[4 + int.from_bytes(data[2:4], "big") :]
                    continue
                if data[:1] != b"$" and end >= 0:
                    self._answer(connection, data[:end].decode("latin1"))
                    data = data[end + 4 :]
                    continue
                try:
                    piece = connection.socket.recv(65536)
                except TimeoutError:
                    # A gateway that plays has nothing to say for half a minute.
                    continue
                if not piece:
                    return
                data += piece
        except OSError:
            return
        finally:
            with self._lock:
                if self.connection is connection:
                    self.connection = None
            connection.socket.close()

    def _answer(self, connection, request):
        method = request.split(" ", 1)[0]
        fields = dict(line.lower().split(":", 1) for line in request.split("\r\n")[1:] if ":" in line)
        head = f"RTSP/1.0 200 OK\r\nCSeq: {fields.get('cseq', '1').strip()}\r\nSession: 1;timeout=60\r\n"
        body = ""
        if method == "OPTIONS":
            head += "Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN\r\n"
        elif method == "DESCRIBE":
            body = DESCRIPTION
            head += f"Content-Base: rtsp://127.0.0.1:{self.port}/\r\nContent-Type: application/sdp\r\n"
        elif method == "SETUP":
            transport = fields.get("transport", "")
            if "interleaved" not in transport:
                head = head.replace("200 OK", "461 Unsupported Transport")
            else:
                ((first, second),) = re.findall(r"interleaved=(\d+)-(\d+)", transport)
                connection.channel = int(first)
                head += f"Transport: RTP/AVP/TCP;unicast;interleaved={first}-{second}\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        with self._lock:
            connection.socket.sendall((head + body).encode())
            connection.sent += len(head) + len(body)
            if method == "PLAY":
                connection.plays = True
                self.connection = connection

    # --- pictures

    def _make(self):
        begin = time.monotonic()
        turn = 0
        while True:
            turn += 1
            time.sleep(max(0, begin + turn / RATE - time.monotonic()))
            with self._lock:
                self.number += 1
                if self._is_away:
                    continue
                self.made += 1
                connection = self.connection
                if connection is None or not connection.plays:
                    continue
                try:
                    self._send_picture(connection)
                except OSError:
                    connection.plays = False
                    self.connection = None

    def _send_picture(self, connection):
        is_key = self.number % RATE == 0 or not connection.pictures
        slice_head = b"\x65\xb8" if is_key else b"\x41\xe0"
        mark = b"<f%010d>" % self.number
        units = [*(PARAMETERS if is_key else []), slice_head + mark + b"x" * (SIZE - len(mark) - 2)]
        data = b""
        for index, unit in enumerate(units):
            self._sequence = (self._sequence + 1) & 0xFFFF
            marker = 0x80 if index == len(units) - 1 else 0
            timestamp = self.number * (90_000 // RATE) & 0xFFFFFFFF
            packet = struct.pack(">BBHII", 0x80, marker | 96, self._sequence, timestamp, 0x6E756D62) + unit
            data += struct.pack(">cBH", b"$", connection.channel, len(packet)) + packet
        connection.socket.sendall(data)
        connection.sent += len(data)
        connection.pictures.append((self.number, connection.sent))


def _receive_queue(port, process):
    """The bytes that the kernel holds for a process which owns the connection from this local port."""
    listing = subprocess.run(["ss", "-tnpH", f"sport = :{port}"], text=True, capture_output=True, check=True).stdout
    for line in listing.splitlines():
        if f"pid={process}," in line:
            return int(line.split()[1])
    return 0
