import ICE
import STUN
import Transport

extension PeerConnection {
    /// Adds a candidate of the peer that came after its session description. One that no datagram may be sent to is
    /// ignored.
    public mutating func addRemoteCandidate(_ candidate: RemoteCandidate) {
        ice.addRemoteCandidate(candidate)
    }

    /// Records that the peer sends no further candidate (RFC 8838, section 13).
    public mutating func endOfRemoteCandidates(at now: Instant) {
        ice.endOfRemoteCandidates()
        advance(at: now)
    }

    /// Restarts ICE with other credentials (RFC 8445, section 2.4). The DTLS association and its keys stay, and media
    /// uses the old path until a new one is found.
    /// - Parameter addresses: our addresses from now on; nil if they are still the same.
    public mutating func restartICE(
        local: ICECredentials, remote: ICECredentials, addresses: ICEAddresses? = nil, at now: Instant
    ) {
        ice.restart(localCredentials: local, remoteCredentials: remote, addresses: addresses, at: now)
    }

    /// TURN servers relay for us at `addresses` from now on, or none does for now; see ``ICEAgent/setRelayed(_:at:)``.
    public mutating func setRelayed(_ addresses: [TransportAddress], at now: Instant) {
        guard stage != .over else { return }
        ice.setRelayed(addresses, at: now)
        advance(at: now)
    }

    /// Whether an ICE restart by the peer would help; see ``ICEAgent/wantsRestart``.
    public var wantsRestart: Bool { stage != .over && ice.wantsRestart }

    /// Whether `address` is this peer's beyond doubt; see ``ICEAgent/hasFreshConsent(from:at:)``.
    public func hasFreshConsent(from address: TransportAddress, at now: Instant) -> Bool {
        stage != .over && ice.hasFreshConsent(from: address, at: now)
    }

    /// Sends the next consent check now, because another session claims the peer's address.
    public mutating func hastenConsentCheck(at now: Instant) {
        guard stage != .over else { return }
        ice.hastenConsentCheck(at: now)
    }

    /// Whether a datagram is the STUN response to a check of this connection, by its transaction identifier.
    public func awaits(_ datagram: UnsafeRawBufferPointer) -> Bool {
        guard stage != .over, let id = STUNTransactionID(ofBindingResponse: datagram) else { return false }
        return ice.awaits(id)
    }

    /// Writes a probe of the path in use into `buffer` (at least 1,500 bytes); see ``ICEAgent/writeProbe(_:into:at:)``.
    /// - Returns: nil without a path in use.
    public mutating func writeProbe(
        _ number: UInt64, into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> Transmit? {
        guard stage == .connected, let transmit = ice.writeProbe(number, into: buffer, at: now) else { return nil }
        transmitSource = ice.transmitSource
        return transmit
    }

    /// The newest answer to a probe since the last call.
    public mutating func takeProbeAnswer() -> ICEProbeAnswer? { ice.takeProbeAnswer() }

    /// Forgets the probes, because their answers are no longer needed.
    public mutating func endProbes() { ice.endProbes() }

    /// The round-trip time of the newest connectivity check that was answered.
    public var pathRoundTripTime: Duration? { ice.roundTripTime }

    /// Counts of ICE events that a healthy connection does not see.
    public var connectivityCounters: ICECounters { ice.counters }

    /// Whether an authenticated check has come from `address`, or an answer to one of ours has.
    public func knowsRemoteAddress(_ address: TransportAddress) -> Bool {
        knownAddresses.contains(address)
    }
}
