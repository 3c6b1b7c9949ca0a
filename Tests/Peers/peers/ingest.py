"""A receiver of recordings behind nginx: as strict as its interface, with every answer that a test wants."""

import http.server
import re
import socketserver
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .nginx import Nginx, temporary_paths
from .ports import free_port

TYPES = {
    "init": "video/mp4",
    "m4s": "video/iso.segment",
    "mpd": "application/dash+xml",
    "m3u8": "application/vnd.apple.mpegurl",
}
NAME = re.compile(
    r"/(?P<base>[^/]+)/session_(?P<session>\d+)/"
    r"(?:index\.(?:mpd|m3u8)|(?P<track>[A-Za-z0-9_.-]+)/(?:(?P=track)\.init|segment_(?P<number>\d{4,})\.m4s|index\.m3u8))"
)
MPD = "{urn:mpeg:dash:schema:mpd:2011}"


@dataclass
class Put:
    """An object that arrived."""

    path: str
    body: bytes
    headers: dict[str, str]


@dataclass
class Session:
    """What a session has, and what was wrong about it."""

    puts: list[Put] = field(default_factory=list)
    objects: dict[str, bytes] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)


class Strict:
    """Checks the order, the names, the media types and the manifests of an interface."""

    def __init__(self, interface: str) -> None:
        self.interface = interface
        self.sessions: dict[str, Session] = {}
        self.requests: list[Put] = []
        self.lock = threading.Lock()
        #: What the next request gets, by its number and path; None to take it.
        self.answer: Callable[[int, str], int | None] = lambda _number, _path: None
        self.count = 0

    def take(self, put: Put) -> int:
        with self.lock:
            self.requests.append(put)
            self.count += 1
            if status := self.answer(self.count, put.path):
                return status
            match = NAME.fullmatch(put.path)
            key = f"{match['base']}/{match['session']}" if match else put.path
            session = self.sessions.setdefault(key, Session())
            if match is None:
                session.violations.append(f"{put.path}: not a name of this interface")
                return 202
            for violation in self._violations(put, match, session):
                session.violations.append(f"{put.path}: {violation}")
            session.puts.append(put)
            session.objects[put.path] = put.body
            return 202

    def newest(self, path: str) -> Put | None:
        """An object as it arrived last."""
        with self.lock:
            puts = [put for session in self.sessions.values() for put in session.puts if put.path == path]
        return puts[-1] if puts else None

    def objects(self, base: str) -> list[dict[str, bytes]]:
        """What each session below a base has now."""
        with self.lock:
            return [dict(one.objects) for key, one in self.sessions.items() if key.startswith(f"{base}/")]

    def _violations(self, put: Put, match: re.Match[str], session: Session) -> list[str]:
        found = []
        kind = put.path.rsplit(".", 1)[1]
        taken = session.objects
        if put.headers.get("content-type") != TYPES[kind]:
            found.append(f"media type {put.headers.get('content-type')}")
        if put.headers.get("x-verify") != "SUCCESS":
            found.append("without a client certificate")
        segments = [path for path in taken if path.endswith(".m4s")]
        has_ended = any(self._is_final(path, body) for path, body in taken.items())
        if put.path in taken and kind in ("init", "m4s") and taken[put.path] != put.body:
            found.append("other bytes than before")
        if kind == "m4s":
            self._check_segment(put, match, session, found)
            if has_ended and put.path not in taken:
                found.append("after the end of the session")
        elif kind == "init" and segments and put.path not in taken:
            found.append("after a segment")
        if kind in ("mpd", "m3u8"):
            if (kind == "mpd") != (self.interface == "dash") or self.interface == "interface1":
                found.append("a manifest that this interface does not have")
            elif kind == "mpd":
                self._check_presentation(put, taken, found)
            elif match["track"]:
                self._check_playlist(put, taken, found)
            elif taken and put.path not in taken:
                found.append("not the first object")
        elif self.interface != "interface1":
            suffix = "index.mpd" if self.interface == "dash" else "index.m3u8"
            if not any(path.endswith(suffix) for path in taken):
                found.append("before the manifest")
        return found

    def _check_segment(self, put: Put, match: re.Match[str], session: Session, found: list[str]) -> None:
        folder = put.path.rsplit("/", 1)[0]
        if f"{folder}/{match['track']}.init" not in session.objects:
            found.append("before its header")
        number = int(match["number"])
        numbers = [
            int(path.rsplit("_", 1)[1][:-4]) for path in session.objects if path.startswith(f"{folder}/segment_")
        ]
        if put.path not in session.objects and number != max(numbers, default=1000) + 1:
            found.append(f"after {max(numbers, default=1000)}")
        duration = put.headers.get("x-extinf-duration")
        if (duration is not None) != (self.interface == "hls") or (
            duration is not None and not re.fullmatch(r"\d+\.\d+", duration)
        ):
            found.append(f"X-EXTINF-duration {duration}")

    @staticmethod
    def _check_presentation(put: Put, taken: dict[str, bytes], found: list[str]) -> None:
        root = ET.fromstring(put.body)
        tracks = [element.get("id") for element in root.iter(f"{MPD}Representation")]
        if root.get("type") == "dynamic":
            if taken and put.path not in taken:
                found.append("the dynamic manifest is not the first object")
            if root.find(f".//{MPD}SegmentTimeline") is not None:
                found.append("the dynamic manifest lists segments")
            return
        if root.get("type") != "static":
            found.append(f"type {root.get('type')}")
        folder = put.path.rsplit("/", 1)[0]
        for representation in root.iter(f"{MPD}Representation"):
            track = representation.get("id")
            template = representation.find(f"{MPD}SegmentTemplate")
            listed = 0
            if template is not None:
                listed = sum(int(run.get("r", 0)) + 1 for run in template.iter(f"{MPD}S"))
            has = sum(1 for path in taken if path.startswith(f"{folder}/{track}/segment_"))
            if listed != has:
                found.append(f"lists {listed} segments of {track}, of which {has} are there")
        if not tracks:
            found.append("no tracks")

    @staticmethod
    def _check_playlist(put: Put, taken: dict[str, bytes], found: list[str]) -> None:
        text = put.body.decode()
        folder = put.path.rsplit("/", 1)[0]
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        if "#EXT-X-ENDLIST" not in text:
            if lines or "#EXTINF" in text or "PLAYLIST-TYPE" in text:
                found.append("the first playlist lists segments")
            return
        if "#EXT-X-PLAYLIST-TYPE:VOD" not in text:
            found.append("the last playlist is not complete")
        has = sorted(path for path in taken if path.startswith(f"{folder}/segment_"))
        if [f"{folder}/{line}" for line in lines] != has:
            found.append(f"lists {lines}, and {has} are there")
        if text.count("#EXTINF:") != len(lines):
            found.append("a segment without a duration")

    @staticmethod
    def _is_final(path: str, body: bytes) -> bool:
        return (path.endswith(".mpd") and b'type="static"' in body) or b"#EXT-X-ENDLIST" in body


class Ingest:
    """nginx with client certificates in front of a strict receiver."""

    def __init__(self, folder: Path, authority: Path, certificate: Path, key: Path, interface: str) -> None:
        self.strict = Strict(interface)
        self.folder = folder
        folder.mkdir(parents=True)
        self._server = _Server(folder / "receiver.sock", self.strict)
        self.port = free_port()
        self.old_port = free_port()
        self._reading_port = free_port()
        (folder / "store").mkdir()
        ports = (self.port, self.old_port, self._reading_port)
        sections = _sections(folder, ports, authority, certificate, key)
        self._nginx = Nginx(folder, sections, connections=256)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}/strict/"

    @property
    def origin(self) -> str:
        """Where players read what has arrived, without a certificate. Its root is an empty page."""
        return f"http://127.0.0.1:{self._reading_port}"

    def violations(self) -> list[str]:
        return [line for session in self.strict.sessions.values() for line in session.violations]

    def stop(self) -> None:
        self._nginx.stop()
        self._server.shutdown()
        self._server.server_close()


def _sections(folder: Path, ports: tuple[int, int, int], authority: Path, certificate: Path, key: Path) -> str:
    port, old_port, reading_port = ports
    return f"""
http {{
  access_log off;
  {temporary_paths(folder)}
  client_max_body_size 200m;
  ssl_certificate {certificate};
  ssl_certificate_key {key};
  ssl_client_certificate {authority};
  ssl_verify_client on;
  upstream receiver {{ server unix:{folder}/receiver.sock; }}
  server {{
    listen 127.0.0.1:{port} ssl http2;
    listen 127.0.0.1:{old_port} ssl;
    location /strict/ {{
      proxy_pass http://receiver/;
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_set_header X-Protocol $server_protocol;
      proxy_set_header X-Verify $ssl_client_verify;
      proxy_set_header X-Subject $ssl_client_s_dn;
    }}
    location /store/ {{
      root {folder};
      dav_methods PUT;
      create_full_put_path on;
    }}
  }}
  server {{
    listen 127.0.0.1:{reading_port};
    location / {{ proxy_pass http://receiver/; }}
  }}
}}
"""


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def __init__(self, path: Path, strict: Strict) -> None:
        self.strict = strict
        super().__init__(str(path), _Handler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def address_string(self) -> str:
        return "nginx"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        """Hands an object out, with the media type that it came with."""
        found = self.server.strict.newest(self.path)
        body = found.body if found else b"<!DOCTYPE html><title>Ingest</title>"
        self.send_response(200 if found or self.path == "/" else 404)
        self.send_header("Content-Type", found.headers.get("content-type", "") if found else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self._body(headers)
        if body is None:
            self.close_connection = True
            return
        status = self.server.strict.take(Put(self.path, body, headers))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/strict/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _body(self, headers: dict[str, str]) -> bytes | None:
        """The whole body; None when the sender gave up in the middle of it."""
        if "chunked" not in headers.get("transfer-encoding", ""):
            length = int(headers.get("content-length", 0))
            body = self.rfile.read(length)
            return body if len(body) == length else None
        pieces: list[bytes] = []
        while True:
            line = self.rfile.readline().strip()
            if not line:
                return None
            size = int(line, 16)
            piece = self.rfile.read(size)
            if len(piece) != size or self.rfile.readline() != b"\r\n":
                return None
            if size == 0:
                return b"".join(pieces)
            pieces.append(piece)
