"""A line that loses packets: a namespace with a peer inside, behind a router that drops what the test says.

Both ends send undisturbed, and the router in between drops what it forwards. A rule at the sender would be an error of
the send call, which programs treat differently from a loss.
"""

import os
import re
import subprocess

from .namespace import NamespaceUnavailable, Place, add_namespace, run_or_unavailable

TABLE = "line"


class LossyLine(Place):
    """Made at once without any loss, removed by `close` with everything in it."""

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise NamespaceUnavailable("only root can make a network namespace")
        number = os.getpid()
        self._router = f"gatehouse-router-{number}"
        # 198.19.0.0/16 is set aside for tests between networks (RFC 2544); eight addresses for each process.
        block = number % 8192
        base, first = f"198.19.{block // 32}.", block % 32 * 8
        super().__init__(f"gatehouse-line-{number}", base + str(first + 1))
        router = base + str(first + 2)
        inner, self.address = base + str(first + 5), base + str(first + 6)
        outside, inside = f"gl{number}o", f"gl{number}i"
        self._made: list[str] = []
        try:
            for name in (self._router, self.name):
                add_namespace(name)
                self._made.append(name)
            run_or_unavailable(
                "ip", "link", "add", outside, "type", "veth", "peer", "name", "host", "netns", self._router
            )
            run_or_unavailable("ip", "link", "add", inside, "netns", self.name, "type", "veth",
                 "peer", "name", "peer", "netns", self._router)  # fmt: skip
            # A run of datagrams that the kernel cuts late would reach the router whole, and be lost whole.
            run_or_unavailable("ethtool", "-K", outside, "tx-udp-segmentation", "off")
            self._inside("ethtool", "-K", inside, "tx-udp-segmentation", "off")
            run_or_unavailable("ip", "address", "add", f"{self.host_address}/30", "dev", outside)
            run_or_unavailable("ip", "link", "set", outside, "up")
            for device, address in (("host", router), ("peer", inner)):
                self._in_router("ip", "address", "add", f"{address}/30", "dev", device)
                self._in_router("ip", "link", "set", device, "up")
            self._in_router("sysctl", "-qw", "net.ipv4.ip_forward=1")
            self._inside("ip", "address", "add", f"{self.address}/30", "dev", inside)
            self._inside("ip", "link", "set", inside, "up")
            self._inside("ip", "link", "set", "lo", "up")
            self._inside("ip", "route", "add", "default", "via", inner)
            run_or_unavailable("ip", "route", "add", f"{base}{first + 4}/30", "via", router)
            self.set()
        except BaseException:
            self.close()
            raise

    def set(self, down: int = 0, up: int = 0, bytes_per_second: int | None = None) -> None:
        """Drops this percentage of the datagrams towards the peer and of those from it, at random; and of those towards
        it what is beyond a rate. Only UDP is touched: the page comes by TCP. The counters begin again."""
        rules = ['iifname "host" meta l4proto udp counter name sent']
        if down:
            rules.append(f'iifname "host" meta l4proto udp numgen random mod 100 < {down} drop')
        if up:
            rules.append(f'iifname "peer" meta l4proto udp numgen random mod 100 < {up} drop')
        if bytes_per_second:
            rules.append(
                f'iifname "host" meta l4proto udp limit rate over {bytes_per_second} bytes/second burst 16 kbytes drop'
            )
        rules.append('iifname "host" meta l4proto udp counter name passed')
        lines = "".join(f"    {rule}\n" for rule in rules)
        script = (
            f"table ip {TABLE} {{}}\ndelete table ip {TABLE}\n"
            f"table ip {TABLE} {{\n  counter sent {{}}\n  counter passed {{}}\n"
            f"  chain forward {{\n    type filter hook forward priority 0;\n{lines}  }}\n}}\n"
        )
        run_or_unavailable("ip", "netns", "exec", self._router, "nft", "-f", "-", input=script)

    def counters(self) -> dict[str, tuple[int, int]]:
        """Datagrams and bytes towards the peer, with IP headers: what was `sent`, and what `passed`."""
        text = self._in_router("nft", "list", "counters")
        found = re.findall(r"counter (\w+) \{\s*packets (\d+) bytes (\d+)", text)
        return {name: (int(packets), int(count)) for name, packets, count in found}

    def _inside(self, *command: str) -> str:
        return run_or_unavailable(*self.command_prefix, *command)

    def _in_router(self, *command: str) -> str:
        return run_or_unavailable("ip", "netns", "exec", self._router, *command)

    def close(self) -> None:
        # The interfaces and routes go with the namespaces.
        for name in self._made:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)
