import ICE
import Transport

extension PeerConnection {
    /// Adds a candidate of the peer that came after its description. One that no datagram may be sent to is passed
    /// over.
    public mutating func addRemoteCandidate(_ candidate: RemoteCandidate) {
        ice.addRemoteCandidate(candidate)
    }

    /// Starts ICE again with other credentials (RFC 8445, section 2.4). The DTLS association and its keys stay, and
    /// media uses the old path until there is a new one.
    public mutating func restartICE(local: ICECredentials, remote: ICECredentials, at now: Instant) {
        ice.restart(localCredentials: local, remoteCredentials: remote, at: now)
    }

    /// Whether an authenticated check has come from `address`, or been answered from there.
    public func knowsRemoteAddress(_ address: TransportAddress) -> Bool {
        knownAddresses.contains(address)
    }
}
