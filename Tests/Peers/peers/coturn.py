"""coturn: the STUN and TURN server that most services run."""

from collections.abc import Sequence
from pathlib import Path

from .processes import OwnedProcess

PORT = 3478
USER, PASSWORD = "gatehouse", "only-for-tests"


class Coturn:
    """Runs until `stop`, at one address; `prefix` is a command that runs what follows it as the same process."""

    def __init__(self, address: str, directory: Path, prefix: Sequence[str]) -> None:
        settings = [
            "-n", "--no-cli", "--no-tls", "--no-dtls", "--log-file=stdout", "--simple-log",
            f"--listening-ip={address}", f"--relay-ip={address}", f"--listening-port={PORT}",
            "--lt-cred-mech", "--realm=gatehouse.test", f"--user={USER}:{PASSWORD}",
            f"--pidfile={directory / 'coturn.pid'}", f"--userdb={directory / 'coturn.sqlite'}",
        ]  # fmt: skip
        self.process = OwnedProcess([*prefix, "turnserver", *settings], directory / "coturn.log")

    def stop(self) -> None:
        self.process.stop()
