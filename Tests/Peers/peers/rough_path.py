"""A path on which datagrams overtake each other, or get lost in a row: a relay between a viewer and a gateway.

The kernel has no queue that does this, so the datagrams pass through this process.
"""

import heapq
import random
import select
import socket
import threading
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Roughness:
    """What happens to the datagrams of both directions."""

    late: float = 0
    """The share of them that comes late."""
    delay: float = 0
    """By how many seconds at most."""
    burst: float = 0
    """For how many seconds everything is lost."""
    period: float = 1
    """How many seconds lie between the beginnings of two such times."""


class RoughPath:
    """Made at once on the thread's own network, and smooth until `set`; removed by `close`.

    The first datagram tells where the viewer is.
    """

    def __init__(self, address: str, gateway: tuple[str, int], port: int = 0) -> None:
        """Viewers send to `address`, at `port`: a free one unless given."""
        self._near = self._open(address, port)
        self._far = self._open("0.0.0.0")
        self._gateway = gateway
        self.port = int(self._near.getsockname()[1])
        self.far_port = int(self._far.getsockname()[1])
        """Where the gateway sends to."""
        self.passed = self.late = self.lost = 0
        """How many datagrams came at once, came late, and were lost."""
        self._viewer: tuple[str, int] | None = None
        self._roughness, self._since = Roughness(), time.monotonic()
        self._chance = random.Random(1)
        # The numbers keep the order of what leaves at the same moment.
        self._waiting: list[tuple[float, int, bytes, bool]] = []
        self._number = 0
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @staticmethod
    def _open(address: str, port: int = 0) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        made.setblocking(False)
        made.bind((address, port))
        return made

    def set(self, roughness: Roughness) -> None:
        """From now on this happens. The counters begin again."""
        self.passed = self.late = self.lost = 0
        self._roughness, self._since = roughness, time.monotonic()

    def _run(self) -> None:
        while not self._is_closed:
            now = time.monotonic()
            pause = max(0.0, self._waiting[0][0] - now) if self._waiting else 0.05
            for ready in select.select([self._near, self._far], [], [], min(pause, 0.05))[0]:
                self._take(ready)
            now = time.monotonic()
            while self._waiting and self._waiting[0][0] <= now:
                _, _, datagram, is_down = heapq.heappop(self._waiting)
                self._send(datagram, is_down)

    def _take(self, ready: socket.socket) -> None:
        """Takes what has come, up to some number."""
        for _ in range(64):
            try:
                datagram, origin = ready.recvfrom(65_536)
            except OSError:
                # Nothing more, or an answer that nobody listens where something was sent to.
                return
            is_down = ready is self._far
            if not is_down:
                self._viewer = origin
            self._pass(datagram, is_down)

    def _pass(self, datagram: bytes, is_down: bool) -> None:
        rough, now = self._roughness, time.monotonic()
        if rough.burst and (now - self._since) % rough.period < rough.burst:
            self.lost += 1
        elif rough.late and self._chance.random() < rough.late:
            self.late += 1
            self._number += 1
            due = now + self._chance.uniform(0, rough.delay)
            heapq.heappush(self._waiting, (due, self._number, datagram, is_down))
        else:
            self.passed += 1
            self._send(datagram, is_down)

    def _send(self, datagram: bytes, is_down: bool) -> None:
        try:
            if not is_down:
                self._far.sendto(datagram, self._gateway)
            elif self._viewer:
                self._near.sendto(datagram, self._viewer)
        except OSError:
            # A full queue loses it, and a peer that has gone is the test's own doing.
            self.lost += 1

    def close(self) -> None:
        self._is_closed = True
        self._thread.join()
        self._near.close()
        self._far.close()
