import STUN
import Testing
import Transport

/// Reads `bytes` and hands the message to `body` while they live.
func withMessage<Result>(_ bytes: [UInt8], _ body: (STUNMessage) throws -> Result) throws -> Result {
    try bytes.withUnsafeBytes { try body(try STUNMessage(parsing: $0)) }
}

func isAuthentic(_ message: STUNMessage, _ password: String) -> Bool {
    var key = MessageIntegrityKey(password)
    return message.hasValidIntegrity(&key)
}

func failure(_ bytes: [UInt8]) -> STUNError? {
    bytes.withUnsafeBytes { raw in
        do throws(STUNError) {
            _ = try STUNMessage(parsing: raw)
            return nil
        } catch { return error }
    }
}

@Suite struct STUNMessageTests {
    @Test func readsTheSampleRequest() throws {
        try withMessage(Vectors.request) { message in
            #expect(message.messageClass == .request)
            #expect(message.method == STUNMessage.bindingMethod)
            #expect(message.transactionID == STUNTransactionID(high: 0xb7e7_a701, low: 0xbc34_d686_fa87_dfae))
            #expect(message.username.map { String(decoding: $0, as: UTF8.self) } == "evtj:h6vY")
            #expect(message.priority == 0x6e00_01ff)
            #expect(message.controlledTieBreaker == 0x932f_f9b1_5126_3b36)
            #expect(message.controllingTieBreaker == nil)
            #expect(!message.usesCandidate)
            #expect(message.hasValidFingerprint)
            var key = MessageIntegrityKey(Vectors.password)
            let verified = [message.hasValidIntegrity(&key), message.hasValidIntegrity(&key)]
            #expect(verified == [true, true], "a key can be used again")
            #expect(!isAuthentic(message, "VOkJxbRl1RmTxUk/WvJxBu"))
            var none = MessageIntegrityKey()
            let isVerifiedByNothing = message.hasValidIntegrity(&none)
            #expect(!isVerifiedByNothing)
        }
    }

    @Test func readsTheSampleResponses() throws {
        let expected = [
            (Vectors.ipv4Response, try #require(TransportAddress("192.0.2.1", port: 32853))),
            (
                Vectors.ipv6Response,
                try #require(TransportAddress("2001:db8:1234:5678:11:2233:4455:6677", port: 32853))
            ),
        ]
        for (bytes, address) in expected {
            try withMessage(bytes) { message in
                #expect(message.messageClass == .successResponse)
                #expect(message.mappedAddress == address)
                #expect(message.hasValidFingerprint)
                #expect(isAuthentic(message, Vectors.password))
            }
        }
    }

    @Test func readsTheSampleRequestWithLongTermCredentials() throws {
        try withMessage(Vectors.longTermRequest) { message in
            #expect(message.username.map { String(decoding: $0, as: UTF8.self) } == "マトリックス")
            #expect(message.firstUnknownRequiredAttribute == nil)
            #expect(!message.hasFingerprint && !message.hasValidFingerprint)
            // The MD5 of "マトリックス:example.org:TheMatrIX".
            let secret = Vectors.bytes("e8ca7ad59d5eb0518e312911d2dab2a9")
            let isVerified = secret.withUnsafeBytes { secret in
                var key = MessageIntegrityKey(secret)
                return message.hasValidIntegrity(&key)
            }
            #expect(isVerified)
        }
    }

    @Test func anyChangedBitBreaksTheFingerprintOrTheForm() throws {
        var key = MessageIntegrityKey(Vectors.password)
        for index in Vectors.request.indices {
            for bit in 0..<8 {
                var changed = Vectors.request
                changed[index] ^= 1 << UInt8(bit)
                let isAccepted = try? withMessage(changed) { $0.hasValidFingerprint && $0.hasValidIntegrity(&key) }
                #expect(isAccepted != true, "bit \(bit) of byte \(index)")
            }
        }
    }

    @Test func saysWhatIsWrong() {
        #expect(failure([]) == .truncatedHeader(byteCount: 0))
        #expect(failure(Array(Vectors.request.prefix(19))) == .truncatedHeader(byteCount: 19))
        var bytes = Vectors.request
        bytes[0] = 0x80
        #expect(failure(bytes) == .notSTUN(firstByte: 0x80))
        bytes = Vectors.request
        bytes[4] = 0
        #expect(failure(bytes) == .wrongMagicCookie(0x0012_a442))
        #expect(failure(Vectors.request + [0]) == .wrongLength(field: 88, actual: 89))
        #expect(failure(Vectors.request.dropLast(4) + []) == .wrongLength(field: 88, actual: 84))
        bytes = Vectors.request
        bytes[23] = 0xff
        #expect(failure(bytes) == .truncatedAttribute(type: STUNAttributeType.software, offset: 20))
        bytes = Vectors.request
        bytes[43] = 3
        #expect(failure(bytes) == .wrongAttributeLength(type: STUNAttributeType.priority, length: 3, offset: 40))
        bytes = Vectors.request + [0x00, 0x25, 0, 0]
        bytes[3] += 4
        #expect(failure(bytes) == .attributeAfterFingerprint(type: STUNAttributeType.useCandidate, offset: 108))
        #expect(failure(bytes)?.description.contains("0x25") == true)
    }

    @Test func onlyTheFirstBytesOfSTUNAreSTUN() {
        for byte in UInt8.min...UInt8.max {
            #expect(STUN.isSTUN(firstByte: byte) == (byte < 4))
        }
    }

    @Test func ignoresWhatFollowsTheIntegrity() throws {
        var key = MessageIntegrityKey("password")
        let bytes = try build { builder in
            builder.addMessageIntegrity(&key)
            builder.addUseCandidate()
            builder.addPriority(7)
        }
        try withMessage(bytes) { message in
            #expect(!message.usesCandidate)
            #expect(message.priority == nil)
            #expect(isAuthentic(message, "password"))
        }
    }

    @Test func theFirstOfSeveralAttributesCounts() throws {
        let bytes = try build { builder in
            builder.addPriority(1)
            builder.addPriority(2)
            builder.addUsername(Array("a:b".utf8))
            builder.addUsername(Array("c:d".utf8))
        }
        try withMessage(bytes) { message in
            #expect(message.priority == 1)
            #expect(message.username.map { String(decoding: $0, as: UTF8.self) } == "a:b")
        }
    }

    @Test func noticesAttributesThatMustBeUnderstood() throws {
        let bytes = try build { builder in
            [1, 2, 3].withUnsafeBytes { builder.addAttribute(0xC057, $0) }
            builder.addAttribute(0x7777, UnsafeRawBufferPointer(start: nil, count: 0))
            builder.addAttribute(0x6666, UnsafeRawBufferPointer(start: nil, count: 0))
        }
        try withMessage(bytes) { #expect($0.firstUnknownRequiredAttribute == 0x7777) }
    }

    /// Builds a request of what `body` adds.
    private func build(_ body: (inout STUNMessageBuilder) -> Void) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0xEE, count: 256)
        let count = buffer.withUnsafeMutableBytes { raw in
            var builder = STUNMessageBuilder(
                into: raw, messageClass: .request, transactionID: STUNTransactionID(high: 1, low: 2))
            body(&builder)
            return builder.finish()
        }
        return Array(buffer.prefix(try #require(count)))
    }
}
