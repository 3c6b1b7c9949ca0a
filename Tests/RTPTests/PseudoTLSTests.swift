import Testing

@testable import RTP

@Suite struct PseudoTLSTests {
    private func read(_ bytes: [UInt8], by opening: inout PseudoTLSOpening) throws -> PseudoTLSOpening.Step {
        try bytes.withUnsafeBytes { raw throws(PseudoTLSOpening.NotAHello) in try opening.read(raw) }
    }

    @Test func aHelloIsTakenAtAnyCut() throws {
        let hello = PseudoTLSOpening.clientHello
        #expect(hello.count == 72)
        for cut in 0..<hello.count {
            var opening = PseudoTLSOpening()
            #expect(try read(Array(hello[..<cut]), by: &opening) == .incomplete)
            #expect(!opening.isOver)
            #expect(try read(Array(hello[cut...]) + [0, 1, 9], by: &opening) == .hello(byteCount: hello.count - cut))
            #expect(opening.isOver)
        }
    }

    @Test func framesBeginAtOnce() throws {
        var opening = PseudoTLSOpening()
        #expect(try read([], by: &opening) == .incomplete)
        #expect(try read([0], by: &opening) == .frames)
        #expect(opening.isOver)
        // Afterwards the bytes of the hello are bytes of a frame.
        #expect(try read(PseudoTLSOpening.clientHello, by: &opening) == .frames)
    }

    @Test func whatOnlyBeginsAsTheHelloIsRefused() {
        for index in 1..<PseudoTLSOpening.clientHello.count {
            var opening = PseudoTLSOpening()
            var bytes = PseudoTLSOpening.clientHello
            bytes[index] ^= 1
            #expect(throws: PseudoTLSOpening.NotAHello.self) { try read(bytes, by: &opening) }
        }
    }

    @Test func theAnswerIsOneRecord() {
        let hello = PseudoTLSOpening.serverHello
        #expect(hello.count == 5 + (Int(hello[3]) << 8 | Int(hello[4])))
    }
}
