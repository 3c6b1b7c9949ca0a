"""Coroutines in tests that are not coroutines themselves."""

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine on a thread of its own: Playwright keeps an event loop on the tests' thread."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(make())).result()  # noqa: TID251 - the thread has no other loop
