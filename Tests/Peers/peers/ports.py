"""Free ports on this host."""

import socket


def free_port() -> int:
    """A port that neither TCP nor UDP uses now, on any address."""
    for _ in range(50):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
            tcp.bind(("0.0.0.0", 0))
            port = tcp.getsockname()[1]
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
                try:
                    udp.bind(("0.0.0.0", port))
                except OSError:
                    continue
                return int(port)
    raise RuntimeError("this host has no free port")
