import STUN
import Transport

extension FuzzTarget {
    static let stun = FuzzTarget(
        "stun", "one STUN message: every value of it, and written again it reads the same", maximumLength: 1024,
        seeds: { stunSeeds }
    ) { bytes throws(FuzzFailure) in
        guard let message = try? STUNMessage(parsing: bytes) else { return }
        var key = MessageIntegrityKey("0123456789abcdefghijkl")
        observe(message.hasValidFingerprint)
        observe(message.hasValidIntegrity(&key))
        let username = message.username.map { Array($0) }
        let address = message.mappedAddress
        let error = message.errorCode
        var copy = [UInt8](repeating: 0, count: 2048)
        let length = copy.withUnsafeMutableBytes { buffer in
            var builder = STUNMessageBuilder(
                into: buffer, messageClass: message.messageClass, method: message.method,
                transactionID: message.transactionID)
            if let username { builder.addUsername(username) }
            if let address { builder.addMappedAddress(address) }
            if let error { builder.addErrorCode(error) }
            builder.addMessageIntegrity(&key)
            builder.addFingerprint()
            return builder.finish()
        }
        guard let length else { throw FuzzFailure("what was read cannot be written") }
        let failure: FuzzFailure? = copy.withUnsafeBytes { raw in
            guard let again = try? STUNMessage(parsing: UnsafeRawBufferPointer(rebasing: raw[..<length])) else {
                return FuzzFailure("what was written cannot be read")
            }
            guard again.messageClass == message.messageClass, again.method == message.method,
                again.transactionID == message.transactionID, again.username.map({ Array($0) }) == username,
                again.mappedAddress == address, again.errorCode == error
            else { return FuzzFailure("what was written reads otherwise") }
            guard again.hasValidFingerprint, again.hasValidIntegrity(&key) else {
                return FuzzFailure("what was signed is not believed")
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// A request, a success and an error, as this project and browsers write them.
    static let stunSeeds: [[UInt8]] = {
        func message(_ kind: STUNMessageClass, _ fill: (inout STUNMessageBuilder) -> Void) -> [UInt8] {
            var key = MessageIntegrityKey("0123456789abcdefghijkl")
            var bytes = [UInt8](repeating: 0, count: 640)
            let length = bytes.withUnsafeMutableBytes { buffer in
                var builder = STUNMessageBuilder(
                    into: buffer, messageClass: kind, transactionID: STUNTransactionID(high: 7, low: 77))
                fill(&builder)
                builder.addMessageIntegrity(&key)
                builder.addFingerprint()
                return builder.finish()
            }
            return Array(bytes.prefix(length ?? 0))
        }
        var addresses: [TransportAddress] = []
        if let address = TransportAddress("192.0.2.7", port: 5000) { addresses.append(address) }
        if let address = TransportAddress("2001:db8::7", port: 5000) { addresses.append(address) }
        return addresses.map { address in message(.successResponse) { $0.addMappedAddress(address) } } + [
            message(.request) { builder in
                builder.addUsername(Array("gate:view".utf8))
                builder.addPriority(1_853_824_767)
                builder.addControlling(tieBreaker: 99)
                builder.addUseCandidate()
            },
            message(.request) { builder in
                builder.addUsername(Array("gate:view".utf8))
                builder.addControlled(tieBreaker: 5)
                [1, 2, 3].withUnsafeBytes { builder.addAttribute(0xC057, $0) }
            },
            message(.indication) { _ in },
            message(.errorResponse) { $0.addErrorCode(487) },
            message(.errorResponse) { builder in
                builder.addErrorCode(420)
                builder.addUnknownAttribute(0x7F00)
            },
        ]
    }()
}
