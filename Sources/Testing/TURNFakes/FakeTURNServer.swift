import COpenSSL
public import STUN
import TURN
public import Transport

/// A TURN server in virtual time, as far as a client can see one. It does not judge the client: coturn does.
public struct FakeTURNServer: Sendable {
    public static let relayed = TransportAddress(ipv4: 0xCB00_7101, port: 50_000)
    public static let relayedIPv6 = TransportAddress(ipv6High: 0x2001_0DB8_0000_0001, low: 1, port: 50_001)
    public static let mapped = TransportAddress(ipv4: 0xCB00_7106, port: 40_000)

    /// Its addresses for allocations.
    public var addresses = [FakeTURNServer.relayed]
    /// Whether it knows ADDITIONAL-ADDRESS-FAMILY.
    public var knowsBothFamilies = true
    public var nonce = "first"
    public var realm = "gatehouse.test"
    public var username = "gatehouse"
    public var password = "secret"
    public var lifetime: UInt32 = 600
    /// Answers every request with this error.
    public var refusal: UInt16?
    public var isSilent = false
    /// What came while it was silent.
    private var unread: [[UInt8]] = []
    /// Leaves requests for permissions unanswered.
    public var ignoresPermissions = false
    public var signs = true
    public private(set) var requests: [UInt16] = []
    public private(set) var permissions: Set<TransportAddress> = []
    /// How often each host was permitted.
    public private(set) var grants: [TransportAddress: Int] = [:]
    public private(set) var channels: [UInt16: TransportAddress] = [:]
    public var isAllocated = false
    public var refusesChannels = false
    /// What the client has sent to its peers.
    public private(set) var sent: [(peer: TransportAddress, bytes: [UInt8], inChannel: Bool)] = []

    public func key() -> MessageIntegrityKey {
        let text = Array("\(username):\(realm):\(password)".utf8)
        var digest = [UInt8](repeating: 0, count: 16)
        EVP_Digest(text, text.count, &digest, nil, EVP_md5(), nil)
        var key = MessageIntegrityKey()
        digest.withUnsafeBytes { key = MessageIntegrityKey($0) }
        return key
    }

    /// A server that knows the credentials `gatehouse` and `secret`.
    public init() {}

    /// What the client has sent to its peers since the last call.
    public mutating func takeSent() -> [(peer: TransportAddress, bytes: [UInt8])] {
        defer { sent.removeAll() }
        return sent.map { ($0.peer, $0.bytes) }
    }

    /// What came while the server was silent, since the last call. A stream keeps it.
    public mutating func takeUnread() -> [[UInt8]] {
        defer { unread = [] }
        return unread
    }

    /// The answer to a message of the client; nil for none.
    public mutating func handle(_ bytes: [UInt8]) -> [UInt8]? {
        if isSilent { unread.append(bytes) }
        if bytes[0] >= 0x40 {
            let number = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
            let count = Int(bytes[2]) << 8 | Int(bytes[3])
            if let peer = channels[number] { sent.append((peer, Array(bytes[4..<4 + count]), true)) }
            return nil
        }
        return bytes.withUnsafeBytes { raw in
            guard let message = try? STUNMessage(parsing: raw) else { return nil }
            return handle(message)
        }
    }

    private mutating func handle(_ message: STUNMessage) -> [UInt8]? {
        if message.messageClass == .indication {
            if let peer = message.address(TURN.Attribute.xorPeerAddress), permissions.contains(peer.withPort(0)),
                let data = message.value(of: TURN.Attribute.data)
            {
                sent.append((peer, Array(data), false))
            }
            return nil
        }
        requests.append(message.method)
        if isSilent || ignoresPermissions && message.method == TURN.Method.createPermission { return nil }
        var key = key()
        if let refusal { return error(refusal, message, &key) }
        guard message.hasMessageIntegrity else { return error(401, message, &key) }
        guard message.value(of: STUNAttributeType.nonce).map({ Array($0) }) == Array(nonce.utf8) else {
            return error(438, message, &key)
        }
        guard message.hasValidIntegrity(&key) else { return error(401, message, &key) }
        if message.method == TURN.Method.allocate ? isAllocated : !isAllocated { return error(437, message, &key) }
        if refusesChannels, message.method == TURN.Method.channelBind { return error(508, message, &key) }
        var given: [TransportAddress] = []
        switch message.method {
        case TURN.Method.allocate:
            given = choose(message)
            if given.isEmpty { return error(440, message, &key) }
            isAllocated = true
        case TURN.Method.refresh:
            if (message.integer(of: TURN.Attribute.lifetime) as UInt32?) == 0 { isAllocated = false }
        case TURN.Method.createPermission:
            if let host = message.address(TURN.Attribute.xorPeerAddress)?.withPort(0) {
                permissions.insert(host)
                grants[host, default: 0] += 1
            }
        case TURN.Method.channelBind:
            if let peer = message.address(TURN.Attribute.xorPeerAddress),
                let number: UInt32 = message.integer(of: TURN.Attribute.channelNumber)
            {
                channels[UInt16(number >> 16)] = peer
            }
        default: return nil
        }
        return answer(.successResponse, message, &key) { builder in
            for address in given { builder.addAddress(TURN.Attribute.xorRelayedAddress, address) }
            builder.addMappedAddress(Self.mapped)
            builder.addInteger(TURN.Attribute.lifetime, lifetime)
        }
    }

    /// The addresses for a request (RFC 8656, section 7.2).
    private func choose(_ message: STUNMessage) -> [TransportAddress] {
        func names(_ attribute: UInt16) -> Bool { message.integer(of: attribute) == (UInt32(2) << 24) }
        if names(TURN.Attribute.requestedAddressFamily) { return addresses.filter { $0.family == .ipv6 } }
        let both = knowsBothFamilies && names(TURN.Attribute.additionalAddressFamily)
        return both ? addresses : addresses.filter { $0.family == .ipv4 }
    }

    private func error(_ code: UInt16, _ message: STUNMessage, _ key: inout MessageIntegrityKey) -> [UInt8] {
        answer(.errorResponse, message, &key, isSigned: code != 401 && code != 438) { builder in
            builder.addErrorCode(code)
            Array(realm.utf8).withUnsafeBytes { builder.addAttribute(STUNAttributeType.realm, $0) }
            Array(nonce.utf8).withUnsafeBytes { builder.addAttribute(STUNAttributeType.nonce, $0) }
        }
    }

    private func answer(
        _ kind: STUNMessageClass, _ message: STUNMessage, _ key: inout MessageIntegrityKey, isSigned: Bool = true,
        _ fill: (inout STUNMessageBuilder) -> Void
    ) -> [UInt8] {
        Self.message(kind, message.method, message.transactionID) { builder in
            fill(&builder)
            if isSigned, signs { builder.addMessageIntegrity(&key) }
            builder.addFingerprint()
        }
    }

    public static func message(
        _ kind: STUNMessageClass, _ method: UInt16, _ id: STUNTransactionID,
        _ fill: (inout STUNMessageBuilder) -> Void
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { buffer in
            var builder = STUNMessageBuilder(into: buffer, messageClass: kind, method: method, transactionID: id)
            fill(&builder)
            return builder.finish()
        }
        return Array(bytes.prefix(count ?? 0))
    }

    /// What a peer's datagram looks like to the client.
    public func indication(from peer: TransportAddress, _ bytes: [UInt8]) -> [UInt8] {
        Self.message(.indication, TURN.Method.data, STUNTransactionID(high: 1, low: 2)) { builder in
            builder.addAddress(TURN.Attribute.xorPeerAddress, peer)
            bytes.withUnsafeBytes { builder.addAttribute(TURN.Attribute.data, $0) }
        }
    }
}
