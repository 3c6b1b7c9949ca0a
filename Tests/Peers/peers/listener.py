"""A TCP server for tests, whose other end may hang up at any time."""

import contextlib
import socket
import threading
from collections.abc import Callable


class Listener:
    """Hands each connection to `talk`, on a thread of its own, until `stop`."""

    def __init__(self, talk: Callable[[socket.socket], None], timeout: float = 3) -> None:
        self._talk = talk
        self._timeout = timeout
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._socket.settimeout(0.2)
        self.port = int(self._socket.getsockname()[1])
        self.is_stopping = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while not self.is_stopping.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(self._timeout)
            self._talk(connection)

    def stop(self) -> None:
        self.is_stopping.set()
        for thread in self._threads:
            thread.join()
        self._socket.close()
