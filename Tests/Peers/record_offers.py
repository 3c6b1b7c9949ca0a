"""Records offers of Chromium, Firefox and aiortc. Run by tools/record-offers."""

import functools
import http.server
import ipaddress
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from peers import chromium, firefox
from peers.coroutines import run
from playwright.sync_api import sync_playwright

# Each script makes a peer connection and leaves it in `pc`; the offer is recorded when gathering is done.
KINDS: dict[str, str] = {
    "recvonly-av": "pc.addTransceiver('audio', {direction: 'recvonly'});"
    "pc.addTransceiver('video', {direction: 'recvonly'});",
    "recvonly-video": "pc.addTransceiver('video', {direction: 'recvonly'});",
    "talkback-sendrecv-audio": "const media = await navigator.mediaDevices.getUserMedia({audio: true});"
    "pc.addTrack(media.getAudioTracks()[0], media); pc.addTransceiver('video', {direction: 'recvonly'});",
    "recvonly-av-datachannel": "pc.addTransceiver('audio', {direction: 'recvonly'});"
    "pc.addTransceiver('video', {direction: 'recvonly'}); pc.createDataChannel('x');",
    "two-videos-recvonly": "for (const _ of [1, 2]) pc.addTransceiver('video', {direction: 'recvonly'});",
    "datachannel-only": "pc.createDataChannel('x');",
}
GATHER = """(async () => {{
  const pc = new RTCPeerConnection(); {setup}
  await pc.setLocalDescription();
  await new Promise((resolve) => {{
    const done = () => pc.iceGatheringState === "complete" && resolve();
    pc.addEventListener("icegatheringstatechange", done); done();
    setTimeout(resolve, 10000);
  }});
  const sdp = pc.localDescription.sdp; pc.close(); return sdp;
}})()"""


@dataclass(frozen=True)
class Recording:
    name: str
    sdp: str
    program: str
    how: str


def anonymous(sdp: str) -> str:
    """The same offer with this host's addresses replaced: 192.0.2.0/24 and 2001:db8::/32 are for documentation."""
    known: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        try:
            address = ipaddress.ip_address(match[0])
        except ValueError:
            return match[0]
        if address.is_loopback or address.is_unspecified:
            return match[0]
        documentation = "192.0.2." if address.version == 4 else "2001:db8::"
        return known.setdefault(match[0], documentation + str(len(known) + 2))

    lines = sdp.splitlines(keepends=True)
    holding = re.compile(r"^(a=candidate:|a=rtcp:|c=|o=)")
    address = re.compile(r"(?<=\s)(?:\d+(?:\.\d+){3}|[0-9a-fA-F:]*:[0-9a-fA-F:]+)(?=\s)")
    return "".join(address.sub(replace, line) if holding.match(line) else line for line in lines)


@contextmanager
def empty_page() -> Iterator[str]:
    """The address of an empty page on localhost, where browsers give a microphone."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "index.html").write_text("<!doctype html><title>Offers</title>")

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, format: str, *arguments: object) -> None:
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_address[1]}/"
            finally:
                server.shutdown()
                thread.join()


def program_version(executable: str) -> str:
    return subprocess.run([executable, "--version"], capture_output=True, text=True).stdout.strip()


def of_browser(name: str, program: str, how: str, evaluate: Callable[[str], str]) -> Iterator[Recording]:
    for kind, setup in KINDS.items():
        yield Recording(f"{name}-{kind}", evaluate(GATHER.format(setup=setup)), program, how)


def of_chromium(page_address: str) -> Iterator[Recording]:
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        page = browser.new_page()
        page.goto(page_address)
        yield from of_browser(
            "chromium", program_version(chromium.EXECUTABLE),
            f"Playwright {version('playwright')}, headless, local description after gathering", page.evaluate,
        )  # fmt: skip
        browser.close()


def of_firefox(page_address: str) -> Iterator[Recording]:
    with tempfile.TemporaryDirectory() as folder:
        browser = firefox.Firefox(Path(folder), None)
        try:
            browser.open(page_address)
            yield from of_browser(
                "firefox", program_version(firefox.EXECUTABLE),
                "WebDriver BiDi, headless, local description after gathering", browser.evaluate,
            )  # fmt: skip
        finally:
            browser.stop()


def of_aiortc() -> Iterator[Recording]:
    from aiortc import RTCPeerConnection
    from aiortc.mediastreams import AudioStreamTrack

    async def record(kind: str) -> str:
        connection = RTCPeerConnection()
        if kind == "talkback-sendrecv-audio":
            connection.addTrack(AudioStreamTrack())
        else:
            connection.addTransceiver("audio", direction="recvonly")
        connection.addTransceiver("video", direction="recvonly")
        await connection.setLocalDescription(await connection.createOffer())
        sdp = connection.localDescription.sdp
        await connection.close()
        return str(sdp)

    for kind in ("recvonly-av", "talkback-sendrecv-audio"):
        yield Recording(
            f"aiortc-{kind}", run(functools.partial(record, kind)), f"aiortc {version('aiortc')}",
            "local description after gathering",
        )  # fmt: skip


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["| file | program | how |", "|---|---|---|"]
    with empty_page() as address:
        for recordings in (of_chromium(address), of_firefox(address), of_aiortc()):
            for one in recordings:
                file = folder / f"{one.name}.offer.sdp"
                # As bytes: the line ends are part of the recording.
                file.write_bytes(anonymous(one.sdp).encode())
                rows.append(f"| `{file.name}` | {one.program} | {one.how} |")
                print(f"{file}: {json.dumps(one.sdp.count('m='))} media", flush=True)
    (folder / "README.md").write_text("\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
