import ICE
import NetworkSimulator
import Transport

@testable import MediaRelay

/// Where the relay is reached, beside its socket.
extension RelayWorld {
    /// Lets the relay be reached over TCP at an address, or through a TURN server that relays there.
    func addWay(_ route: TransportAddress.Route, at address: TransportAddress) -> SimulatedWay {
        let way = SimulatedWay(route, at: address, of: host)
        simulation.endpoints.append(way)
        if route == .relayed { reportRelayed([address]) }
        return way
    }

    /// A TURN server relays at these addresses from now on.
    func reportRelayed(_ addresses: [TransportAddress]) {
        host.now = now
        host.relay.links.postToAll { shard, now in shard.setRelayedAddresses(addresses, at: now) }
        host.settle()
    }

    private func ways(_ route: TransportAddress.Route) -> [TransportAddress] {
        simulation.endpoints.compactMap { $0 as? SimulatedWay }.filter { $0.route == route }.map(\.address)
    }

    /// Where the relay accepts TCP connections.
    var listeners: [TransportAddress] { ways(.tcp).map { $0.by(.direct) } }

    /// What the relay's session descriptions say of its addresses.
    var addresses: ICEAddresses {
        ICEAddresses(hosts: host.addresses, relayed: ways(.relayed), passive: listeners)
    }

    /// What a peer reads in them.
    var candidates: [RemoteCandidate] {
        ICELocalCandidate.all(addresses).map {
            RemoteCandidate(address: $0.address.by(.direct), priority: $0.priority, type: $0.type)
        }
    }
}
