"""Event streams for tools/bench-home, read from plain sockets so that the reader costs little."""

import random
import re
import selectors
import socket
import sys
import time
from array import array

# The levels of a lamp, one after the other and then from the beginning.
LEVELS = 250
# The subscribers of a flood. Those that stay are the ones whose delays count.
FLOOD_KINDS = ("stay",) * 2 + ("come and go",) * 3 + ("stall",) * 3
# How long a subscriber may need to connect again, and to read the rest when the flood is over, in seconds.
PATIENCE = 120
# The name, the cursor with its run of the gateway and its number.
EVENT = re.compile(rb"event: (\w+)\n(?:id: (\S+?-(\d+)-(\d+))\n)?data: ")
LAMP = re.compile(rb'"currentLevel":(\d+)[^\n]*?"key":"light-(\d+)"')
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

    def items(self):
        """Waits for bytes, and yields the beginning of each event in them, as a match of EVENT."""
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
                yield match
            position = end + 4 + size
        self._rest = self._rest[position:]

    def read_state(self):
        """Reads the present state; returns the nanoseconds that it took."""
        begin = time.monotonic_ns()
        is_whole = False
        while not is_whole:
            for match in self.items():
                if match[4]:
                    self.sequence, is_whole = int(match[4]), True
        return time.monotonic_ns() - begin

    def read_changes(self):
        """Waits for changes. Each has to follow the one before it, unless the present state comes instead of them."""
        for match in self.items():
            sequence = int(match[4] or 0)
            if match[1] == b"missed":
                self.missed += 1
            elif not sequence:
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


class FloodReader:
    """A subscriber of a flood, and what it has seen.

    Every change sets a lamp to the level after the one that it has, so a level says which change of the lamp it is.
    When the gateway starts, it tells the state of each lamp once more, as a change with a number of its own.
    """

    def __init__(self, stream, kind, rng, levels, sent):
        """`levels` are those that the lamps have. `sent` is when each change was sent: LEVELS times for each lamp."""
        stream.read_state()
        self.stream, self.kind, self.rng, self.levels, self.sent = stream, kind, rng, levels, sent
        # The run of the gateway that last reported each lamp, and when the newest change was sent.
        self.runs, self.newest = [int(stream.cursor.split("-")[1])] * len(levels), 0
        # The lamp and the level of each change that only the state after a start has told.
        self.told_by_start: list[tuple[int, int]] = []
        self.told = self.gaps = self.twice = self.disordered = self.missed = 0
        self.events = self.resumes = self.stalls = self.cut = 0
        self.delays = array("q")
        self.pause_at = 0
        self.prepare()

    def prepare(self):
        """Makes the stream ready, and chooses after how many events the subscriber leaves or stalls."""
        self.stream.socket.settimeout(1)
        if self.kind == "stall":
            # A small buffer, so that what a stalled subscriber does not read waits in the gateway.
            self.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        self.pause_at = self.events + (
            self.rng.randint(200, 800) if self.kind == "come and go" else self.rng.randint(2_000, 8_000)
        )

    def read(self):
        """Reads what has come within a second. Then it does what a subscriber of its kind does."""
        try:
            for match in self.stream.items():
                self.take(match, time.monotonic_ns())
        except TimeoutError:
            return
        except ConnectionError:
            self.cut += 1
            self.resume(0.05)
            return
        if self.events < self.pause_at or self.kind == "stay":
            return
        if self.kind == "come and go":
            self.resume(self.rng.choice([0, 0.05, 0.5, 1.5]))
        else:
            self.stalls += 1
            time.sleep(self.rng.uniform(1, 4))
            self.prepare()

    def resume(self, pause):
        """Connects again behind the last event, as soon as the gateway answers."""
        self.stream.close()
        deadline = time.monotonic() + PATIENCE
        while True:
            time.sleep(pause)
            try:
                self.stream = self.stream.again()
                break
            except ConnectionError:
                if time.monotonic() > deadline:
                    raise
                pause = 0.05
        self.resumes += 1
        self.prepare()

    def take(self, match, now):
        """Compares an event with those before it."""
        self.events += 1
        self.missed += match[1] == b"missed"
        run = int(match[3] or 0)
        if match[4]:
            step = int(match[4]) - self.stream.sequence
            self.twice += step <= 0
            self.gaps += max(0, step - 1)
            self.stream.sequence = max(self.stream.sequence, int(match[4]))
        lamp = LAMP.search(match.string, match.end())
        if match[1] != b"device" or lamp is None:
            return
        level, number = int(lamp[1]), int(lamp[2])
        is_start, self.runs[number] = run > self.runs[number], max(run, self.runs[number])
        step = (level - self.levels[number]) % LEVELS
        if step == 0:
            self.twice += not is_start
            return
        sent = self.sent[number * LEVELS + level - 1]
        if step > LEVELS // 2 or sent < self.newest:
            self.disordered += 1
        if step > LEVELS // 2:
            return
        # A larger step passes over changes, which are lost.
        self.levels[number], self.newest = level, max(sent, self.newest)
        self.told += 1
        if is_start:
            self.told_by_start.append((number, level))
        if self.kind == "stay":
            self.delays.append(now - sent)

    def report(self):
        """The numbers, and the delays in nanoseconds."""
        names = ("kind", "told", "told_by_start", "gaps", "twice", "disordered", "missed")
        return {name: getattr(self, name) for name in (*names, "resumes", "stalls", "cut", "delays")}


def flood_reader(pipe, port, token, number, seed, levels, sent):
    """Reads until the change that the pipe names, as one of the FLOOD_KINDS, and sends what it has seen."""
    rng = random.Random(seed * 100 + number)
    reader = FloodReader(EventSocket(port, token), FLOOD_KINDS[number], rng, levels, sent)
    pipe.send("ready")
    while not pipe.poll():
        reader.read()
    last, deadline = pipe.recv(), time.monotonic() + PATIENCE
    while reader.stream.sequence < last and time.monotonic() < deadline:
        reader.read()
    pipe.send(reader.report())
