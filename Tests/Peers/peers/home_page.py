"""The page of a home, opened in Chromium as on a phone."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize

from .chromium import patient
from .gateway import Gateway

PHONE = ViewportSize(width=390, height=844)
JSON = {"Content-Type": "application/json"}


def send(home: Gateway, method: str, path: str, **body: Any) -> dict[str, Any]:
    """A request that must succeed."""
    answer = home.client.request(method, path, json.dumps(body) if body else None, JSON)
    assert answer.status < 300, answer.text
    return dict(answer.json) if answer.text else {}


@contextmanager
def opened(browser: Browser, home: Gateway, token: str | None = None, **options: Any) -> Iterator[Page]:
    """The page, signed in by its address. Errors of its scripts fail the test. The options are Playwright's."""
    problems: list[str] = []
    page = patient(browser.new_page(viewport=PHONE, **options))
    page.on("pageerror", lambda error: problems.append(str(error)))
    try:
        page.goto(f"http://127.0.0.1:{home.port}/#token={token or home.token}")
        yield page
        assert not problems
    finally:
        page.close()
