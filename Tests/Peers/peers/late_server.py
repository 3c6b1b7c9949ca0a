"""A server that answers late: a port that refuses connections, or takes them and says nothing, until it is opened."""

import socket
import threading

from .sockets import end, passed_on


class LateServer:
    """Listens on 127.0.0.1 at `port`, and passes everything on to another one once it is open; removed by `close`."""

    def __init__(self, port: int, hangs: bool) -> None:
        """`port` is where the other one listens. With `hangs`, clients are connected and get no answer before `open`;
        otherwise they are refused."""
        self._target = port
        self._sockets: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.bind(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        if hangs:
            self._listener.listen()

    def open(self) -> None:
        """From now on it answers."""
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        for near, far in passed_on(self._listener, self._target):
            self._sockets += [near, far]
            for origin, target in ((near, far), (far, near)):
                threading.Thread(target=self._forward, args=(origin, target), daemon=True).start()

    @staticmethod
    def _forward(origin: socket.socket, target: socket.socket) -> None:
        try:
            while piece := origin.recv(65_536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # One of the two has gone, and so the other one is told.
            end(origin)
            end(target)

    def close(self) -> None:
        for one in [self._listener, *self._sockets]:
            end(one)
