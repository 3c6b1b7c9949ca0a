import STUN
import Testing
import Transport

@Suite struct STUNMessageBuilderTests {
    @Test func writesTheSampleRequestByteForByte() throws {
        var key = MessageIntegrityKey(Vectors.password)
        let bytes = try build(.request, STUNTransactionID(high: 0xb7e7_a701, low: 0xbc34_d686_fa87_dfae)) { builder in
            Array("STUN test client".utf8).withUnsafeBytes { builder.addAttribute(STUNAttributeType.software, $0) }
            builder.addPriority(0x6e00_01ff)
            builder.addControlled(tieBreaker: 0x932f_f9b1_5126_3b36)
            builder.addUsername(Array("evtj:h6vY".utf8))
            builder.addMessageIntegrity(&key)
            builder.addFingerprint()
        }
        // The sample pads USERNAME with spaces and is signed so; everything before it is the same.
        #expect(bytes.count == Vectors.request.count)
        #expect(bytes.prefix(73) == Vectors.request.prefix(73))
        try withMessage(bytes) { message in
            #expect(message.hasValidFingerprint)
            #expect(isAuthentic(message, Vectors.password))
        }
    }

    @Test(arguments: ["192.0.2.1", "2001:db8:1234:5678:11:2233:4455:6677", "::1", "255.255.255.255"])
    func addressesComeBack(host: String) throws {
        let address = try #require(TransportAddress(host, port: 32853))
        let bytes = try build(.successResponse, STUNTransactionID(high: 0xdead_beef, low: 0x0123_4567_89ab_cdef)) {
            $0.addMappedAddress(address)
        }
        try withMessage(bytes) { #expect($0.mappedAddress == address) }
    }

    @Test(arguments: [400, 401, 420, 487, 500] as [UInt16])
    func errorsComeBack(code: UInt16) throws {
        let bytes = try build(.errorResponse, STUNTransactionID(high: 0, low: 0)) {
            $0.addErrorCode(code)
            $0.addUnknownAttribute(0x7777)
        }
        try withMessage(bytes) { message in
            #expect(message.errorCode == code)
            #expect(message.messageClass == .errorResponse)
        }
        #expect(bytes.count.isMultiple(of: 4))
    }

    @Test func everyClassAndMethodComesBack() throws {
        for messageClass in [STUNMessageClass.request, .indication, .successResponse, .errorResponse] {
            // Methods from 0x100 on would not look like STUN where the port is shared (RFC 7983).
            for method in [0, 1, 0x0F, 0x10, 0x7F, 0x80, 0xFF] as [UInt16] {
                var buffer = [UInt8](repeating: 0, count: 20)
                buffer.withUnsafeMutableBytes { raw in
                    var builder = STUNMessageBuilder(
                        into: raw, messageClass: messageClass, method: method,
                        transactionID: STUNTransactionID(high: 1, low: 2))
                    #expect(builder.finish() == 20)
                }
                try withMessage(buffer) { message in
                    #expect(message.messageClass == messageClass)
                    #expect(message.method == method)
                }
            }
        }
    }

    @Test func saysWhenTheBufferIsTooSmall() {
        var key = MessageIntegrityKey(Vectors.password)
        for size in 0..<76 {
            var buffer = [UInt8](repeating: 0xAA, count: 100)
            buffer.withUnsafeMutableBytes { raw in
                var builder = STUNMessageBuilder(
                    into: UnsafeMutableRawBufferPointer(rebasing: raw[..<size]), messageClass: .request,
                    transactionID: STUNTransactionID(high: 1, low: 2))
                builder.addUsername(Array("evtj:h6vY".utf8))
                builder.addPriority(1)
                builder.addMessageIntegrity(&key)
                builder.addFingerprint()
                #expect(builder.finish() == nil)
            }
            #expect(buffer[size...].allSatisfy { $0 == 0xAA })
        }
    }

    @Test func aMessageWithoutAKeyIsNotFinished() {
        var key = MessageIntegrityKey()
        var buffer = [UInt8](repeating: 0, count: 100)
        buffer.withUnsafeMutableBytes { raw in
            var builder = STUNMessageBuilder(
                into: raw, messageClass: .request, transactionID: STUNTransactionID(high: 1, low: 2))
            builder.addMessageIntegrity(&key)
            #expect(builder.finish() == nil)
        }
    }

    @Test func anEmptyPasswordIsAlsoAKey() throws {
        var key = MessageIntegrityKey("")
        let bytes = try build(.request, STUNTransactionID(high: 1, low: 2)) { $0.addMessageIntegrity(&key) }
        try withMessage(bytes) { #expect(isAuthentic($0, "")) }
    }

    private func build(
        _ messageClass: STUNMessageClass, _ id: STUNTransactionID, _ body: (inout STUNMessageBuilder) -> Void
    ) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0xEE, count: STUN.sufficientBufferSize)
        let count = buffer.withUnsafeMutableBytes { raw in
            var builder = STUNMessageBuilder(into: raw, messageClass: messageClass, transactionID: id)
            body(&builder)
            return builder.finish()
        }
        return Array(buffer.prefix(try #require(count)))
    }
}
