"""Free ports on this host."""

import random
import socket


def free_port() -> int:
    """A port that neither TCP nor UDP uses now, on any address.

    It lies below those that the system gives to connections (32,768 on Linux): one of those could be taken before the
    program that is started binds it.
    """
    for _ in range(50):
        port = random.randrange(10_000, 32_000)
        with (
            socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        ):
            try:
                tcp.bind(("0.0.0.0", port))
                udp.bind(("0.0.0.0", port))
            except OSError:
                continue
            return port
    raise RuntimeError("this host has no free port")


def free_port_pair() -> int:
    """A port for RTSP; at it or at the next even one, and the one after that, nobody listens by UDP."""
    for _ in range(50):
        port = free_port()
        first = port + port % 2
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as rtp,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as rtcp,
        ):
            try:
                rtp.bind(("127.0.0.1", first))
                rtcp.bind(("127.0.0.1", first + 1))
            except OSError:
                continue
            return port
    raise RuntimeError("this host has no free pair of ports")
