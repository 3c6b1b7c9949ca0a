"""coturn: the STUN and TURN server that most services run."""

from collections.abc import Sequence
from pathlib import Path

from .pki import Authority
from .processes import OwnedProcess

PORT, TLS_PORT = 3478, 5349
USER, PASSWORD = "gatehouse", "only-for-tests"


class Coturn:
    """Runs until `stop`; `prefix` is a command that runs what follows it as the same process. It listens at `address`,
    and relays there or at another one."""

    def __init__(self, address: str, directory: Path, prefix: Sequence[str], relay: str | None = None) -> None:
        self.authority = Authority(directory, "authority")
        certificate, key = self.authority.issue("coturn", address=address)
        settings = [
            "-n", "--no-cli", "--no-dtls", "--log-file=stdout", "--simple-log", f"--listening-ip={address}",
            f"--listening-port={PORT}", f"--tls-listening-port={TLS_PORT}", f"--cert={certificate}", f"--pkey={key}",
            "--lt-cred-mech", "--realm=gatehouse.test", f"--user={USER}:{PASSWORD}",
            f"--pidfile={directory / 'coturn.pid'}", f"--userdb={directory / 'coturn.sqlite'}",
        ]  # fmt: skip
        self._command = [*prefix, "turnserver", *settings]
        self._log = directory / "coturn.log"
        self._relay = relay or address
        self.start()

    def start(self, relay: str | None = None) -> None:
        """Starts the process, or after `stop` another one, which may relay at another address than before."""
        self._relay = relay or self._relay
        self._process = OwnedProcess([*self._command, f"--relay-ip={self._relay}"], self._log)

    def stop(self) -> None:
        """Ends the process, and with it all allocations."""
        self._process.stop()
