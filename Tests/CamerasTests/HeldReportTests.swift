import RTP
import Testing

@testable import Cameras

/// Sender reports that have waited in a coalesced read.
@Suite struct HeldReportTests {
    private let report = HeldReport(ntp: NTPTimestamp(rawValue: 7 << 32), timestamp: 0xFFFF_FF00)

    @Test func aReportIsMovedToTheNewestPacket() {
        // A tenth of a second later, past the end of the timestamps.
        let moved = report.moved(to: 0xFFFF_FF00 &+ 9_000, clockRate: 90_000, atMost: .milliseconds(200))
        #expect(moved.timestamp == 0xFFFF_FF00 &+ 9_000)
        #expect(moved.ntp.rawValue == 7 << 32 + 429_496_730)
    }

    @Test(
        arguments: [
            // No packet, an older one, the same one, and one that is later than the report can have waited.
            nil, 0xFFFF_FF00 - 1, 0xFFFF_FF00, 0xFFFF_FF00 &+ 18_001,
        ] as [UInt32?])
    func otherPacketsChangeNothing(newest: UInt32?) {
        #expect(report.moved(to: newest, clockRate: 90_000, atMost: .milliseconds(200)) == report)
    }

    @Test func aTrackWithoutAClockRateChangesNothing() {
        #expect(report.moved(to: 1, clockRate: 0, atMost: .milliseconds(200)) == report)
    }
}
