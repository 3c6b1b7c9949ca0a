import Testing
import Transport

@testable import RTP

/// The extension of recorded packets (ONVIF Streaming Specification, section 6.3).
@Suite struct ReplayHeaderExtensionTests {
    private static let time = NTPTimestamp(rawValue: 0xE9_12_34_56_80_00_00_01)

    @Test func itsBytesAreThoseOfTheSpecification() throws {
        let header = ReplayHeaderExtension(
            time: Self.time, flags: [.cleanPoint, .discontinuity], sequence: 0x2A)
        var packet = [UInt8](repeating: 0xFF, count: 30)
        packet[0] = 0x80
        let fits = packet.withUnsafeMutableBytes { header.write(into: $0, headerLength: 12) }
        #expect(fits)
        #expect(packet[0] == 0x90)
        #expect(
            Array(packet[12..<28]) == hex("ABAC 0003 E9123456 80000001 A0 2A 0000"))
        // Nothing around it is touched.
        #expect(packet[1..<12].allSatisfy { $0 == 0xFF } && packet[28...] == [0xFF, 0xFF])
        // A receiver that does not know the extension finds the payload behind it.
        let length = try packet.withUnsafeBytes { try RTPPacketView(parsing: $0).payload.count }
        #expect(length == 2)
    }

    @Test func aPacketWithoutRoomIsNotTouched() {
        let header = ReplayHeaderExtension(time: Self.time, flags: [], sequence: 0)
        var packet = [UInt8](repeating: 0x80, count: 27)
        let fits = packet.withUnsafeMutableBytes { header.write(into: $0, headerLength: 12) }
        #expect(!fits && packet.allSatisfy { $0 == 0x80 })
    }

    @Test func theFirstPacketHasTheDiscontinuityAndTheLastOneTheEnd() {
        let header = ReplayHeaderExtension(
            time: Self.time, flags: [.cleanPoint, .discontinuity, .endOfSection, .terminal], sequence: 0)
        #expect(header.part(isFirst: true, isLast: false).flags == [.cleanPoint, .discontinuity])
        #expect(header.part(isFirst: false, isLast: false).flags == .cleanPoint)
        #expect(header.part(isFirst: false, isLast: true).flags == [.cleanPoint, .endOfSection, .terminal])
        #expect(header.part(isFirst: true, isLast: true) == header)
    }
}
