"""HTTP in front of servers that make the offers of their views themselves.

`serve_offers` reverses WHEP, for a browser that answers (`playOffered` in Tests/Peers/peers/player.js):

    GET    /              an empty page, whose scripts may ask for the rest
    POST   /viewers       begins a view: 201 with the server's offer, and where the view is
    PATCH  /viewers/NAME  the browser's answer
    DELETE /viewers/NAME  ends the view
"""

import http.server
import threading
from typing import Protocol

SDP = "application/sdp"


class Handler(http.server.BaseHTTPRequestHandler):
    """A handler that replies with short texts and logs nothing."""

    protocol_version = "HTTP/1.1"

    def body(self) -> str:
        """The body of the request."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()

    def reply(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        for name, content in (headers or {}).items():
            self.send_header(name, content)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


def serve(handler: type[Handler], host: str = "127.0.0.1") -> int:
    """Answers requests on threads until the process ends; returns the port."""
    server = _Server((host, 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_address[1])


class Offering(Protocol):
    """A server that makes offers. Each method raises a ValueError, a KeyError or an OSError if it fails."""

    def offer(self) -> tuple[str, str]:
        """Begins a view; returns its name and the offer, which names all candidates."""

    def answer(self, name: str, answer: str) -> None:
        """Goes on with the viewer's answer."""

    def end(self, name: str) -> None:
        """Ends a view."""


def serve_offers(offering: Offering, host: str) -> int:
    """Starts the HTTP server; returns its port."""

    class OfferHandler(Handler):
        def do_GET(self) -> None:
            if self.path == "/":
                self.reply(200, "<!doctype html><title>viewer</title>", {"Content-Type": "text/html"})
            else:
                self.reply(404, "")

        def do_POST(self) -> None:
            self.body()
            try:
                name, offer = offering.offer()
            except (ValueError, KeyError, OSError) as error:
                return self.reply(502, repr(error))
            return self.reply(201, offer, {"Content-Type": SDP, "Location": f"/viewers/{name}"})

        def do_PATCH(self) -> None:
            try:
                offering.answer(self.name, self.body())
            except (ValueError, KeyError, OSError) as error:
                return self.reply(502, repr(error))
            return self.reply(200, "")

        def do_DELETE(self) -> None:
            try:
                offering.end(self.name)
            except (ValueError, KeyError, OSError) as error:
                return self.reply(404, repr(error))
            return self.reply(200, "")

        @property
        def name(self) -> str:
            return self.path.rsplit("/", 1)[1]

    return serve(OfferHandler, host)
