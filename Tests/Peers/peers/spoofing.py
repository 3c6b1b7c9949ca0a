"""Datagrams from addresses of others, as a host on the same network can send them."""

import ipaddress
import socket
import struct


class Spoofer:
    """Sends UDP with any source address. On the loopback path nothing on the way filters it."""

    def __init__(self) -> None:
        self._version4 = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self._version6: socket.socket | None = None

    def send(self, payload: bytes, source: tuple[str, int], destination: tuple[str, int]) -> None:
        sender, receiver = ipaddress.ip_address(source[0]), ipaddress.ip_address(destination[0])
        length = 8 + len(payload)
        ports = struct.pack("!HHH", source[1], destination[1], length)
        if receiver.version == 4:
            # The kernel fills in the IP checksum and total length; UDP's checksum is optional over IPv4.
            header = struct.pack(
                "!BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, socket.IPPROTO_UDP, 0, sender.packed, receiver.packed
            )
            self._version4.sendto(header + ports + bytes(2) + payload, (destination[0], 0))
            return
        # Over IPv6 the checksum is required (RFC 8200, section 8.1).
        pseudo = sender.packed + receiver.packed + struct.pack("!II", length, socket.IPPROTO_UDP)
        checksum = internet_checksum(pseudo + ports + bytes(2) + payload) or 0xFFFF
        header = struct.pack("!IHBB", 0x6000_0000, length, socket.IPPROTO_UDP, 64) + sender.packed + receiver.packed
        if self._version6 is None:
            self._version6 = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self._version6.sendto(header + ports + struct.pack("!H", checksum) + payload, (destination[0], 0))

    def close(self) -> None:
        self._version4.close()
        if self._version6 is not None:
            self._version6.close()


def internet_checksum(data: bytes) -> int:
    """The checksum of RFC 1071: the complement of the ones' complement sum of all 16-bit words."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
