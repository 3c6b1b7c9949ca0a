"""Event streams for tools/bench-home, read from plain sockets so that the reader costs little."""

import random
import re
import selectors
import socket
import sys
import time

EVENT = re.compile(rb"event: (\w+)\n(?:id: (\S+?-(\d+))\n)?data: ")
CHANGE = re.compile(rb"\nid: \S+?-(\d+)\ndata: ")


class EventSocket:
    """One event stream."""

    def __init__(self, port, token, after=None):
        self.gateway = port, token
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        resume = f"Last-Event-ID: {after}\r\n" if after else ""
        head = f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        self.socket.sendall(f"{head}{resume}\r\n".encode())
        self.cursor, self.sequence = after, int(after.rsplit("-", 1)[1]) if after else 0
        self.missed = self.events = 0
        self._rest = b""
        self._is_open = False
        # Whether the present state arrives, of which only the last event has a number.
        self._is_state = False

    def _items(self):
        """Waits for bytes, and yields the name and the number of each event in them."""
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the stream has ended")
        self._rest += data
        if not self._is_open:
            head, separator, rest = self._rest.partition(b"\r\n\r\n")
            if not separator:
                return
            if not head.startswith(b"HTTP/1.1 200"):
                raise ConnectionError(head.decode(errors="replace").splitlines()[0])
            self._is_open, self._rest = True, rest
        position = 0
        while (end := self._rest.find(b"\r\n", position)) >= 0:
            size = int(self._rest[position:end], 16)
            if len(self._rest) < end + 4 + size:
                break
            # A chunk holds whole events.
            for match in EVENT.finditer(self._rest, end + 2, end + 2 + size):
                self.events += 1
                if match[2]:
                    self.cursor = match[2].decode()
                yield match[1], int(match[3]) if match[3] else None
            position = end + 4 + size
        self._rest = self._rest[position:]

    def read_state(self):
        """Reads the present state; returns the nanoseconds that it took."""
        begin = time.monotonic_ns()
        is_whole = False
        while not is_whole:
            for _, sequence in self._items():
                if sequence is not None:
                    self.sequence, is_whole = sequence, True
        return time.monotonic_ns() - begin

    def read_changes(self):
        """Waits for changes. Each has to follow the one before it, unless the present state comes instead of them."""
        for name, sequence in self._items():
            if name == b"missed":
                self.missed += 1
            elif sequence is None:
                self._is_state = True
            elif self._is_state or sequence == self.sequence + 1:
                self.sequence, self._is_state = sequence, False
            else:
                sys.exit(f"change {sequence} came after {self.sequence}")

    def read_until(self, sequence):
        """Reads changes up to a number; returns the nanoseconds that it took."""
        begin = time.monotonic_ns()
        while self.sequence < sequence:
            self.read_changes()
        return time.monotonic_ns() - begin

    def again(self):
        """Another stream, behind the last event of this one."""
        stream = EventSocket(*self.gateway, after=self.cursor)
        stream.missed, stream.events = self.missed, self.events
        return stream

    def close(self):
        self.socket.close()


def collect(pipe, port, token, count, changes):
    """Opens streams, says which change is the newest, and sends back the number and the time of every arrival."""
    streams = []
    for _ in range(count):
        streams.append(EventSocket(port, token))
        streams[-1].read_state()
    pipe.send(max(stream.sequence for stream in streams))
    arrivals: list[tuple[int, int]] = []
    rests = {stream.socket: b"" for stream in streams}
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            stream.socket.setblocking(False)
            selector.register(stream.socket, selectors.EVENT_READ, stream.socket)
        deadline = time.monotonic() + 60 + changes
        while len(arrivals) < count * changes and time.monotonic() < deadline:
            for key, _ in selector.select(1):
                source: socket.socket = key.data
                data = rests[source] + source.recv(1 << 16)
                now = time.monotonic_ns()
                position = 0
                for match in CHANGE.finditer(data):
                    arrivals.append((int(match[1]), now))
                    position = match.end()
                # The beginning of an event whose number has not arrived.
                rests[source] = data[max(position, len(data) - 100) :]
    pipe.send(arrivals)


def flood_reader(pipe, port, token, number, seed):
    """Reads until the change that the pipe names, and does what subscribers do: 0 and 1 stay, 2 to 4 come and go, the
    others stall. Reports what happened; a change that is missing or comes twice ends the process."""
    rng = random.Random(seed * 100 + number)
    stream = EventSocket(port, token)
    stream.read_state()
    pipe.send("ready")
    last, returns, stalls, cut, read = None, 0, 0, 0, 0
    while last is None or stream.sequence < last:
        if last is None and pipe.poll():
            last = pipe.recv()
        before, is_cut = stream.events, False
        stream.socket.settimeout(1)
        try:
            stream.read_changes()
        except TimeoutError:
            continue
        except ConnectionError:
            is_cut = True
        read += stream.events - before
        leaves = 2 <= number <= 4 and rng.random() < 0.002
        if is_cut or leaves:
            cut, returns = cut + is_cut, returns + 1
            stream.close()
            time.sleep(rng.choice([0, 0.05, 0.5, 1.5]) if leaves else 0)
            stream = stream.again()
        elif number > 4 and rng.random() < 0.0005:
            stalls += 1
            time.sleep(rng.choice([0.2, 1, 2]))
    pipe.send(
        f"{read} events in order, {returns} returns, {stalls} stalls, {cut} times cut off, "
        f"{stream.missed} times the present state instead of changes"
    )
