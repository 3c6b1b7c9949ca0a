"""Debian's Chromium, driven by Playwright."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from playwright.sync_api import Browser, BrowserContext, Page, Playwright

from .polling import PATIENCE

EXECUTABLE = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    # A microphone that beeps, and no question whether it may be used.
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _arguments(microphone: Path | None) -> list[str]:
    """`microphone` is a WAV file that is heard instead of the beeps, again and again."""
    return ARGUMENTS + ([f"--use-file-for-fake-audio-capture={microphone}"] if microphone else [])


def launch_inside(
    playwright: Playwright,
    prefix: list[str],
    directory: Path,
    microphone: Path | None = None,
    trusts_everybody: bool = False,
) -> Browser:
    """Starts Chromium by way of a command, as for a network namespace. Playwright talks to it through pipes. With
    `trusts_everybody` it accepts every certificate, also that of a TURN server, which no page can permit."""
    starter = directory / "chromium-inside"
    starter.write_text(f'#!/bin/sh\nexec {shlex.join([*prefix, EXECUTABLE])} "$@"\n')
    starter.chmod(0o755)
    return playwright.chromium.launch(
        executable_path=starter,
        headless=True,
        args=_arguments(microphone) + (["--ignore-certificate-errors"] if trusts_everybody else []),
        timeout=PATIENCE * 1000,
    )


def launch(playwright: Playwright, microphone: Path | None = None) -> Browser:
    """Starts Chromium."""
    return playwright.chromium.launch(
        executable_path=EXECUTABLE, headless=True, args=_arguments(microphone), timeout=PATIENCE * 1000
    )


LONG_START = """
(() => {
  // The page takes WebRTC for blocked, and comes back to it only after minutes, if no picture has come in eight seconds
  // (`patience` in live-silence.js). A machine without processor time needs longer. Other timers of eight seconds last
  // longer, too.
  const set = globalThis.setTimeout;
  globalThis.setTimeout = (run, pause, ...rest) => set(run, pause === 8000 ? 9 * pause : pause, ...rest);
})();
"""
"""A script for pages whose views have to come by WebRTC, however long the first picture takes."""


Patient = TypeVar("Patient", Page, BrowserContext)


def patient(one: Patient) -> Patient:
    """Gives a page, or all pages of a context, the patience of the tests: Playwright's own is 30 seconds for what is
    opened, pressed or awaited."""
    one.set_default_timeout(PATIENCE * 1000)
    return one


class ChromiumPage:
    """A page on the gateway's origin."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def evaluate(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def collect_garbage(self) -> None:
        """Frees what the page no longer uses. Chromium allows 500 connections, and counts those not yet collected."""
        session = self.page.context.new_cdp_session(self.page)
        session.send("HeapProfiler.collectGarbage")
        session.detach()


@contextmanager
def open_page(browser: Browser, origin: str) -> Iterator[ChromiumPage]:
    """Opens the gateway's page without signing in, so that it plays nothing by itself."""
    page = patient(browser.new_page())
    try:
        page.goto(origin + "/")
        yield ChromiumPage(page)
    finally:
        page.close()


@contextmanager
def careful_page(browser: Browser, width: int = 1280, height: int = 800) -> Iterator[Page]:
    """An empty page. Errors of its scripts fail the test."""
    problems: list[str] = []
    page = patient(browser.new_page(viewport={"width": width, "height": height}))
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    page.close()
    assert not problems
