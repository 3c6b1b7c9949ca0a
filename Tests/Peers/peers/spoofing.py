"""Datagrams that claim to come from somebody else, for which Linux asks for root."""

import socket
import struct


class Spoofer:
    """Sends UDP over IPv4 with any source address. On the loopback path nothing on the way filters it."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)

    def send(self, payload: bytes, source: tuple[str, int], destination: tuple[str, int]) -> None:
        # The kernel fills in the IP checksum and total length; UDP's checksum is optional over IPv4.
        udp = struct.pack("!HHHH", source[1], destination[1], 8 + len(payload), 0)
        header = struct.pack(
            "!BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, socket.IPPROTO_UDP, 0,
            socket.inet_aton(source[0]), socket.inet_aton(destination[0]),
        )  # fmt: skip
        self._socket.sendto(header + udp + payload, (destination[0], 0))

    def close(self) -> None:
        self._socket.close()
