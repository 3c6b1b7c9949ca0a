import DTLS
import ICE
import SRTP
import Transport

extension PeerConnection {
    /// Handles a datagram that arrived from `source` at our address `local`. SRTP is decrypted in place.
    ///
    /// A datagram that fails a check changes only ``refusals``.
    public mutating func handle(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, to local: TransportAddress,
        at now: Instant
    ) -> Received {
        guard !failed else { return .nothing }
        switch DatagramKind(UnsafeRawBufferPointer(datagram)) {
        case .stun:
            handleSTUN(UnsafeRawBufferPointer(datagram), from: source, to: local, at: now)
            return .nothing
        case .dtls:
            handleDTLS(UnsafeRawBufferPointer(datagram), from: source, at: now)
            return .nothing
        case .rtp:
            return unprotectRTP(datagram)
        case .rtcp:
            return unprotectRTCP(datagram)
        case .unknown:
            refusals.unknown += 1
            return .nothing
        }
    }

    private mutating func handleSTUN(
        _ datagram: UnsafeRawBufferPointer, from source: TransportAddress, to local: TransportAddress, at now: Instant
    ) {
        switch ice.handle(datagram, from: source, to: local, at: now) {
        case .request, .response:
            authenticatedChecks &+= 1
            learn(source)
            if !sawCheck {
                sawCheck = true
                events.append(.firstCheck)
            }
        case .indication:
            break
        case .ignored:
            refusals.stun += 1
        }
        advance(at: now)
    }

    /// Records an address that a check has proved: DTLS is accepted from there.
    private mutating func learn(_ address: TransportAddress) {
        guard knownAddresses.last != address else { return }
        knownAddresses.removeAll { $0 == address }
        if knownAddresses.count >= Self.maximumKnownAddresses { knownAddresses.removeFirst() }
        knownAddresses.append(address)
    }

    /// A peer has a few candidates, and its routers add a few more.
    private static let maximumKnownAddresses = 8

    private mutating func handleDTLS(
        _ datagram: UnsafeRawBufferPointer, from source: TransportAddress, at now: Instant
    ) {
        // A ClientHello may overtake the response that makes its pair valid. It is accepted as soon as a check from its
        // address has been authenticated: dropping it would cost the handshake a second. Records from any other address
        // could only disturb the handshake, so they are not even read.
        guard knowsRemoteAddress(source) else {
            refusals.dtls += 1
            return
        }
        do {
            try dtls.handle(datagram, at: now)
        } catch {
            fail("the DTLS handshake failed: \(error)")
        }
        advance(at: now)
    }

    private mutating func unprotectRTP(_ datagram: UnsafeMutableRawBufferPointer) -> Received {
        guard receiver != nil else {
            refusals.srtp += 1
            return .nothing
        }
        do throws(SRTPError) {
            guard let plain = try receiver?.unprotectRTP(datagram) else { return .nothing }
            return .rtp(byteCount: plain.payload.upperBound)
        } catch {
            refusals.srtp += 1
            return .nothing
        }
    }

    private mutating func unprotectRTCP(_ datagram: UnsafeMutableRawBufferPointer) -> Received {
        guard receiver != nil else {
            refusals.srtp += 1
            return .nothing
        }
        do throws(SRTPError) {
            guard let count = try receiver?.unprotectRTCP(datagram) else { return .nothing }
            return .rtcp(byteCount: count)
        } catch {
            refusals.srtp += 1
            return .nothing
        }
    }

    /// Advances the connection after ICE or DTLS has taken a step.
    mutating func advance(at now: Instant) {
        while let event = ice.pollEvent() {
            switch event {
            case .connected: events.append(.pathFound)
            case .pairChanged: events.append(.pathChanged)
            case .disconnected: fail("the peer has stopped answering connectivity checks")
            case .failed(let reason): fail("no path to the peer: \(reason)")
            }
        }
        guard !failed else { return }
        if !dtlsStarted, remoteAddress != nil {
            dtlsStarted = true
            dtls.start(at: now)
        }
        if !hasKeys, let material = dtls.keyingMaterial { useKeys(material) }
        if dtls.state == .closed { fail("the peer closed the connection") }
    }

    private mutating func useKeys(_ material: SRTPKeyingMaterial) {
        do {
            let sender = try SRTPSender(
                profile: material.profile, masterKey: material.localMasterKey, masterSalt: material.localMasterSalt)
            receiver = try SRTPReceiver(
                profile: material.profile, masterKey: material.remoteMasterKey, masterSalt: material.remoteMasterSalt)
            overhead = sender.overhead
            profile = material.profile
            self.sender = consume sender
            hasKeys = true
            events.append(.connected)
        } catch {
            fail("the agreed SRTP keys cannot be used: \(error)")
        }
    }

    /// Ends the connection for good.
    mutating func fail(_ reason: String) {
        guard !failed else { return }
        failed = true
        events.append(.failed(reason: reason))
    }
}
