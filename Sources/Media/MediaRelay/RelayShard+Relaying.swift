import ICE
import PeerConnection
import Transport

/// Where TURN servers relay may change while sessions run.
extension RelayShard {
    /// A TURN server relays at these addresses from now on, or none does for now: it is silent, or has failed. Sessions keep the
    /// paths that they have.
    func setRelayedAddresses(_ addresses: [TransportAddress], at now: Instant) {
        relayedAddresses = addresses
        for viewer in Array(viewers.values) {
            viewer.peer.setRelayed(addresses, at: now)
            service(viewer, at: now)
        }
    }

    /// Gives a session the present addresses, if they have changed between its description and now.
    func takeRelayedAddresses(_ viewer: Viewer, instead described: ICEAddresses, at now: Instant) {
        guard described.relayed != relayedAddresses else { return }
        viewer.peer.setRelayed(relayedAddresses, at: now)
    }

    /// Reports whether an ICE restart by the viewer would help.
    func reportRestartWish(of viewer: Viewer) {
        let wantsRestart = viewer.peer.wantsRestart
        guard wantsRestart != viewer.wantsRestart else { return }
        viewer.wantsRestart = wantsRestart
        viewer.status.note(wantsRestart: wantsRestart)
    }
}
