"""What a page loads, as Chromium's network layer counts it."""

import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import CDPSession


@dataclass
class Exchange:
    """A request and what came for it."""

    path: str
    began: float
    is_cached: bool = False
    is_over: bool = False
    wire: int = 0
    """Bytes with headers, compressed as they came."""
    plain: int = 0
    """Bytes of the body as the page gets them."""

    @property
    def is_file(self) -> bool:
        return not self.path.startswith("/v1/")


class Traffic:
    """What a tab of Chromium loads."""

    def __init__(self, inspector: CDPSession) -> None:
        self._exchanges: dict[str, Exchange] = {}
        handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "requestWillBeSent": self._sent, "requestServedFromCache": self._cached, "responseReceived": self._answered,
            "dataReceived": self._came, "loadingFinished": self._finished, "loadingFailed": self._failed,
        }  # fmt: skip
        for name, handler in handlers.items():
            inspector.on(f"Network.{name}", handler)
        inspector.send("Network.enable")

    def _sent(self, event: dict[str, Any]) -> None:
        address = urllib.parse.urlsplit(event["request"]["url"])
        if address.scheme in ("http", "https"):
            self._exchanges[event["requestId"]] = Exchange(address.path, time.monotonic())

    def _of(self, event: dict[str, Any]) -> Exchange:
        # Pictures that the page makes itself (blob:) and the like are not looked at any more.
        return self._exchanges.get(event["requestId"]) or Exchange("", 0)

    def _cached(self, event: dict[str, Any]) -> None:
        self._of(event).is_cached = True

    def _answered(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache") or event["response"].get("fromPrefetchCache"):
            self._of(event).is_cached = True

    def _came(self, event: dict[str, Any]) -> None:
        self._of(event).plain += int(event["dataLength"])

    def _finished(self, event: dict[str, Any]) -> None:
        exchange = self._of(event)
        exchange.wire, exchange.is_over = int(event["encodedDataLength"]), True

    def _failed(self, event: dict[str, Any]) -> None:
        self._of(event).is_over = True

    @property
    def is_quiet(self) -> bool:
        """Whether all files have come, and the last one was asked for a while ago."""
        files = [one for one in self._exchanges.values() if one.is_file]
        return bool(files) and all(one.is_over and time.monotonic() - one.began > 1 for one in files)

    def weight(self) -> dict[tuple[str, str], float]:
        """By name and unit. A request that the cache answers counts only as such."""
        every = list(self._exchanges.values())
        files = [one for one in every if one.is_file and not one.is_cached]
        others = [one for one in every if not one.is_file]
        return {
            ("files from the gateway", ""): len(files),
            ("files over the wire", "kB"): sum(one.wire for one in files) / 1000,
            ("files uncompressed", "kB"): sum(one.plain for one in files) / 1000,
            ("files from the cache", ""): sum(one.is_file and one.is_cached for one in every),
            ("requests to the API", ""): len(others),
            ("API over the wire", "kB"): sum(one.wire for one in others) / 1000,
        }
