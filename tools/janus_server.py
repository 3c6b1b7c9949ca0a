"""Janus (Debian's package) with its streaming plugin, which relays an RTSP camera as it is.

Debian 12's version makes all offers itself.
"""

import json
import pathlib
import secrets
import shutil
import subprocess
import sys
import urllib.request
from typing import Any

from bench_support import free_port, wait_for

LIBRARY = pathlib.Path("/usr/lib/x86_64-linux-gnu/janus")


class Janus:
    """Janus's HTTP API, with one mountpoint. A view's name consists of its session and its handle."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}/janus"

    def offer(self) -> tuple[str, str]:
        """Begins a view; returns its name and Janus's offer."""
        session = self._call("", janus="create")["data"]["id"]
        handle = self._call(f"/{session}", janus="attach", plugin="janus.plugin.streaming")["data"]["id"]
        self._call(f"/{session}/{handle}", janus="message", body={"request": "watch", "id": 1})
        event = self._event(session)
        if "jsep" not in event:
            raise ValueError(f"Janus offers nothing: {json.dumps(event)[:300]}")
        return f"{session}-{handle}", event["jsep"]["sdp"]

    def answer(self, name: str, answer: str) -> None:
        """Starts the view."""
        session, handle = map(int, name.split("-"))
        description = {"type": "answer", "sdp": answer, "trickle": False}
        self._call(f"/{session}/{handle}", janus="message", body={"request": "start"}, jsep=description)

    def end(self, name: str) -> None:
        """Ends a view."""
        session, _ = map(int, name.split("-"))
        self._call(f"/{session}", janus="destroy")

    def _call(self, path: str, **body: Any) -> Any:
        body["transaction"] = secrets.token_hex(8)
        request = urllib.request.Request(
            self.base + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def _event(self, session: int) -> Any:
        """Waits for the next event of the plugin."""
        for _ in range(20):
            with urllib.request.urlopen(f"{self.base}/{session}?maxev=1", timeout=40) as response:
                event = json.load(response)
            for entry in event if isinstance(event, list) else [event]:
                if entry.get("janus") == "event":
                    return entry
        raise ValueError("Janus does not answer")


def start_janus(
    folder: pathlib.Path, camera: str, owned: list[subprocess.Popen[Any]], sound: bool = False, event_loops: int = 0
) -> tuple[subprocess.Popen[Any], Janus]:
    """Starts Janus with one RTSP camera as its mountpoint. Without `event_loops` it has a thread for each viewer."""
    if shutil.which("janus") is None:
        sys.exit("janus is missing; tools/install-dependencies --tests installs it")
    port = free_port()
    configuration = folder / "janus"
    configuration.mkdir()
    plugins = [path.name for path in (LIBRARY / "plugins").glob("*.so") if "streaming" not in path.name]
    transports = [path.name for path in (LIBRARY / "transports").glob("*.so") if "http" not in path.name]
    handlers = [path.name for path in (LIBRARY / "events").glob("*.so")]
    (configuration / "janus.jcfg").write_text(
        f"""general: {{
    configs_folder = "{configuration}"
    plugins_folder = "{LIBRARY / "plugins"}"
    transports_folder = "{LIBRARY / "transports"}"
    events_folder = "{LIBRARY / "events"}"
    debug_level = 3
    session_timeout = 0
    {f"event_loops = {event_loops}" if event_loops else ""}
}}
media: {{ ipv6 = false }}
nat: {{
    ice_lite = true
    ice_tcp = false
    full_trickle = false
}}
plugins: {{ disable = "{",".join(plugins)}" }}
transports: {{ disable = "{",".join(transports)}" }}
events: {{ broadcast = false, disable = "{",".join(handlers)}" }}
"""
    )
    (configuration / "janus.transport.http.jcfg").write_text(
        f"""general: {{
    base_path = "/janus"
    http = true
    port = {port}
    ip = "127.0.0.1"
    https = false
}}
admin: {{ admin_http = false, admin_https = false }}
"""
    )
    (configuration / "janus.plugin.streaming.jcfg").write_text(
        f"""camera: {{
    type = "rtsp"
    id = 1
    audio = {"true" if sound else "false"}
    video = true
    url = "{camera}"
    rtspiface = "lo"
}}
"""
    )
    with open(folder / "janus.log", "w") as log:
        janus = subprocess.Popen(["janus", "-F", str(configuration)], stdout=log, stderr=log)
    owned.append(janus)
    wait_for(f"http://127.0.0.1:{port}/janus/info", janus, "janus")
    return janus, Janus(port)
