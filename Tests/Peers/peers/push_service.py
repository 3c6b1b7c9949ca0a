"""A push service with its browsers: it keeps what it gets, and decrypts it as a browser does (RFC 8291, RFC 8188)."""

import base64
import json
import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .pki import Authority


def unpadded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def digest(key: bytes, *parts: bytes) -> bytes:
    made = hmac.HMAC(key, hashes.SHA256())
    made.update(b"".join(parts))
    return made.finalize()


@dataclass
class PushBrowser:
    """A browser's keys, and its address at the service."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    secret: bytes = b"sixteen bytes it"

    @property
    def public_key(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def subscription(self) -> dict[str, Any]:
        """What `PushSubscription.toJSON()` gives."""
        keys = {"p256dh": unpadded(self.public_key), "auth": unpadded(self.secret)}
        return {"endpoint": self.endpoint, "keys": keys}

    def decrypt(self, body: bytes) -> bytes:
        """A body of one record."""
        salt, length = body[:16], body[20]
        sender = body[21 : 21 + length]
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        shared = self.key.exchange(ec.ECDH(), public)
        key = digest(digest(self.secret, shared), b"WebPush: info\0", self.public_key, sender, b"\1")
        pseudorandom = digest(salt, key)
        content_key = digest(pseudorandom, b"Content-Encoding: aes128gcm\0\1")[:16]
        nonce = digest(pseudorandom, b"Content-Encoding: nonce\0\1")[:12]
        text = AESGCM(content_key).decrypt(nonce, body[21 + length :], None)
        assert text.rstrip(b"\0")[-1:] == b"\2", "the last record has its delimiter"
        return text.rstrip(b"\0")[:-1]


@dataclass(frozen=True)
class PushRequest:
    """A request that the service has got."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    def check_sender(self, origin: str, public_key: str) -> dict[str, Any]:
        """Fails unless the claim is for this service and signed with the key; returns the claim (RFC 8292)."""
        scheme, _, parameters = self.headers["authorization"].partition(" ")
        assert scheme == "vapid"
        named = dict(part.strip().split("=", 1) for part in parameters.split(","))
        assert named["k"] == public_key
        signed, _, signature = named["t"].rpartition(".")
        raw = decoded(signature)
        numbers = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(public_key))
        try:
            key.verify(encode_dss_signature(*numbers), signed.encode(), ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            raise AssertionError("the claim is not signed with the gateway's key") from None
        header, claim = (json.loads(decoded(part)) for part in signed.split("."))
        assert header == {"alg": "ES256", "typ": "JWT"}
        assert claim["aud"] == origin
        return dict(claim)


class PushService:
    """An HTTPS server on loopback. It answers with the next of `statuses`, and with 201 when there is none left."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self.requests: list[PushRequest] = []
        self.statuses: dict[str, list[int]] = {}
        """What a browser's next messages are answered with, by its name."""
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                names = {name.lower(): value for name, value in self.headers.items()}
                service.requests.append(PushRequest(self.path, names, body))
                mine = service.statuses.get(self.path.rpartition("/")[2], [])
                self.send_response(mine.pop(0) if mine else 201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority.issue("push"))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.origin = f"https://localhost:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def browser(self, name: str) -> PushBrowser:
        return PushBrowser(f"{self.origin}/send/{name}")

    def sent_to(self, browser: PushBrowser) -> list[PushRequest]:
        return [one for one in self.requests if browser.endpoint.endswith(one.path)]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
