import ICE
import PeerConnection
import Transport

/// Where TURN servers relay may change while sessions run.
extension RelayShard {
    /// A TURN server has made an allocation with these addresses, or none relays any more. A session is left alone in the second
    /// case: its path may be another one, and otherwise it has until its consent ends to get the next allocation.
    func setRelayedAddresses(_ addresses: [TransportAddress], at now: Instant) {
        relayedAddresses = addresses
        guard !addresses.isEmpty else { return }
        for viewer in Array(viewers.values) {
            viewer.peer.setRelayed(addresses, at: now)
            service(viewer, at: now)
        }
    }

    /// Gives a session the present addresses, if they have changed between its description and now.
    func takeRelayedAddresses(_ viewer: Viewer, instead described: ICEAddresses, at now: Instant) {
        guard !relayedAddresses.isEmpty, described.relayed != relayedAddresses else { return }
        viewer.peer.setRelayed(relayedAddresses, at: now)
    }
}
