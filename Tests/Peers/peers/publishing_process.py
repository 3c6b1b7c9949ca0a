"""A program that publishes a camera to the gateway."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .gateway import Gateway
from .polling import eventually
from .processes import OwnedProcess

NUMBERS = itertools.count(1)


@contextmanager
def published(gateway: Gateway, device: str, command: list[str], folder: Path) -> Iterator[OwnedProcess]:
    """Runs the program, whose media flow; it has to run until the end. Waits then until the camera has no publisher."""
    process = OwnedProcess(command, folder / f"publisher-{next(NUMBERS)}.log")
    try:
        try:
            gateway.wait_until_flowing(device)
        except AssertionError as failure:
            raise AssertionError(f"{failure}\n{process.output()[-4000:]}") from None
        yield process
        assert process.is_running, process.output()[-4000:]
    finally:
        process.stop()
    eventually(
        lambda: gateway.client.get(f"/v1/devices/{device}")["source"]["state"] == "backingOff",
        "the camera waits for a publisher again",
    )
