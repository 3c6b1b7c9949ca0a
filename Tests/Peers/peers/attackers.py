"""Several hosts in one network namespace, which attack together."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .namespace import Namespace
from .polling import PATIENCE

PROGRAM = Path(__file__).parent / "attacks.py"


class Attackers:
    """Further addresses in a namespace: the gateway distinguishes hosts by their addresses."""

    def __init__(self, namespace: Namespace, count: int) -> None:
        self.namespace = namespace
        # The other half of 198.18.0.0/15, so that these are nobody else's.
        number = os.getpid() % 256
        self.sources = [f"198.19.{number}.{host}" for host in range(1, count + 1)]
        inside, outside = f"gh{os.getpid()}i", f"gh{os.getpid()}o"
        for source in self.sources:
            self._run(*namespace.command_prefix, "ip", "address", "replace", f"{source}/32", "dev", inside)
        self._run("ip", "route", "replace", f"198.19.{number}.0/24", "dev", outside)

    @staticmethod
    def _run(*command: str) -> None:
        subprocess.run(command, check=True, capture_output=True)

    @contextlib.contextmanager
    def attack(self, kind: str, port: int, connections: int, listener: str = "http") -> Iterator[dict[str, int]]:
        """Runs an attack while the block does. What is given is filled with what the attack did when it is over."""
        process = subprocess.Popen(
            [*self.namespace.command_prefix, sys.executable, str(PROGRAM), kind, self.namespace.host_address, str(port),
             "--listener", listener, "--connections", str(connections), "--sources", ",".join(self.sources)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        done: dict[str, int] = {}
        try:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            yield done
            output, _ = process.communicate(timeout=PATIENCE)
            done.update(json.loads(output))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
