import ICE
import PeerConnection
import Transport

/// Where TURN servers relay may change while sessions run.
extension RelayShard {
    /// A TURN server relays at these addresses from now on, or none does for now: it is silent, or has failed. Sessions keep the
    /// paths that they have.
    func setRelayedAddresses(_ addresses: [TransportAddress], at now: Instant) {
        relayedAddresses = addresses
        for session in sessions {
            session.peer.setRelayed(addresses, at: now)
            service(session, at: now)
        }
    }

    /// Gives a session the present addresses, if they have changed between its description and now.
    func takeRelayedAddresses(_ session: Session, instead described: ICEAddresses, at now: Instant) {
        guard described.relayed != relayedAddresses else { return }
        session.peer.setRelayed(relayedAddresses, at: now)
    }

    /// Reports whether an ICE restart by the peer would help.
    func reportRestartWish(of session: Session) {
        let wantsRestart = session.peer.wantsRestart
        guard wantsRestart != session.wantsRestart else { return }
        session.wantsRestart = wantsRestart
        session.status.record(wantsRestart: wantsRestart)
    }
}
