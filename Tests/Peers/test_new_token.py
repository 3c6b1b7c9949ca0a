"""A token that is shown only once is not lost when the gateway falls silent after it has made the token."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from peers.client import Client
from peers.gateway import DOORBELL, Gateway
from peers.polling import PATIENCE


class FallingSilent:
    """Stands in front of a gateway. It forwards requests up to the one that makes a token, and answers no other."""

    def __init__(self, client: Client) -> None:
        self.asked = threading.Event()
        """Set when a request has come that is not answered."""
        self._ended = threading.Event()
        door = self
        made = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                """Nothing: the test says what matters."""

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if made.is_set():
                    door.asked.set()
                    door._ended.wait(PATIENCE)
                    return
                headers = {"Content-Type": self.headers["Content-Type"]} if body else {}
                answer = client.request(self.command, self.path, body or None, headers)
                if self.command == "POST" and self.path == "/v1/tokens":
                    made.set()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers["content-type"])
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            do_POST = do_GET

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def falling_silent(client: Client) -> Iterator[FallingSilent]:
    door = FallingSilent(client)
    try:
        yield door
    finally:
        door.close()


def test_it_is_printed_before_anything_else_is_asked(binary: Path, tmp_path: Path) -> None:
    gateway = Gateway(binary, tmp_path, [DOORBELL])
    try:
        with falling_silent(gateway.client) as door:
            # For one device: what it is called takes another request.
            command = subprocess.Popen(
                [str(binary), "token", "create", "Guest", "--scope", "read", "--device", "front-door",
                 "--gateway", f"http://127.0.0.1:{door.port}"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=os.environ | {"GATEHOUSE_TOKEN": gateway.token},
            )  # fmt: skip
            try:
                is_asked = door.asked.wait(PATIENCE)
            finally:
                # A wait that takes too long ends the command.
                command.kill()
                printed, errors = command.communicate(timeout=PATIENCE)
        assert is_asked, f"the command has asked for nothing after the token: {printed}{errors}"
        answer = gateway.client.request("GET", "/v1/devices", token=printed.strip() or "none")
        assert answer.status == 200, f"{printed!r} is not the new token"
        assert [device["key"] for device in answer.json["devices"]] == ["front-door"]
    finally:
        assert gateway.stop() == 0, gateway.process.output()[-4000:]
