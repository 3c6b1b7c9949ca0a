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
        guard stage != .over else { return .nothing }
        expectDrained(isDrained)
        switch DatagramKind(UnsafeRawBufferPointer(datagram)) {
        case .stun:
            handleSTUN(UnsafeRawBufferPointer(datagram), from: source, to: local, at: now)
            return .nothing
        case .dtls where DTLSEndpoint.isApplicationData(UnsafeRawBufferPointer(datagram)):
            return openData(datagram, from: source)
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
            if authenticatedChecks == 0 { events.append(.firstCheck) }
            authenticatedChecks &+= 1
            learn(source)
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
            fail(.handshake(error))
        }
        advance(at: now)
    }

    private mutating func openData(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress
    ) -> Received {
        guard carriesData, stage == .connected, knowsRemoteAddress(source), let data = dtls.open(datagram) else {
            refusals.data += 1
            return .nothing
        }
        return .data(data)
    }

    private mutating func unprotectRTP(_ datagram: UnsafeMutableRawBufferPointer) -> Received {
        do throws(SRTPError) {
            if let plain = try media?.receiver.unprotectRTP(datagram) {
                return .rtp(byteCount: plain.payload.upperBound)
            }
        } catch {
            // It is counted below, as one that came before the keys is.
        }
        refusals.srtp += 1
        return .nothing
    }

    private mutating func unprotectRTCP(_ datagram: UnsafeMutableRawBufferPointer) -> Received {
        do throws(SRTPError) {
            if let count = try media?.receiver.unprotectRTCP(datagram) { return .rtcp(byteCount: count) }
        } catch {
            // It is counted below, as one that came before the keys is.
        }
        refusals.srtp += 1
        return .nothing
    }

    /// Advances the connection after ICE or DTLS has taken a step.
    mutating func advance(at now: Instant) {
        while let event = ice.pollEvent() {
            switch event {
            case .connected: events.append(.pathFound)
            case .pairChanged: events.append(.pathChanged)
            case .disconnected: fail(.consentExpired)
            case .failed(let reason): fail(.noPath(reason))
            }
        }
        if stage == .findingPath, remoteAddress != nil {
            stage = .handshaking
            dtls.start(at: now)
        }
        if stage == .handshaking, dtls.state == .connected {
            if let material = dtls.keyingMaterial {
                useKeys(material)
            } else {
                // There are data channels alone, and the peer does not support SRTP.
                stage = .connected
                events.append(.connected)
            }
        }
        if stage != .over, dtls.state == .closed { fail(.closedByPeer) }
    }

    private mutating func useKeys(_ material: SRTPKeyingMaterial) {
        do throws(SRTPError) {
            let sender = try SRTPSender(
                profile: material.profile, masterKey: material.localMasterKey, masterSalt: material.localMasterSalt)
            let receiver = try SRTPReceiver(
                profile: material.profile, masterKey: material.remoteMasterKey, masterSalt: material.remoteMasterSalt)
            overhead = sender.overhead
            media = Media(sender: sender, receiver: receiver)
            stage = .connected
            events.append(.connected)
        } catch {
            fail(.unusableKeys(error))
        }
    }

    /// Ends the connection for good.
    mutating func fail(_ failure: PeerConnectionFailure) {
        guard stage != .over else { return }
        stage = .over
        events.append(.failed(failure))
    }
}

/// What a datagram on the shared port is, by its first bytes (RFC 7983, section 7; RFC 5761, section 4).
public enum DatagramKind: Sendable, Equatable {
    /// A STUN message.
    case stun
    /// One or more DTLS records.
    case dtls
    /// An SRTP packet.
    case rtp
    /// An SRTCP packet.
    case rtcp
    /// None of the protocols of this port.
    case unknown

    /// Looks at the first two bytes.
    @inlinable
    public init(_ datagram: UnsafeRawBufferPointer) {
        guard datagram.count >= 2 else {
            self = .unknown
            return
        }
        switch datagram[0] {
        case 0...3: self = .stun
        case 20...63: self = .dtls
        case 128...191: self = (192...223).contains(datagram[1]) ? .rtcp : .rtp
        default: self = .unknown
        }
    }

    /// The fewest bytes that a packet of this kind has, which is its fixed header; nil for ``unknown``.
    @inlinable
    public var shortest: Int? {
        switch self {
        // RFC 8489, section 5.
        case .stun: 20
        // RFC 6347, section 4.1.
        case .dtls: 13
        // RFC 3550, section 5.1.
        case .rtp: 12
        // RFC 3550, section 6.4.2: a receiver report without blocks.
        case .rtcp: 8
        case .unknown: nil
        }
    }

    /// Whether a datagram may be a packet of one of the protocols of this port: by its first bytes and its length.
    @inlinable
    public static func mayBePacket(_ datagram: UnsafeRawBufferPointer) -> Bool {
        guard let shortest = DatagramKind(datagram).shortest else { return false }
        return datagram.count >= shortest
    }
}
