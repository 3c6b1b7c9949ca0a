"""The servers that tools/bench-loss compares: builds of the gateway, and others that relay the same RTSP camera."""

import json
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from bench_support import ROOT, Gateway, read_port
from janus_server import start_janus
from offering_server import serve_offers
from peers.viewer import BrowserViewer

Owned = list[subprocess.Popen[Any]]


class Server(Protocol):
    """A server with one camera."""

    port: int
    """The port of its HTTP server, whose root is a page."""
    token: str
    process: subprocess.Popen[Any]

    def play(self, viewer: BrowserViewer) -> None:
        """Returns when the first picture has been decoded."""

    def sent(self) -> dict[str, int] | None:
        """What all views together have sent so far; None if the server does not say."""


class GatewayServer:
    """A build of the gateway, which is pulling its camera."""

    def __init__(self, program: str, folder: pathlib.Path, owned: Owned, source: str, substream: str | None) -> None:
        camera = f'{{ id: camera, source: "{source}"' + (f', substream: "{substream}"' if substream else "") + " }"
        self._gateway = Gateway(program, folder, [camera], owned, host="0.0.0.0")
        self.port, self.token, self.process = self._gateway.port, self._gateway.token, self._gateway.process
        for _ in range(300):
            if json.loads(self._gateway.get("/v1/devices/camera"))["source"]["state"] == "flowing":
                return
            time.sleep(0.1)
        sys.exit("the gateway gets nothing from its camera")

    def play(self, viewer: BrowserViewer) -> None:
        viewer.call("playWHEP", device="camera")

    def sent(self) -> dict[str, int] | None:
        sessions = [session["statistics"] for session in json.loads(self._gateway.get("/v1/sessions"))["sessions"]]
        return {name: sum(each[name] for each in sessions) for name in sessions[0]} if sessions else None


class Peer:
    """Another server. It makes the offer."""

    token = ""

    def __init__(self, port: int, process: subprocess.Popen[Any]) -> None:
        self.port, self.process = port, process

    def play(self, viewer: BrowserViewer) -> None:
        viewer.call("playOffered", path="/viewers")

    def sent(self) -> None:
        """The server does not say."""


def janus(folder: pathlib.Path, owned: Owned, source: str, host: str) -> Peer:
    """Janus with its streaming plugin."""
    process, api = start_janus(folder, source, owned, sound=True)
    return Peer(serve_offers(api, host), process)


def gstreamer(folder: pathlib.Path, owned: Owned, source: str, host: str) -> Peer:
    """GStreamer's webrtcbin."""
    command = ["/usr/bin/python3", str(ROOT / "tools/webrtcbin-server.py"), source, "--host", host]
    with open(folder / "webrtcbin.log", "w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    owned.append(process)
    return Peer(read_port(process, "GStreamer's server"), process)


PEERS: dict[str, Callable[[pathlib.Path, Owned, str, str], Peer]] = {"janus": janus, "gstreamer": gstreamer}
"""Each with the folder for its files, the list of processes to end, the camera, and the address for browsers."""
