import Testing
import Transport

@testable import Signalling

/// How often publishers may replace one another.
@Suite struct TakeoversTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    @Test func `a camera is taken over at most once in an interval, and other cameras at any time`() {
        var takeovers = Takeovers()
        func begin(_ device: String, after milliseconds: Int) -> Duration? {
            takeovers.begin(device, at: start + .milliseconds(milliseconds))
        }
        let waits = [
            begin("phone", after: 0), begin("phone", after: 999), begin("door", after: 999),
            begin("phone", after: 1_000), begin("phone", after: 1_001), begin("door", after: 1_500),
        ]
        #expect(waits == [nil, .milliseconds(1), nil, nil, .milliseconds(999), .milliseconds(499)])
    }
}
