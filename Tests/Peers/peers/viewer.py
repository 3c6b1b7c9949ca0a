"""A viewer in a browser's page, whatever the browser: `player.js` driven from a test."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .polling import PATIENCE, eventually

PLAYER = (Path(__file__).parent / "player.js").read_text()
FIRST_PICTURE = PATIENCE - 30
"""Seconds that a page waits for its first picture. A test waits longer for the page, which says what is missing."""


class Page(Protocol):
    """A page in a browser with the gateway's own origin."""

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        ...


@dataclass(frozen=True)
class Reception:
    """What a browser says that it has received."""

    framesDecoded: int
    keyFramesDecoded: int
    packetsLost: int
    bytesReceived: int
    """Of picture and sound, without headers."""
    totalAudioEnergy: float
    totalSamplesReceived: int
    concealedSamples: int
    """Those that the browser had to make up."""
    codec: str
    width: int
    address: str
    """The browser's own end of the path, or a name under which it hides it."""
    port: int
    gatewayAddress: str
    """The gateway's end of the path."""
    protocol: str
    """udp or tcp."""
    freezeCount: int
    totalFreezesDuration: float
    """Seconds."""
    totalInterFrameDelay: float
    """Seconds from the first picture shown to the last one."""
    timestamp: float
    """When this was so, in milliseconds of the page's clock."""

    @property
    def has_sound(self) -> bool:
        return self.totalAudioEnergy > 0 and self.totalSamplesReceived > 0


class BrowserViewer:
    def __init__(self, page: Page, token: str) -> None:
        self._page = page
        made = f"new GatehouseViewer({json.dumps(token)}, {FIRST_PICTURE})"
        page.evaluate(f"(() => {{ {PLAYER}; window.viewer = {made}; return 0; }})()")

    def call(self, method: str, **options: Any) -> Any:
        argument = json.dumps(options) if options else ""
        return self._page.evaluate(f"window.viewer.{method}({argument})")

    def call_value(self, property: str) -> Any:
        """A property of the viewer inside the page."""
        return self._page.evaluate(f"window.viewer.{property}")

    def stats(self) -> Reception:
        return Reception(**self.call("stats"))

    def connection_state(self) -> str:
        return str(self.call_value("connectionState"))

    def expect_media(
        self, frames: int = 30, within: float = PATIENCE, sound: bool = True, picture: bool = True
    ) -> Reception:
        """Waits for so many more decoded frames and for sound that is not silence, or for one of the two."""
        begin = self.stats()

        def has_enough() -> Reception | None:
            now = self.stats()
            enough = not picture or now.framesDecoded >= begin.framesDecoded + frames
            heard = not sound or (now.has_sound and now.totalAudioEnergy > begin.totalAudioEnergy)
            return now if enough and heard else None

        try:
            return eventually(has_enough, f"{frames} more frames and sound", within) or begin
        except AssertionError as failure:
            raise AssertionError(f"{failure}; before {begin}, now {self.stats()}, {self.connection_state()}") from None

    def expect_no_loss(self) -> None:
        """Waits for 30 frames without a lost packet. The first packets may come before a browser has its keys, and a
        browser that gets no processor time loses what does not fit into its socket."""

        def loses_nothing() -> bool:
            before = self.stats().packetsLost
            return self.expect_media().packetsLost <= before

        eventually(loses_nothing, "30 frames without a loss")


@contextmanager
def viewing(page: Page, token: str) -> Iterator[BrowserViewer]:
    """A viewer that ends its session."""
    viewer = BrowserViewer(page, token)
    try:
        yield viewer
    finally:
        viewer.call("stop")
