"""A rough path between a publisher by RTSP and the gateway: its datagrams overtake each other, or get lost in a row.

It stands between the two as a server. Requests and answers pass through it, and it writes the ports of a `RoughPath`
into them, in place of those where the datagrams would go.
"""

import re
import socket
import threading
from collections.abc import Callable

from .ports import free_port_pair
from .rough_path import Roughness, RoughPath
from .sockets import end, passed_on


class RoughPublishing:
    """Listens on 127.0.0.1 at `port`; smooth until `set`, removed by `close`."""

    def __init__(self, gateway_port: int) -> None:
        self._gateway_port = gateway_port
        self.media: list[RoughPath] = []
        """One for the packets of each track, in the order of the tracks."""
        self._reports: list[RoughPath] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, roughness: Roughness) -> None:
        """From now on this happens to the packets of all tracks, and not to their reports."""
        for path in self.media:
            path.set(roughness)

    @property
    def late(self) -> int:
        """How many packets came late since `set`."""
        return sum(path.late for path in self.media)

    @property
    def lost(self) -> int:
        """How many packets were lost since `set`."""
        return sum(path.lost for path in self.media)

    def _accept(self) -> None:
        for near, far in passed_on(self._listener, self._gateway_port):
            self._sockets += [near, far]
            for origin, target, change in ((near, far, self._ask), (far, near, self._answer)):
                threading.Thread(target=self._forward, args=(origin, target, change), daemon=True).start()

    @staticmethod
    def _forward(origin: socket.socket, target: socket.socket, change: Callable[[str], str]) -> None:
        """Forwards whole heads, changed, and what follows them as it is."""
        waiting = b""
        try:
            while piece := origin.recv(65_536):
                waiting += piece
                while (blank := waiting.find(b"\r\n\r\n")) >= 0:
                    head = waiting[: blank + 4].decode()
                    length = re.search(r"(?i)^content-length: *(\d+)", head, re.MULTILINE)
                    body = blank + 4 + (int(length[1]) if length else 0)
                    if len(waiting) < body:
                        break
                    target.sendall(change(head).encode() + waiting[blank + 4 : body])
                    waiting = waiting[body:]
            target.shutdown(socket.SHUT_RDWR)
        except OSError:
            # One of the two has gone, and so the other one is told.
            end(origin)
            end(target)

    def _ask(self, head: str) -> str:
        """Makes the paths of a track that is set up, and names their far ends."""
        if not re.search(r"client_port=\d+", head):
            return head
        # The gateway's are the first even port from that of its requests on, and the next.
        first = self._gateway_port + self._gateway_port % 2
        # The near ends are neighbours: not every client reads the second number.
        even = free_port_pair()
        rtp, rtcp = (RoughPath("127.0.0.1", ("127.0.0.1", first + index), even + even % 2 + index) for index in (0, 1))
        self.media.append(rtp)
        self._reports.append(rtcp)
        return re.sub(r"client_port=\d+-\d+", f"client_port={rtp.far_port}-{rtcp.far_port}", head)

    def _answer(self, head: str) -> str:
        """Names the near ends of the track that was set up last."""
        if "server_port=" not in head:
            return head
        near = f"server_port={self.media[-1].port}-{self._reports[-1].port}"
        return re.sub(r"server_port=\d+-\d+", near, head)

    def close(self) -> None:
        for one in [self._listener, *self._sockets]:
            end(one)
        for path in [*self.media, *self._reports]:
            path.close()
