"""A process that is ended by its own identifier, with what it printed kept in a file."""

import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from .polling import PATIENCE, eventually


def program_of(command: Sequence[str]) -> str:
    """The name of the program that a command runs, by itself or inside a network namespace."""
    return Path(command[4] if list(command[:3]) == ["ip", "netns", "exec"] else command[0]).name


class OwnedProcess:
    """Runs a command until `stop`. Its output goes to `log`."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None, name: str = ""
    ) -> None:
        """`name` is what messages call it; that of the program unless given."""
        self.name = name or program_of(command)
        self.log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if environment is None else dict(environment),
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def line_starting(self, prefix: str, within: float = PATIENCE) -> str:
        """Waits for a line of output that starts with `prefix`, and returns it."""

        def find() -> str | None:
            if not self.is_running:
                raise AssertionError(f"{self.name} ended with {self.exit_code}:\n{self.output()[-4000:]}")
            return next((line for line in self.output().splitlines() if line.startswith(prefix)), None)

        try:
            return eventually(find, f"{self.name} prints {prefix!r}", within) or ""
        except AssertionError as failure:
            if not self.is_running:
                raise
            raise AssertionError(f"{failure}; it has printed:\n{self.output()[-4000:]}") from None

    def send(self, number: signal.Signals) -> None:
        """Sends the process a signal, such as SIGSTOP and SIGCONT."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """Ends the process without a chance to say goodbye."""
        self._process.kill()
        self._process.wait(PATIENCE)

    def stop(self, patience: float = PATIENCE) -> int:
        """Asks the process to end, and kills it when it does not. Returns its exit code."""
        if self.is_running:
            self._process.terminate()
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                self._process.kill()
        return self._process.wait(patience)
