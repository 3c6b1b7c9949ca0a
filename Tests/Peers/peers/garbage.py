"""Hostile bytes, the same in every run: what a test sends to the gateway beside a session that plays."""

import random
import struct
from collections.abc import Iterator

STUN_COOKIE = 0x2112A442


def stun_binding_request(username: str, choice: random.Random) -> bytes:
    """A well-formed binding request with a right USERNAME and a forged MESSAGE-INTEGRITY."""
    name = username.encode()
    padded = name + bytes(-len(name) % 4)
    attributes = struct.pack("!HH", 0x0006, len(name)) + padded
    attributes += struct.pack("!HHI", 0x0024, 4, 0x6E7F1EFF)
    attributes += struct.pack("!HHQ", 0x802A, 8, choice.getrandbits(64))
    attributes += struct.pack("!HH", 0x0025, 0)
    attributes += struct.pack("!HH", 0x0008, 20) + choice.randbytes(20)
    return struct.pack("!HHI", 0x0001, len(attributes), STUN_COOKIE) + choice.randbytes(12) + attributes


def dtls_client_hello(choice: random.Random) -> bytes:
    """A DTLS 1.2 ClientHello with a cipher suite list and nothing else of use."""
    body = b"\xfe\xfd" + choice.randbytes(32) + b"\x00\x00" + b"\x00\x04\xc0\x2b\xc0\x2f" + b"\x01\x00"
    handshake = b"\x01" + len(body).to_bytes(3) + bytes(2) + bytes(3) + len(body).to_bytes(3) + body
    return b"\x16\xfe\xfd" + bytes(2) + choice.getrandbits(16).to_bytes(6) + len(handshake).to_bytes(2) + handshake


def dtls_alert(choice: random.Random) -> bytes:
    """A fatal alert without protection, which would end a connection that believed it."""
    return b"\x15\xfe\xfd" + bytes(2) + choice.getrandbits(32).to_bytes(6) + b"\x00\x02\x02\x28"


def rtp(choice: random.Random) -> bytes:
    header = struct.pack(
        "!BBHII", 0x80 | choice.getrandbits(6), choice.getrandbits(7), choice.getrandbits(16),
        choice.getrandbits(32), choice.getrandbits(32),
    )  # fmt: skip
    return header + choice.randbytes(choice.randrange(0, 400))


def rtcp(choice: random.Random) -> bytes:
    """BYE, reports and feedback in the clear, with lengths that need not be true."""
    words = choice.randrange(0, 30)
    first = 0x80 | choice.getrandbits(5)
    return struct.pack("!BBH", first, choice.randrange(192, 224), choice.getrandbits(7)) + choice.randbytes(words * 4)


def mutated(original: bytes, choice: random.Random) -> bytes:
    """Changes, cuts or lengthens bytes at a few places."""
    damaged = bytearray(original)
    for _ in range(choice.randrange(1, 6)):
        place = choice.randrange(0, max(len(damaged), 1))
        match choice.randrange(4):
            case 0 if damaged:
                damaged[place] = choice.getrandbits(8)
            case 1 if damaged:
                damaged[place] ^= 1 << choice.randrange(8)
            case 2:
                del damaged[place:]
            case _:
                damaged[place:place] = choice.randbytes(choice.randrange(1, 20))
    return bytes(damaged[:1400])


def datagrams(seed: int, count: int, username: str) -> Iterator[bytes]:
    """`count` datagrams for the media port, of every protocol that shares it."""
    choice = random.Random(seed)
    for number in range(count):
        match number % 7:
            case 0:
                yield stun_binding_request(username, choice)
            case 1:
                yield mutated(stun_binding_request(username, choice), choice)
            case 2:
                yield mutated(dtls_client_hello(choice), choice)
            case 3:
                yield dtls_alert(choice)
            case 4:
                yield rtp(choice)
            case 5:
                yield rtcp(choice)
            case _:
                yield choice.randbytes(choice.randrange(0, 1200))


def texts(seed: int, count: int, original: str) -> Iterator[bytes]:
    """Damaged versions of a text, some of them no longer UTF-8."""
    choice = random.Random(seed)
    for number in range(count):
        if number % 3 == 0:
            lines = original.splitlines(keepends=True)
            choice.shuffle(lines)
            yield "".join(lines[: choice.randrange(0, len(lines) + 1)]).encode()
        else:
            content = original.encode()
            start = choice.randrange(0, len(content))
            end = min(start + 300, len(content))
            yield content[:start] + mutated(content[start:end], choice) + content[end:]
