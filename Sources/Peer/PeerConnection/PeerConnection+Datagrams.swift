import DTLS
import ICE
import SRTP
import Transport

extension PeerConnection {
    /// Takes a datagram that arrived from `source` at our address `local`. SRTP is decrypted in place.
    ///
    /// Nothing that fails a check changes anything but ``refusals``.
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
        case .accepted:
            if !sawCheck {
                sawCheck = true
                events.append(.firstCheck)
            }
        case .refused:
            refusals.stun += 1
        }
        advance(at: now)
    }

    private mutating func handleDTLS(
        _ datagram: UnsafeRawBufferPointer, from source: TransportAddress, at now: Instant
    ) {
        // A ClientHello may overtake the response that makes its pair valid. It is taken as soon as a check from its
        // address has been authenticated: dropping it would cost the handshake a second. Anybody else could only
        // disturb the handshake, so their records are not even looked at.
        guard ice.knowsRemoteAddress(source) else {
            refusals.dtls += 1
            return
        }
        do {
            try dtls.handle(datagram, at: now)
        } catch {
            if dtls.state == .failed {
                fail("the DTLS handshake failed: \(error)")
            } else {
                refusals.dtls += 1
            }
        }
        advance(at: now)
    }

    private mutating func unprotectRTP(_ datagram: UnsafeMutableRawBufferPointer) -> Received {
        guard receiver != nil else {
            refusals.srtp += 1
            return .nothing
        }
        do throws(SRTPError) {
            guard let count = try receiver?.unprotectRTP(datagram) else { return .nothing }
            return .rtp(byteCount: count)
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

    /// Moves the connection on after ICE or DTLS have taken a step.
    mutating func advance(at now: Instant) {
        while let event = ice.pollEvent() {
            switch event {
            case .selectedPair: events.append(.pathFound)
            case .pairChanged: events.append(.pathChanged)
            case .disconnected: fail("the peer has stopped answering connectivity checks")
            case .failed(let reason): fail("no path to the peer: \(reason)")
            }
        }
        guard !failed else { return }
        if !dtlsStarted, remoteAddress != nil {
            dtlsStarted = true
            do {
                try dtls.start(at: now)
            } catch {
                return fail("the DTLS handshake could not start: \(error)")
            }
        }
        if sender == nil, let material = dtls.takeKeyingMaterial() {
            do {
                sender = try SRTPSender(
                    profile: material.profile, masterKey: material.localKey, masterSalt: material.localSalt)
                receiver = try SRTPReceiver(
                    profile: material.profile, masterKey: material.remoteKey, masterSalt: material.remoteSalt)
                events.append(.connected)
            } catch {
                fail("the agreed SRTP keys cannot be used: \(error)")
            }
        }
        if dtls.state == .closed { fail("the peer closed the connection") }
    }

    /// Ends the connection for good.
    mutating func fail(_ reason: String) {
        guard !failed else { return }
        failed = true
        events.append(.failed(reason: reason))
    }
}
