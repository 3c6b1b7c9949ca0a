import Testing
import Transport

@testable import Signalling

/// Which refusals of publishers are reported, whatever their protocol.
@Suite struct RefusedPublishersTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    @Test func `a refusal is reported at once, and then once a minute with how often it came`() {
        var refused = RefusedPublishers()
        let first = refused.record(camera: "phone", host: "192.0.2.1", reason: "no", at: start)
        #expect(first == 1)
        for second in 1..<60 {
            let again = refused.record(camera: "phone", host: "192.0.2.1", reason: "no", at: start + .seconds(second))
            #expect(again == nil)
        }
        // Another camera, host or reason is another refusal.
        let others = [
            refused.record(camera: "door", host: "192.0.2.1", reason: "no", at: start),
            refused.record(camera: "phone", host: "192.0.2.2", reason: "no", at: start),
            refused.record(camera: "phone", host: "192.0.2.1", reason: "never", at: start),
        ]
        #expect(others == [1, 1, 1])
        let later = refused.record(camera: "phone", host: "192.0.2.1", reason: "no", at: start + .seconds(60))
        #expect(later == 60)
        let after = refused.record(camera: "phone", host: "192.0.2.1", reason: "no", at: start + .seconds(61))
        #expect(after == nil)
    }

    @Test func `names without end cost a bounded number of reports and of memory`() {
        var refused = RefusedPublishers()
        var told = 0
        for number in 0..<1_000 {
            let count = refused.record(camera: "\(number)", host: "192.0.2.1", reason: "no", at: start)
            if count != nil { told += 1 }
        }
        #expect(told == RefusedPublishers.maximumOfHost)
        // That hides nothing of other hosts, as long as they are not too many either.
        for host in 2..<100 {
            let count = refused.record(camera: "phone", host: "192.0.2.\(host)", reason: "no", at: start)
            if count != nil { told += 1 }
        }
        #expect(told == RefusedPublishers.maximumRecords)
        // A minute later there is room again.
        let later = refused.record(camera: "new", host: "192.0.2.1", reason: "no", at: start + .seconds(60))
        #expect(later == 1)
    }
}
