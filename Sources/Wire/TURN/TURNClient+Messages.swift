import COpenSSL
import STUN
import Transport

extension TURNClient {
    /// Writes a request with the credentials of the server's challenge, once there was one.
    mutating func write(_ request: TURNRequest, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        var builder = STUNMessageBuilder(
            into: buffer, messageClass: .request, method: request.kind.method, transactionID: request.id)
        switch request.kind {
        case .allocate:
            builder.addInteger(TURN.Attribute.requestedTransport, UInt32(TURN.udp) << 24)
            let family =
                wantsOnlyIPv6 ? TURN.Attribute.requestedAddressFamily : TURN.Attribute.additionalAddressFamily
            builder.addInteger(family, UInt32(TURN.ipv6) << 24)
        case .refresh: break
        case .release: builder.addInteger(TURN.Attribute.lifetime, 0 as UInt32)
        case .permission(let host):
            builder.addAddress(TURN.Attribute.xorPeerAddress, host)
        case .channel(let number, let peer):
            builder.addInteger(TURN.Attribute.channelNumber, UInt32(number) << 16)
            builder.addAddress(TURN.Attribute.xorPeerAddress, peer)
        }
        if !nonce.isEmpty {
            builder.addUsername(Array(configuration.username.utf8))
            realm.withUnsafeBytes { builder.addAttribute(STUNAttributeType.realm, $0) }
            nonce.withUnsafeBytes { builder.addAttribute(STUNAttributeType.nonce, $0) }
            builder.addMessageIntegrity(&key)
        }
        builder.addFingerprint()
        return builder.finish()
    }

    /// Writes what carries a datagram to a peer into `buffer` (at least 64 bytes more than the datagram), and returns its
    /// length. Zero when the datagram waits for the server's permission, or is lost: too long, too many peers, or no
    /// allocation.
    ///
    /// The first datagram for a host asks for the permission. A peer that gets media gets a channel, which takes 4 bytes for
    /// each datagram instead of 36 or 48.
    public mutating func send(
        _ datagram: UnsafeRawBufferPointer, to peer: TransportAddress, into buffer: UnsafeMutableRawBufferPointer,
        at now: Instant
    ) -> Int {
        guard case .allocated = state, relayedAddresses.contains(where: { $0.family == peer.family }),
            peer.isUsableDestination, !datagram.isEmpty, datagram.count <= TURNLimits.datagram,
            buffer.count >= datagram.count + 64
        else { return 0 }
        switch peers.way(to: peer) {
        case .channel(let number): return writeChannelData(datagram, number, into: buffer)
        case .indication:
            if !STUN.isSTUN(firstByte: datagram[0]), requests.count < TURNLimits.requests, channelsRefusedUntil <= now,
                let number = peers.reserveChannel(for: peer)
            {
                request(.channel(number, peer), at: now)
            }
            return writeIndication(datagram, to: peer, into: buffer) ?? 0
        case .wait(let asks):
            if asks, !request(.permission(peer.withPort(0)), at: now) {
                peers.refused(peer.withPort(0))
                return 0
            }
            peers.hold(datagram, for: peer)
            return 0
        case .none: return 0
        }
    }

    private func writeChannelData(
        _ datagram: UnsafeRawBufferPointer, _ number: UInt16, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        buffer.storeBytes(of: number.bigEndian, as: UInt16.self)
        buffer.storeBytes(of: UInt16(datagram.count).bigEndian, toByteOffset: 2, as: UInt16.self)
        UnsafeMutableRawBufferPointer(rebasing: buffer[TURN.channelHeaderLength...]).copyMemory(from: datagram)
        let count = TURN.channelHeaderLength + datagram.count
        guard configuration.isStream else { return count }
        // Over a stream the next message begins at a multiple of four (RFC 8656, section 12.5).
        for index in count..<(count + 3) & ~3 { buffer[index] = 0 }
        return (count + 3) & ~3
    }

    mutating func writeIndication(
        _ datagram: UnsafeRawBufferPointer, to peer: TransportAddress, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int? {
        var builder = STUNMessageBuilder(
            into: buffer, messageClass: .indication, method: TURN.Method.send,
            transactionID: STUNTransactionID(using: &random))
        builder.addAddress(TURN.Attribute.xorPeerAddress, peer)
        builder.addAttribute(TURN.Attribute.data, datagram)
        return builder.finish()
    }

    // MARK: - What comes from the server

    /// Handles a datagram, or one message of a stream, from the server.
    public mutating func handle(_ bytes: UnsafeRawBufferPointer, at now: Instant) -> TURNReceived {
        expectDrained(isDrained)
        guard let first = bytes.first else { return .nothing }
        if 0x40...0x4F ~= first { return handleChannelData(bytes) }
        guard let message = try? STUNMessage(parsing: bytes) else { return .nothing }
        switch message.messageClass {
        case .request: return .nothing
        case .indication: return handleIndication(message)
        case .successResponse, .errorResponse:
            guard let index = requests.firstIndex(where: { $0.id == message.transactionID }),
                requests[index].kind.method == message.method
            else { return .nothing }
            handleResponse(message, index, at: now)
            return .nothing
        }
    }

    private func handleChannelData(_ bytes: UnsafeRawBufferPointer) -> TURNReceived {
        guard case .allocated = state, bytes.count >= TURN.channelHeaderLength else { return .nothing }
        let number = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        let count = Int(bytes[2]) << 8 | Int(bytes[3])
        guard count > 0, bytes.count >= TURN.channelHeaderLength + count, let peer = peers.peer(ofChannel: number)
        else { return .nothing }
        return .data(from: peer, TURN.channelHeaderLength..<TURN.channelHeaderLength + count)
    }

    private mutating func handleIndication(_ message: STUNMessage) -> TURNReceived {
        guard case .allocated = state, message.method == TURN.Method.data,
            let peer = message.address(TURN.Attribute.xorPeerAddress),
            let range = message.range(of: TURN.Attribute.data), !range.isEmpty, peers.recordData(from: peer)
        else { return .nothing }
        return .data(from: peer, range)
    }

    private mutating func handleResponse(_ message: STUNMessage, _ index: Int, at now: Instant) {
        if message.messageClass == .errorResponse {
            switch message.errorCode {
            case TURN.ErrorCode.unauthenticated where nonce.isEmpty, TURN.ErrorCode.staleNonce:
                return answerChallenge(message, index, at: now)
            case let code:
                // A forged refusal would end the allocation. If the client has a key, the server signs.
                guard nonce.isEmpty || code == TURN.ErrorCode.unauthenticated || message.hasValidIntegrity(&key)
                else { return }
                let refused = requests.remove(at: index)
                let isAboutCredentials =
                    code == TURN.ErrorCode.unauthenticated || code == TURN.ErrorCode.wrongCredentials
                handle(failureOf: refused, isAboutCredentials ? .wrongCredentials : .refused(code: code), at: now)
                return
            }
        }
        guard nonce.isEmpty || message.hasValidIntegrity(&key) else { return }
        let request = requests.remove(at: index)
        isSilent = false
        switch request.kind {
        case .allocate: handleAllocation(message, at: now)
        case .refresh: scheduleRefresh(message, at: now)
        case .release: releaseEnded(at: now)
        case .permission(let host):
            for (peer, datagram) in peers.granted(host, refresh: now + configuration.timing.permissionRefresh) {
                sendHeld(datagram, to: peer)
            }
        case .channel(let number, _): peers.bound(number, refresh: now + configuration.timing.channelRefresh)
        }
    }

    private mutating func sendHeld(_ datagram: [UInt8], to peer: TransportAddress) {
        var message = [UInt8](repeating: 0, count: datagram.count + 64)
        let count = message.withUnsafeMutableBytes { buffer in
            datagram.withUnsafeBytes { writeIndication($0, to: peer, into: buffer) }
        }
        guard let count else { return }
        message.removeLast(message.count - count)
        outbox.append(message)
    }

    /// Repeats a request with the server's realm and nonce.
    private mutating func answerChallenge(_ message: STUNMessage, _ index: Int, at now: Instant) {
        guard let newNonce = message.value(of: STUNAttributeType.nonce), (1...TURNLimits.text).contains(newNonce.count),
            requests[index].challenges < TURNLimits.nonces
        else {
            requests.remove(at: index)
            return fail(.contradictory)
        }
        if let newRealm = message.value(of: STUNAttributeType.realm), newRealm.count <= TURNLimits.text,
            nonce.isEmpty || !newRealm.elementsEqual(realm)
        {
            // A server that is restarted may have another realm.
            realm = Array(newRealm)
            key = Self.key(configuration, realm: realm)
        }
        guard !realm.isEmpty else { return fail(.contradictory) }
        nonce = Array(newNonce)
        requests[index].challenges += 1
        requests[index].id = STUNTransactionID(using: &random)
        requests[index].transmissions = 0
        requests[index].hasTransmissionsLeft = true
        requests[index].due = now
    }

    /// The key of the long-term credentials (RFC 8489, section 9.2.2).
    private static func key(_ configuration: TURNConfiguration, realm: [UInt8]) -> MessageIntegrityKey {
        let text =
            Array(configuration.username.utf8) + [UInt8(ascii: ":")] + realm + [UInt8(ascii: ":")]
            + Array(configuration.password.utf8)
        var digest = [UInt8](repeating: 0, count: 16)
        guard EVP_Digest(text, text.count, &digest, nil, EVP_md5(), nil) == 1 else { return MessageIntegrityKey() }
        var key = MessageIntegrityKey()
        digest.withUnsafeBytes { key = MessageIntegrityKey($0) }
        return key
    }

    private mutating func handleAllocation(_ message: STUNMessage, at now: Instant) {
        // coturn 4.6 also names 0.0.0.0:0 where it has refused to give both versions of the Internet Protocol before.
        let relayed = message.addresses(TURN.Attribute.xorRelayedAddress).filter(\.isUsableDestination)
        guard !relayed.isEmpty, Set(relayed.map(\.family)).count == relayed.count
        else { return fail(.contradictory) }
        state = .allocated
        relayedAddresses = relayed
        mappedAddress = message.mappedAddress
        scheduleRefresh(message, at: now)
        events.append(.allocated(relayed))
    }

    private mutating func scheduleRefresh(_ message: STUNMessage, at now: Instant) {
        let said: UInt32 = message.integer(of: TURN.Attribute.lifetime) ?? 600
        let lifetime = Duration.seconds(
            Int64(min(max(said, TURNLimits.lifetime.lowerBound), TURNLimits.lifetime.upperBound)))
        refreshDue = now + min(configuration.timing.allocationRefresh, lifetime / 2)
    }

    mutating func handle(failureOf request: TURNRequest, _ failure: TURNFailure, at now: Instant) {
        switch request.kind {
        case .allocate where failure == .refused(code: TURN.ErrorCode.allocationMismatch) && !hasReleasedEarlier:
            // The server has an allocation for this socket that the client knows nothing of, because an earlier one could not
            // be given back. RFC 8656, section 7.4, would take another socket; giving it back now works with the same one.
            hasReleasedEarlier = true
            self.request(.release, at: now)
        case .allocate where failure == .refused(code: TURN.ErrorCode.familyNotSupported) && !wantsOnlyIPv6:
            // The server has no IPv4 addresses, and does not know the attribute that asks for both.
            wantsOnlyIPv6 = true
            self.request(.allocate, at: now)
        case .allocate, .refresh: fail(failure)
        case .release: releaseEnded(at: now)
        case .permission(let host) where failure == .noAnswer: peers.unanswered(host, at: now)
        case .permission(let host): peers.refused(host)
        case .channel(let number, let peer):
            peers.forget(number)
            channelsRefusedUntil = now + configuration.timing.channelPause
            // The channel would have renewed it.
            peers.renewPermission(of: peer.withPort(0), at: now)
        }
    }

    /// An allocation of an earlier client is gone, so this one can have its own.
    private mutating func releaseEnded(at now: Instant) {
        if case .allocating = state { request(.allocate, at: now) }
    }
}

extension TURNRequest.Kind {
    /// The method of the request.
    var method: UInt16 {
        switch self {
        case .allocate: TURN.Method.allocate
        case .refresh, .release: TURN.Method.refresh
        case .permission: TURN.Method.createPermission
        case .channel: TURN.Method.channelBind
        }
    }
}
