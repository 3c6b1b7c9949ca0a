import Testing
import Transport

@testable import SCTP

@Suite("Messages that open a channel")
struct DataChannelMessageTests {
    /// As Chromium writes `createDataChannel("data")`, and others with their options.
    static let recorded: [(bytes: [UInt8], DataChannelParameters)] = [
        (
            [3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0x64, 0x61, 0x74, 0x61],
            DataChannelParameters(label: "data", priority: 0)
        ),
        (
            [3, 0x81, 1, 0, 0, 0, 0, 5, 0, 1, 0, 2, 0x61, 0x62, 0x63],
            DataChannelParameters(
                label: "a", protocolName: "bc", isOrdered: false, reliability: .retransmissions(5), priority: 256)
        ),
        (
            [3, 2, 2, 0, 0, 0, 0x0F, 0xA0, 0, 0, 0, 0],
            DataChannelParameters(label: "", reliability: .milliseconds(4_000), priority: 512)
        ),
    ]

    @Test("are read, and written as they were", arguments: recorded)
    func roundTrip(bytes: [UInt8], parameters: DataChannelParameters) {
        let message = bytes.withUnsafeBytes { DataChannelMessage($0) }
        #expect(message == .open(parameters))
        #expect(message?.bytes == bytes)
    }

    @Test("with an unknown reliability, or cut short, are refused")
    func refused() {
        for (bytes, _) in Self.recorded {
            for count in 0..<bytes.count {
                #expect(Array(bytes.prefix(count)).withUnsafeBytes { DataChannelMessage($0) } == nil)
            }
            var other = bytes
            other[1] = 3
            #expect(other.withUnsafeBytes { DataChannelMessage($0) } == nil)
        }
    }

    @Test("that are damaged are read or refused, and what is read can be written")
    func mutation() throws {
        var random = RandomSource.seeded(7)
        for _ in 0..<20_000 {
            var bytes = Self.recorded[Int(random.next() % 3)].bytes
            for _ in 0..<(random.next() % 4) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            guard case .open(let parameters) = bytes.withUnsafeBytes({ DataChannelMessage($0) }) else { continue }
            let again = DataChannelMessage.open(parameters).bytes.withUnsafeBytes { DataChannelMessage($0) }
            #expect(again == .open(parameters))
        }
    }
}
