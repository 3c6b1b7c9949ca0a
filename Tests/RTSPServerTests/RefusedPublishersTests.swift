import Signalling
import StationFakes
import Testing
import Transport

@testable import RTSPServer

/// What is reported of publishers that are refused. They wait on sockets, so they need a thread of their own.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct RefusedPublishersTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    @Test func `a refusal is reported at once, and then once a minute with how often it came`() {
        var refused = RefusedPublishers()
        let first = refused.note(camera: "phone", host: "192.0.2.1", reason: "no", at: start)
        #expect(first == 1)
        for second in 1..<60 {
            let again = refused.note(camera: "phone", host: "192.0.2.1", reason: "no", at: start + .seconds(second))
            #expect(again == nil)
        }
        // Another camera, host or reason is another refusal.
        let others = [
            refused.note(camera: "door", host: "192.0.2.1", reason: "no", at: start),
            refused.note(camera: "phone", host: "192.0.2.2", reason: "no", at: start),
            refused.note(camera: "phone", host: "192.0.2.1", reason: "never", at: start),
        ]
        #expect(others == [1, 1, 1])
        let later = refused.note(camera: "phone", host: "192.0.2.1", reason: "no", at: start + .seconds(60))
        #expect(later == 60)
        let after = refused.note(camera: "phone", host: "192.0.2.1", reason: "no", at: start + .seconds(61))
        #expect(after == nil)
    }

    @Test func `names without end cost a bounded number of reports and of memory`() {
        var refused = RefusedPublishers()
        var told = 0
        for number in 0..<1_000 {
            let count = refused.note(camera: "\(number)", host: "192.0.2.1", reason: "no", at: start)
            if count != nil { told += 1 }
        }
        #expect(told == RefusedPublishers.maximumRecords)
        // A minute later there is room again.
        let later = refused.note(camera: "new", host: "192.0.2.1", reason: "no", at: start + .seconds(60))
        #expect(later == 1)
    }

    @Test func `an encoder that tries again and again is reported once, in a short line`() throws {
        let house = try PublishingHouse()
        let client = try PublishingClient(house)
        for _ in 0..<20 {
            #expect(try client.announce("attic").status == 404)
        }
        let expected = RTSPServerNews.refusedPublisher(
            camera: "attic", host: "127.0.0.1", reason: SignallingError.unknownDevice("attic").words, count: 1)
        #expect(house.news.withLock { $0 } == [expected])
        let codec = String(repeating: "x", count: 2_000)
        let description = "v=0\ns=x\nm=audio 0 RTP/AVP 97\na=rtpmap:97 \(codec)/8000\na=control:0\n"
        #expect(try client.announce("phone", description).status == 415)
        guard case .refusedPublisher(let camera, _, let reason, 1) = house.news.withLock({ $0.last }) else {
            Issue.record("it is not reported")
            return
        }
        #expect(camera.utf8.count < 100 && reason.utf8.count < 600)
    }
}
