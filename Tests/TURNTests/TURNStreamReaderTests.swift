import TURN
import Testing
import Transport

@Suite struct TURNStreamReaderTests {
    private let message: [UInt8] = [1, 1, 0, 4] + [UInt8](repeating: 7, count: 20)
    private let channel: [UInt8] = [0x40, 1, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0]

    @Test(arguments: 1...48)
    func messagesComeOutWhereverTheStreamIsCut(size: Int) throws {
        let stream = message + channel + channel + message
        var reader = TURNStreamReader()
        var found: [[UInt8]] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            stream[start..<min(start + size, stream.count)].withUnsafeBytes { reader.append($0) }
            while try reader.next({ found.append(Array($0)) }) {}
        }
        #expect(found == [message, Array(channel.prefix(9)), Array(channel.prefix(9)), message])
    }

    @Test(arguments: [[0x80, 0, 0, 0], [0x16, 3, 1, 0], [0, 1, 0, 3]] as [[UInt8]])
    func anythingElseEndsTheStream(bytes: [UInt8]) {
        var reader = TURNStreamReader()
        bytes.withUnsafeBytes { reader.append($0) }
        #expect(throws: TURNStreamReader.Malformed.self) { try reader.next { _ in } }
    }

    @Test func randomBytesNeverTrap() {
        var random = RandomSource.seeded(11)
        for _ in 0..<3000 {
            var reader = TURNStreamReader()
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                var bytes = (0..<Int.random(in: 0..<64, using: &random)).map { _ in
                    UInt8(truncatingIfNeeded: random.next())
                }
                if !bytes.isEmpty { bytes[0] &= 0x43 }
                bytes.withUnsafeBytes { reader.append($0) }
                var turns = 0
                while (try? reader.next({ _ in })) == true {
                    turns += 1
                    #expect(turns < 1000)
                }
            }
        }
    }
}
