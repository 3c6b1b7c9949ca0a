"""Avahi: the multicast DNS responder of most Linux machines."""

from collections.abc import Sequence
from pathlib import Path

from .processes import OwnedProcess


class Avahi:
    """Owns `NAME.local` on an interface until `stop`. `prefix` is a command that runs what follows it as the same
    process."""

    def __init__(self, name: str, interface: str, directory: Path, prefix: Sequence[str]) -> None:
        configuration = directory / "avahi-daemon.conf"
        configuration.write_text(
            f"[server]\nhost-name={name}\nuse-ipv6=no\nallow-interfaces={interface}\nenable-dbus=no\n"
            "[publish]\npublish-workstation=no\npublish-hinfo=no\n"
        )
        # Its pid file has a fixed place, where a service of the machine may have one too.
        command = (
            f"mount -t tmpfs none /run && exec avahi-daemon -f {configuration} --no-drop-root --no-chroot --no-rlimits"
        )
        self._process = OwnedProcess([*prefix, "unshare", "--mount", "sh", "-c", command], directory / "avahi.log")

    def wait_until_announced(self) -> None:
        """Waits until the name is its own."""
        self._process.line_starting("Server startup complete.")

    def stop(self) -> None:
        self._process.stop()
