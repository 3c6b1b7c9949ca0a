import ICE
import STUN
import Testing
import Transport

/// Messages made by hand, for what no agent would send.
enum Message {
    static func request(
        to local: ICECredentials, from remote: ICECredentials, id: UInt64, nominates: Bool = false,
        unknownAttribute: UInt16? = nil, priority: UInt32 = 0x6E00_00FF, claims role: ICERole = .controlling,
        tieBreaker: UInt64 = 1
    ) throws -> [UInt8] {
        try build(.request, STUNTransactionID(high: 0, low: id), password: local.password) { builder in
            builder.addUsername(Array("\(local.usernameFragment):\(remote.usernameFragment)".utf8))
            builder.addPriority(priority)
            switch role {
            case .controlling: builder.addControlling(tieBreaker: tieBreaker)
            case .controlled: builder.addControlled(tieBreaker: tieBreaker)
            }
            if nominates { builder.addUseCandidate() }
            if let unknownAttribute {
                builder.addAttribute(unknownAttribute, UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
    }

    static func response(to request: [UInt8], password: String) throws -> [UInt8] {
        let id = try request.withUnsafeBytes { try STUNMessage(parsing: $0).transactionID }
        return try build(.successResponse, id, password: password) {
            $0.addMappedAddress(TransportAddress(ipv4: 0xC633_6407, port: 1))
        }
    }

    private static func build(
        _ messageClass: STUNMessageClass, _ id: STUNTransactionID, password: String,
        _ body: (inout STUNMessageBuilder) -> Void
    ) throws -> [UInt8] {
        var key = MessageIntegrityKey(password)
        var buffer = [UInt8](repeating: 0, count: STUN.sufficientBufferSize)
        let count = buffer.withUnsafeMutableBytes { raw in
            var builder = STUNMessageBuilder(into: raw, messageClass: messageClass, transactionID: id)
            body(&builder)
            builder.addMessageIntegrity(&key)
            builder.addFingerprint()
            return builder.finish()
        }
        return Array(buffer.prefix(try #require(count)))
    }
}
