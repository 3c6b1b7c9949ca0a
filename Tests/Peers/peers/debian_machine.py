"""A Debian with its own processes, network and files, in which real dpkg installs packages and real systemd runs them.

It is an overlay of this machine's files, kept in memory (debian-machine.sh), so it needs no download, and nothing that
happens there reaches this machine.
"""

import os
import subprocess
from pathlib import Path
from typing import Literal

from .polling import PATIENCE, eventually

SCRIPT = Path(__file__).parent / "debian-machine.sh"


class MachineUnavailable(Exception):
    """This host does not permit such a machine; the message says why."""


class DebianMachine:
    """Made at once, removed by `close` with everything in it."""

    def __init__(self, folder: Path, kind: Literal["systemd", "container"]) -> None:
        """`folder` is empty. A `container` has no systemd."""
        if os.geteuid() != 0:
            raise MachineUnavailable("only root can mount an overlay of this machine's files")
        self._log = folder.parent / f"{folder.name}.log"
        with self._log.open("wb") as output:
            # It ends when this process does, however that ends: its standard input is a pipe from here.
            self._script = subprocess.Popen(
                ["unshare", "--mount", "--propagation", "private", str(SCRIPT), str(folder), kind],
                stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            self._process = eventually(self._first_process, "the machine begins", every=0.02)
            eventually(self._has_files, "the machine has its files", every=0.02)
            if kind == "systemd":
                self._boot()
        except BaseException:
            self.close()
            raise

    def _first_process(self) -> str | None:
        printed = self._log.read_text(errors="replace")
        first = next((line.split()[-1] for line in printed.splitlines() if line.startswith("first process:")), None)
        if first == "none" or self._script.poll() is not None:
            raise MachineUnavailable(printed.strip())
        return first

    def _has_files(self) -> bool:
        if not Path(f"/proc/{self._process}").exists():
            raise MachineUnavailable(self._log.read_text(errors="replace").strip())
        return self.path("run/machine-has-its-files").exists()

    def _boot(self) -> None:
        # Nothing of the package is there yet, so a first process that ends is the host's failure.
        try:
            eventually(self._is_booted, "systemd has booted the machine", every=0.05)
        except AssertionError as error:
            if Path(f"/proc/{self._process}").exists():
                raise
            raise MachineUnavailable(f"{error}\n{self._log.read_text(errors='replace').strip()}") from error

    def _is_booted(self) -> bool:
        return self.run("systemctl", "is-active", "machine.target").returncode == 0

    def path(self, path: str) -> Path:
        """A file of the machine, as this process sees it. It follows no absolute symbolic link there."""
        return Path(f"/proc/{self._process}/root") / path.lstrip("/")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs a command there, as root."""
        return subprocess.run(
            ["nsenter", "--target", self._process, "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup",
             "--root", "--wd", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive",
             "LC_ALL=C", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE * 2,
        )  # fmt: skip

    def output(self, *command: str) -> str:
        """What a command that succeeds there prints."""
        done = self.run(*command)
        assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}"
        return done.stdout.strip()

    def close(self) -> None:
        assert self._script.stdin
        self._script.stdin.close()
        self._script.wait(PATIENCE)
