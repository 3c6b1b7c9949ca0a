"""The commands of the gateway's program, as a person types them."""

import json
import subprocess
from pathlib import Path

from peers.polling import PATIENCE


class Shell:
    """Runs commands with a gateway's config. `group` is the word that all of them begin with, if any."""

    def __init__(self, binary: Path, config: Path, group: str | None = None) -> None:
        self._command = [str(binary), *([group] if group else [])]
        self.config = str(config)

    def run(self, *arguments: str, answer: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._command, *arguments, "--config", self.config],
            capture_output=True, text=True, timeout=PATIENCE, input=answer,
        )  # fmt: skip

    def words(self, *arguments: str, answer: str | None = None) -> str:
        """What a command that succeeds writes."""
        result = self.run(*arguments, answer=answer)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def json(self, *arguments: str, answer: str | None = None) -> dict:
        """The object that a command writes with `--json`."""
        return dict(json.loads(self.words(*arguments, "--json", answer=answer)))

    def error(self, *arguments: str, answer: str | None = None) -> str:
        """The message of a command that fails."""
        result = self.run(*arguments, answer=answer)
        assert result.returncode == 1, result.stdout + result.stderr
        assert result.stderr.startswith("gatehouse: "), result.stderr
        return result.stderr
