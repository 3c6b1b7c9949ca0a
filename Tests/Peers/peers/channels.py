"""Data channels of a browser's page, whatever the browser: `channel.js` driven from a test."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .viewer import Page

SCRIPT = (Path(__file__).parent / "channel.js").read_text()


class BrowserChannels:
    def __init__(self, page: Page, token: str) -> None:
        self._page = page
        page.evaluate(f"(() => {{ {SCRIPT}; window.held = new GatehouseChannels({json.dumps(token)}); return 0; }})()")

    def call(self, method: str, *arguments: Any) -> Any:
        # Firefox passes objects in a form of its own; texts are the same everywhere.
        text = ", ".join(json.dumps(argument) for argument in arguments)
        value = self._page.evaluate(f"(async () => JSON.stringify(await window.held.{method}({text}) ?? null))()")
        return json.loads(value)

    def open(self, **options: Any) -> Any:
        return self.call("open", options)

    def value(self, name: str) -> Any:
        return json.loads(self._page.evaluate(f"JSON.stringify(window.held.{name} ?? null)"))


@contextmanager
def holding(page: Page, token: str) -> Iterator[BrowserChannels]:
    """Data channels of a session that ends."""
    channels = BrowserChannels(page, token)
    try:
        yield channels
    finally:
        channels.call("stop")
