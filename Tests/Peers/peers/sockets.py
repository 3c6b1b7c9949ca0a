"""Sockets that other threads use: connections that are passed on to another port, and the end of them."""

import contextlib
import socket
from collections.abc import Iterator

from .polling import PATIENCE


def end(one: socket.socket) -> None:
    """Closes a socket or a listener. Wakes a thread that waits in `accept` or `recv`, which `close` alone does not."""
    # A socket that is not connected, or no longer, cannot be shut down.
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


def passed_on(listener: socket.socket, port: int) -> Iterator[tuple[socket.socket, socket.socket]]:
    """The connections that come until the listener is ended, each with one to `port` of this host."""
    while True:
        try:
            near, _ = listener.accept()
        except OSError:
            return
        try:
            far = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except OSError:
            # Nobody listens there now, but somebody may when the next client comes.
            near.close()
            continue
        far.settimeout(None)
        yield near, far
