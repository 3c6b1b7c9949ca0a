"""miniupnpd: the port mapping server of most home routers. It speaks PCP, NAT-PMP and UPnP."""

import subprocess
from collections.abc import Sequence
from ipaddress import IPv6Address
from pathlib import Path

from .polling import eventually
from .processes import OwnedProcess


class MiniUPnPd:
    """Runs until `stop`; `prefix` is a command that runs what follows it inside the router. It forwards from the
    interface `wan`. To hosts it names the outside address `outside`, because it serves no router without a public
    address."""

    _CHAINS = """
        table inet filter {
            chain miniupnpd { }
        }
        table inet nat {
            chain prerouting {
                type nat hook prerouting priority dstnat
                jump prerouting_miniupnpd
            }
            chain postrouting {
                type nat hook postrouting priority srcnat
                jump postrouting_miniupnpd
            }
            chain prerouting_miniupnpd { }
            chain postrouting_miniupnpd { }
        }
    """

    def __init__(
        self, directory: Path, prefix: Sequence[str], outside: str, *, upnp: bool = False, ipv6: bool = False
    ) -> None:
        """With `upnp` it speaks nothing else. With `ipv6` it also opens the IPv6 firewall."""
        self._prefix = list(prefix)
        subprocess.run([*prefix, "nft", "-f", "-"], input=self._CHAINS, text=True, check=True)
        configuration = directory / "miniupnpd.conf"
        configuration.write_text(
            "\n".join(
                (
                    "ext_ifname=wan",
                    "ext_ifname6=wan",
                    f"ext_ip={outside}",
                    "listening_ip=lan",
                    f"ipv6_disable={'no' if ipv6 else 'yes'}",
                    f"enable_natpmp={'no' if upnp else 'yes'}",
                    f"enable_upnp={'yes' if upnp else 'no'}",
                    "uuid=3c5a6b1e-6f6e-4a59-8d0c-5d7c6d0d2b11",
                    "secure_mode=yes",
                    "upnp_table_name=filter",
                    "upnp_nat_table_name=nat",
                    "allow 1024-65535 0.0.0.0/0 1024-65535",
                    "",
                )
            )
        )
        self._process = OwnedProcess(
            [*prefix, "miniupnpd", "-d", "-f", str(configuration), "-P", str(directory / "miniupnpd.pid")],
            directory / "miniupnpd.log",
        )
        listening = "HTTP listening on port" if upnp else "Listening for NAT-PMP/PCP traffic"
        eventually(lambda: listening in self.output(), "miniupnpd listens")

    def output(self) -> str:
        return self._process.output()

    def forwards(self, port: int) -> bool:
        """Whether the router forwards a UDP port."""
        return any(self._is_about(port, rule) for rule in self._rules("nat", "prerouting_miniupnpd"))

    def lets_in(self, port: int, address: str) -> bool:
        """Whether the router's IPv6 firewall lets a UDP port of a host through."""
        host = f"0x{IPv6Address(address).packed.hex()}"
        return any(
            self._is_about(port, rule) and (host in rule or f"daddr {address}" in rule)
            for rule in self._rules("filter", "miniupnpd")
        )

    @staticmethod
    def _is_about(port: int, rule: str) -> bool:
        return f"@th,16,16 0x{port:x}" in rule or f"dport {port} " in rule

    def _rules(self, table: str, chain: str) -> list[str]:
        listed = subprocess.run(
            [*self._prefix, "nft", "list", "chain", "inet", table, chain], capture_output=True, text=True, check=True
        )
        return listed.stdout.lower().splitlines()

    def stop(self) -> None:
        self._process.stop()
        for table in ("filter", "nat"):
            subprocess.run([*self._prefix, "nft", "delete", "table", "inet", table], check=True)
