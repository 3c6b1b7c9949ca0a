"""The browsers that open the gateway's page in a benchmark, behind one interface."""

import json
import os
import pathlib
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from bench_support import ROOT
from peers.chromium import patient
from peers.firefox import Firefox
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, ViewportSize

PROBE = (ROOT / "Tests/Peers/peers/page-probe.js").read_text()
SCREEN = ViewportSize(width=1920, height=1080)
MEBIBYTE = 1024 * 1024


class Tab(Protocol):
    """A page in a browser, with `pageProbe` inside."""

    def open(self, address: str) -> None:
        """Navigates, and waits until the document and its files are loaded."""

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""

    def click(self, selector: str, index: int) -> None:
        """Clicks on one of the elements."""

    def press(self, key: str) -> None:
        """Presses a key and lets it go: a letter, or one of those in `peers.firefox.KEYS`."""

    def held(self) -> dict[tuple[str, str], float]:
        """What the page holds after a garbage collection, by name and unit; nothing if the browser does not count."""


class Visitor(Protocol):
    """Somebody who has not been here before: no cache, and no storage."""

    def tab(self) -> AbstractContextManager[Tab]:
        """A page, which is left and closed at the end."""


class PageBrowser(Protocol):
    """A browser that is running."""

    name: str
    host: str
    """By which it reaches this machine."""

    def visitor(self, *scripts: str) -> AbstractContextManager[Visitor]:
        """A new visitor; the scripts run after the probe and before the page's own."""

    def processes(self) -> dict[str, set[int]]:
        """The identifiers of its processes: all of them ("browser"), and those of pages ("page") if it names them."""


# --- Chromium ---------------------------------------------------------------------------------------------------------


class ChromiumTab:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.inspector: CDPSession = page.context.new_cdp_session(page)
        self.inspector.send("Performance.enable")

    def open(self, address: str) -> None:
        self.page.goto(address)

    def evaluate(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def click(self, selector: str, index: int) -> None:
        self.page.locator(selector).nth(index).click()

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def held(self) -> dict[tuple[str, str], float]:
        self.inspector.send("HeapProfiler.collectGarbage")
        counts = {one["name"]: float(one["value"]) for one in self.inspector.send("Performance.getMetrics")["metrics"]}
        return {
            ("JavaScript heap", "MiB"): counts["JSHeapUsedSize"] / MEBIBYTE,
            ("DOM nodes", ""): counts["Nodes"],
            ("event listeners", ""): counts["JSEventListeners"],
        }


class ChromiumVisitor:
    def __init__(self, context: BrowserContext) -> None:
        self._context = context

    @contextmanager
    def tab(self) -> Iterator[ChromiumTab]:
        page = self._context.new_page()
        tab = ChromiumTab(page)
        try:
            yield tab
            # A page that goes away gives its views back; one that is closed does not get to it.
            page.goto("about:blank")
        finally:
            page.close()
        if tab.problems:
            raise AssertionError(f"the page reported errors: {tab.problems[:5]}")


class ChromiumBrowser:
    name = "chromium"
    host = "127.0.0.1"

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._inspector = browser.new_browser_cdp_session()

    @contextmanager
    def visitor(self, *scripts: str) -> Iterator[ChromiumVisitor]:
        with self._browser.new_context(viewport=SCREEN) as context:
            # One script, because several have no order.
            context.add_init_script("\n".join([PROBE, *scripts]))
            yield ChromiumVisitor(patient(context))

    def processes(self) -> dict[str, set[int]]:
        listed = self._inspector.send("SystemInfo.getProcessInfo")["processInfo"]
        found = [(one["type"], int(one["id"])) for one in listed]
        roots = {number for kind, number in found if kind == "browser"}
        return {
            "browser": descendants(roots) | {number for _, number in found},
            "page": {number for kind, number in found if kind == "renderer"},
        }


# --- Firefox ----------------------------------------------------------------------------------------------------------


class FirefoxTab:
    def __init__(self, firefox: Firefox) -> None:
        self._firefox = firefox

    def open(self, address: str) -> None:
        self._firefox.open(address)

    def evaluate(self, expression: str) -> Any:
        return self._firefox.evaluate(expression)

    def click(self, selector: str, index: int) -> None:
        self._firefox.evaluate(f"document.querySelectorAll({json.dumps(selector)})[{index}].click()")

    def press(self, key: str) -> None:
        self._firefox.press(key)

    def held(self) -> dict[tuple[str, str], float]:
        return {}


class FirefoxVisitor:
    def __init__(self, firefox: Firefox) -> None:
        self._firefox = firefox

    @contextmanager
    def tab(self) -> Iterator[FirefoxTab]:
        self._firefox.resize(SCREEN["width"], SCREEN["height"])
        tab = FirefoxTab(self._firefox)
        yield tab
        tab.open("about:blank")


class FirefoxBrowser:
    name = "firefox"

    def __init__(self, firefox: Firefox) -> None:
        self._firefox = firefox
        self.host = firefox.host

    @contextmanager
    def visitor(self, *scripts: str) -> Iterator[FirefoxVisitor]:
        with self._firefox.preloaded("\n".join([PROBE, *scripts])), self._firefox.apart():
            yield FirefoxVisitor(self._firefox)

    def processes(self) -> dict[str, set[int]]:
        return {"browser": descendants({self._firefox.process.pid})}


# --- processes --------------------------------------------------------------------------------------------------------


def descendants(roots: set[int]) -> set[int]:
    """These processes with their children, the children of those, and so on."""
    children: dict[int, list[int]] = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := stat_of(int(folder.name))):
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += children.get(number, [])
    return found


def stat_of(process: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; none if the process has ended."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []


def processor_seconds(process: int) -> float:
    """User and system time so far; 0 if the process has ended."""
    fields = stat_of(process)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0


def proportional_mebibytes(process: int) -> float:
    """The proportional share of memory (PSS), so that pages which processes share count once."""
    try:
        text = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)
    return int(found.group(1)) / 1024 if found else 0
