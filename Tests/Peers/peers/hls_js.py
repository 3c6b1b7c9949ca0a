"""hls.js, the player that most web pages use for HTTP Live Streaming, in a page of Chromium."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page

from .chromium import patient
from .downloads import fetched
from .polling import eventually

#: The module of hls.js in the package that brings it, and the name under which it exports the player.
MODULE, EXPORT = "gradio/templates/frontend/assets/hls-CnVhpNcu.js", "H"

START = """async ([module, name, address, lowLatencyMode]) => {
    const {[name]: Hls} = await import(URL.createObjectURL(new Blob([module], {type: 'text/javascript'})));
    const video = document.createElement('video');
    video.muted = true;
    document.body.append(video);
    const hls = new Hls({lowLatencyMode});
    const playing = {hls, video, version: Hls.version, parts: 0, segments: 0, stalls: 0, errors: []};
    hls.on(Hls.Events.FRAG_BUFFERED, (_, {part}) => { part ? playing.parts++ : playing.segments++; });
    hls.on(Hls.Events.ERROR, (_, {details, fatal, error}) => {
        if (!fatal && ['bufferStalledError', 'bufferNudgeOnStall'].includes(details)) playing.stalls++;
        else playing.errors.push(`${fatal ? 'fatal ' : ''}${details}: ${error?.message}`);
    });
    hls.on(Hls.Events.MANIFEST_PARSED, () => video.play());
    hls.loadSource(address);
    hls.attachMedia(video);
    window.playing = playing;
}"""


def _module() -> str:
    wheel = next(iter(fetched("hls.js").glob("*.whl")))
    with zipfile.ZipFile(wheel) as package:
        return package.read(MODULE).decode()


@dataclass
class Player:
    """One video element that hls.js feeds."""

    page: Page

    @property
    def state(self) -> dict[str, Any]:
        """What it has buffered and shown: version, parts, segments, stalls, errors, latency, time, width, paused."""
        state: dict[str, Any] = self.page.evaluate(
            """(({hls, video, ...rest}) => ({...rest, latency: hls.latency, time: video.currentTime,
                width: video.videoWidth, paused: video.paused}))(window.playing)"""
        )
        return state

    def play(self, seconds: float) -> dict[str, Any]:
        """Waits until so much has been shown, and returns the state then."""
        begun = eventually(lambda: self.state["time"], "hls.js plays")
        eventually(lambda: self.state["time"] > begun + seconds, f"hls.js has played {seconds:g} s")
        return self.state


@contextmanager
def playing(browser: Browser, origin: str, address: str, low_latency: bool = True) -> Iterator[Player]:
    """Plays a playlist in a page of the gateway's origin. The policy of the page would not allow another player."""
    context = patient(browser.new_context(bypass_csp=True))
    try:
        page = context.new_page()
        page.goto(f"{origin}/")
        page.evaluate(START, [_module(), EXPORT, address, low_latency])
        yield Player(page)
    finally:
        context.close()
