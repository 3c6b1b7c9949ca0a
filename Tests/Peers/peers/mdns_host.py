"""Another machine in the local network that speaks multicast DNS, by the library `zeroconf`."""

from types import TracebackType
from typing import Self

from zeroconf import AddressResolverIPv4, DNSAddress, IPVersion, Zeroconf, current_time_millis


class MulticastDNSHost:
    """Speaks on the interface with this address. It has to be made, used and closed inside that interface's network."""

    def __init__(self, address: str) -> None:
        self._zeroconf = Zeroconf(interfaces=[address], ip_version=IPVersion.V4Only)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zeroconf.close()

    def addresses(self, name: str) -> list[str]:
        """The IPv4 addresses of a name such as `gatehouse.local`; empty if nobody answers for three seconds."""
        resolver = AddressResolverIPv4(f"{name}.")
        return resolver.parsed_addresses(IPVersion.V4Only) if resolver.request(self._zeroconf, 3000) else []

    def knows(self, name: str) -> bool:
        """Whether it remembers an address of a name."""
        now = current_time_millis()
        return any(
            isinstance(record, DNSAddress) and not record.is_expired(now)
            for record in self._zeroconf.cache.entries_with_name(f"{name}.")
        )
