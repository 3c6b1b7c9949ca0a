import Testing
import Transport

@testable import Signalling

/// How often publishers may begin, and replace one another.
@Suite struct PublisherStartsTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    @Test func `a camera is taken over at most once in an interval, and other cameras at any time`() {
        var starts = PublisherStarts()
        func begin(_ device: String, after milliseconds: Int) -> Duration? {
            starts.begin(device, takesOver: true, at: start + .milliseconds(milliseconds))
        }
        let waits = [
            begin("phone", after: 0), begin("phone", after: 999), begin("door", after: 999),
            begin("phone", after: 1_000), begin("phone", after: 1_001), begin("door", after: 1_500),
        ]
        #expect(waits == [nil, .milliseconds(1), nil, nil, .milliseconds(999), .milliseconds(499)])
    }

    @Test func `a publisher that begins again and again waits after ten times`() {
        var starts = PublisherStarts()
        func begin(after milliseconds: Int) -> Duration? {
            starts.begin("phone", takesOver: false, at: start + .milliseconds(milliseconds))
        }
        for number in 0..<PublisherStarts.most {
            let wait = begin(after: 100 * number)
            #expect(wait == nil)
        }
        let waits = [begin(after: 1_000), begin(after: 9_999), begin(after: 10_000), begin(after: 10_001)]
        #expect(waits == [.seconds(9), .milliseconds(1), nil, .milliseconds(99)])
        let other = starts.begin("door", takesOver: false, at: start + .seconds(1))
        #expect(other == nil)
    }
}
