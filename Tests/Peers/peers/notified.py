"""Receivers of notifications: a topic of a broker, and an HTTPS server."""

import json
import ssl
import threading
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .mqtt_client import BareClient
from .pki import Authority


@dataclass(frozen=True)
class Request:
    """A request that the server has got."""

    path: str
    authorization: str
    notification: dict[str, Any]
    picture: bytes | None


class NotifiedServer:
    """An HTTPS server that keeps what it gets. It answers with the status at the end of the path, else with 204."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self.requests: list[Request] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.requests.append(server.read(self.path, dict(self.headers.items()), body))
                status = int(self.path.rsplit("/", 1)[-1]) if self.path[-1].isdigit() else 204
                self.send_response(status)
                if status in (301, 307):
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority.issue("receiver"))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.address = f"https://localhost:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @staticmethod
    def read(path: str, headers: dict[str, str], body: bytes) -> Request:
        kind = headers["Content-Type"]
        parts: dict[str, bytes] = {}
        if kind.startswith("multipart/form-data"):
            for part in BytesParser().parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body).walk():
                content = part.get_payload(decode=True)
                if isinstance(content, bytes):
                    parts[str(part.get_param("name", header="content-disposition"))] = content
        else:
            assert kind == "application/json", kind
            parts["notification"] = body
        notification = json.loads(parts["notification"])
        return Request(path, headers.get("Authorization", ""), notification, parts.get("snapshot"))

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@dataclass
class NotifiedTopic:
    """The messages of a topic and of the topic of its pictures, until `stop`."""

    port: int
    topic: str
    notifications: list[dict[str, Any]] = field(default_factory=list)
    pictures: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._client = BareClient(self.port, "notified")
        self._client.subscribe(self.topic, f"{self.topic}/snapshot")
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        for topic, payload in self._client.raw_messages():
            if topic == self.topic:
                self.notifications.append(json.loads(payload))
            else:
                self.pictures.append(payload)

    def stop(self) -> None:
        self._client.close()
        self._thread.join()
