"""A cloud that takes reports: HTTPS with a certificate of the tests, a token endpoint that checks signed requests, and
trouble on demand."""

import base64
import json
import ssl
import threading
import urllib.parse
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from .polling import PATIENCE
from .ports import free_port


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class HomeGraph:
    """Keeps every report that it has accepted. It can be stopped and started again on its port."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self._files = certificate, key
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self._account = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._lock = threading.Condition()
        self.reports: list[tuple[str, dict[str, Any]]] = []
        """The paths and bodies of accepted messages."""
        self.trouble: deque[tuple[int, dict[str, str]]] = deque()
        """How the next reports are answered instead; status 0 never answers."""
        self.troubled: list[int] = []
        self.strangers: list[str] = []
        """Paths that a client came to without being asked."""
        self.tokens = 0
        self.left = threading.Event()
        """Set when a client that was never answered has closed its connection."""
        self.start()

    def credentials(self) -> str:
        """The key of the service account."""
        pem = self._account.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        account = {"client_email": "reporter@tests", "private_key": pem.decode(), "private_key_id": "k1"}
        return json.dumps(account | {"type": "service_account", "token_uri": f"{self.url}/token"})

    def start(self) -> None:
        graph = self

        class Handler(BaseHTTPRequestHandler):
            # A connection for each message, so that a stopped cloud answers nobody.
            protocol_version = "HTTP/1.0"

            def do_POST(self) -> None:
                graph._take(self)

            def do_GET(self) -> None:
                graph.strangers.append(self.path)
                graph._answer(self, 404, {})

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self._files)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: Any = None) -> None:
        data = json.dumps(body if body is not None else {}).encode()
        handler.send_response(status)
        for name, value in ({"Content-Length": str(len(data)), "Content-Type": "application/json"} | headers).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    def _take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        if handler.path == "/token":
            self._give_token(handler, body.decode())
            return
        if not handler.path.startswith("/v1/devices:"):
            self.strangers.append(handler.path)
            self._answer(handler, 404, {})
            return
        with self._lock:
            status, headers = self.trouble.popleft() if self.trouble else (200, {})
            if handler.headers.get("Authorization") != f"Bearer token-{self.tokens}":
                status = 401
            if status == 200:
                self.reports.append((handler.path, json.loads(body)))
            else:
                self.troubled.append(status)
            self._lock.notify_all()
        if status == 0:
            handler.connection.settimeout(PATIENCE)
            try:
                handler.connection.recv(1)
            except TimeoutError:
                return
            except OSError:
                pass
            self.left.set()
            return
        self._answer(handler, status, headers)

    def _give_token(self, handler: BaseHTTPRequestHandler, form: str) -> None:
        fields = urllib.parse.parse_qs(form)
        assert fields["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
        signed, _, signature = fields["assertion"][0].rpartition(".")
        # Raises if the signature is wrong.
        self._account.public_key().verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        claims = json.loads(_decoded(signed.split(".")[1]))
        assert claims["iss"] == "reporter@tests" and claims["aud"] == f"{self.url}/token"
        assert claims["scope"].endswith("/auth/homegraph") and 0 < claims["exp"] - claims["iat"] <= 3600
        with self._lock:
            self.tokens += 1
            token = f"token-{self.tokens}"
        self._answer(handler, 200, {}, {"access_token": token, "expires_in": 3600, "token_type": "Bearer"})

    def states(self) -> list[dict[str, Any]]:
        """The states of the accepted reports, by device, in order."""
        return [body["payload"]["devices"]["states"] for path, body in self.reports if path.endswith("Notification")]

    def synchronisations(self) -> int:
        return sum(path.endswith(":requestSync") for path, _ in self.reports)

    def wait(self, condition: Any, what: str) -> None:
        """Waits until something is true of what was received."""
        with self._lock:
            assert self._lock.wait_for(condition, PATIENCE), f"{what}: {self.reports[-5:]} {self.troubled}"
