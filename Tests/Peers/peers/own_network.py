"""A network for this process alone, so that tests that run side by side do not disturb each other.

Chromium ends what it is loading whenever an interface of its network appears or goes, also that of another worker's
test. No packet of a test leaves this network either, whatever addresses the machine has.
"""

import ctypes
import os

from .namespace import ADDRESSES_AT_ONCE, CLONE_NEWNET, NamespaceUnavailable, run_or_unavailable


def enter_own_network() -> None:
    """Moves the calling thread, and what it starts from now on, to a network with loopback and one more interface.

    The interface stands for the machine's own: browsers look for one with a default route. Its addresses are those that
    are set aside for documentation (RFC 5737, RFC 3849).
    """
    if os.geteuid() != 0:
        raise NamespaceUnavailable("only root can make a network namespace")
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(CLONE_NEWNET) != 0:
        raise NamespaceUnavailable(f"unshare: {os.strerror(ctypes.get_errno())}")
    run_or_unavailable(*ADDRESSES_AT_ONCE)
    for command in (
        "link set lo up",
        "link add eth0 type veth peer name far",
        "address add 192.0.2.2/24 dev eth0",
        "address add 2001:db8::2/64 dev eth0 nodad",
        "link set far up",
        "link set eth0 up",
        "route add default via 192.0.2.1 dev eth0",
    ):
        run_or_unavailable("ip", *command.split())
