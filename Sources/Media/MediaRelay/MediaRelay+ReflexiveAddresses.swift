import STUN
import Transport

/// What is known from one STUN server about the address of the media port.
public typealias ReflexiveAddress = ReflexiveAddressFinder.Observation

extension MediaRelay {
    /// Exchanges the STUN servers that are asked at which address they see the media port.
    /// - Parameter changed: called on a shard's thread after each change of ``reflexiveAddresses``. It must not wait.
    public func setSTUNServers(
        _ servers: [TransportAddress], changed: @escaping @Sendable ([ReflexiveAddress]) -> Void = { _ in }
    ) {
        let known = knownReflexiveAddresses
        links.post(to: RelayShard.asking) { shard, now in
            shard.setSTUNServers(servers, at: now) { addresses in
                known.withLock { $0 = addresses }
                changed(addresses)
            }
        }
    }

    /// Where the media port is reached from other networks, each address once: where the router forwards it, and where STUN
    /// servers see it.
    public var outsideAddresses: [TransportAddress] {
        var seen = Set<TransportAddress>()
        return (knownMappedAddresses.withLock { $0 } + reflexiveAddresses.compactMap(\.address))
            .filter { seen.insert($0).inserted }
    }

    /// Changes the outside addresses that the router forwards to the media port.
    public func setMappedAddresses(_ addresses: [TransportAddress]) { knownMappedAddresses.withLock { $0 = addresses } }

    /// What is known from each STUN server. Reading it waits for nobody.
    public var reflexiveAddresses: [ReflexiveAddress] { knownReflexiveAddresses.withLock { $0 } }
}
