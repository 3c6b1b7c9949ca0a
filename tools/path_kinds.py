"""The paths that media takes from the gateway to a viewer, and how a view shows that it takes one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from peers.coturn import PORT, TLS_PORT
from peers.networks import INTERNET, NAT

STUN = f"stun:{INTERNET}:{PORT}"
HOSTS = frozenset({"host", "prflx"})
"""A browser hides its host behind a name, so the other end learns the address from a check (peer-reflexive)."""
OUTSIDE = frozenset({"srflx", "prflx"})


@dataclass(frozen=True)
class Kind:
    """One path, what makes it the only one, and what both ends say of a view that takes it."""

    name: str
    words: str
    path: str
    """What the gateway calls it (`path` of a session)."""
    pair: Mapping[str, frozenset[Any]]
    """What the browser may say of the candidates in use: the types of its own and of the gateway's (`local`, `remote`),
    the protocol to its TURN server (`relay`), and the protocol and the port of the gateway's candidate."""
    is_direct: bool = False
    """Whether both ends are in one home. Otherwise each is behind a router."""
    nat: NAT = NAT.RESTRICTED
    """How both routers translate."""
    blocks_udp: bool = False
    """Whether the viewer's router blocks UDP."""
    viewers_server: str = STUN
    """The STUN or TURN server that viewers have."""
    is_relayed_for_gateway: bool = False
    """Whether the gateway has a TURN server."""
    tcp_port: int | None = None
    """The TCP port of media, forwarded by the gateway's router. 0 stands for that of `media.port`."""
    transport: str | None = None
    """The only transport of the gateway's candidates that the viewer gets."""

    def problem(self, path: str | None, pair: Mapping[str, Any] | None) -> str | None:
        """Why a view does not take this path; None if it does. `path` is what the gateway calls the view's path, and
        `pair` what the browser says of its candidates."""
        if path != self.path:
            return f"the gateway's session has the path {path}, not {self.path}"
        if pair is None:
            return "the browser names no candidate pair"
        wrong = [name for name, allowed in self.pair.items() if pair.get(name) not in allowed]
        if wrong:
            return f"the browser's candidate pair has another {' and '.join(wrong)}: {dict(pair)}"
        return None


def relayed_for_viewer(protocol: str, url: str, words: str, **more: Any) -> Kind:
    pair = {"local": frozenset({"relay"}), "relay": frozenset({protocol}), "protocol": frozenset({"udp"})}
    return Kind(f"relayed-{protocol}", words, "relayed", pair, viewers_server=url, **more)


KINDS = (
    Kind(
        "host", "in one network", "direct", is_direct=True,
        pair={"local": HOSTS, "remote": HOSTS, "protocol": frozenset({"udp"})},
    ),
    Kind(
        "reflexive", "both ends behind routers that forward nothing", "reflexive",
        pair={"local": OUTSIDE, "remote": OUTSIDE, "protocol": frozenset({"udp"})},
    ),
    relayed_for_viewer(
        "udp", f"turn:{INTERNET}:{PORT}", "through the viewer's TURN server over UDP, symmetric NAT", nat=NAT.SYMMETRIC,
    ),
    relayed_for_viewer(
        "tcp", f"turn:{INTERNET}:{PORT}?transport=tcp", "through the viewer's TURN server over TCP, UDP blocked",
        blocks_udp=True,
    ),
    relayed_for_viewer(
        "tls", f"turns:{INTERNET}:{TLS_PORT}", "through the viewer's TURN server over TLS, UDP blocked",
        blocks_udp=True,
    ),
    Kind(
        "relayed-gateway", "through the gateway's TURN server over UDP, symmetric NAT", "relayed", nat=NAT.SYMMETRIC,
        is_relayed_for_gateway=True,
        pair={"local": OUTSIDE | HOSTS, "remote": frozenset({"relay", "prflx"}), "protocol": frozenset({"udp"})},
    ),
    Kind(
        "tcp", "over TCP to the gateway, UDP blocked", "tcp", blocks_udp=True, tcp_port=0,
        pair={"protocol": frozenset({"tcp"})},
    ),
    Kind(
        "tls", "over TCP to port 443 of the gateway, with the hello of TLS, UDP blocked", "tcp", blocks_udp=True,
        tcp_port=443, transport="ssltcp",
        pair={"protocol": frozenset({"ssltcp"}), "port": frozenset({443})},
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A path, and the percentage of the datagrams that are lost on it in each direction."""

    kind: Kind
    loss: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind.name}, {self.loss} % loss" if self.loss else self.kind.name
