import HomeHub
import HomeTypes
import Testing
import Transport

@testable import Gateway

@Suite struct CameraStreamsTests {
    private let streams = CameraStreams()
    private let caller = Caller(principal: "cloud")
    private let start = Instant(nanoseconds: 0)

    @Test func `a stream takes one offer at a time, and another one after a refusal`() {
        let (id, token) = streams.add("door", for: caller, at: start)
        #expect(streams.take(id) && !streams.take(id))
        streams.giveBack(id)
        #expect(streams.take(id))
        #expect(streams.record(session: "s1", of: id))
        #expect(!streams.take(id))
        #expect(streams.stream(id, token: token, at: start + .seconds(3_600))?.session == "s1")
    }

    @Test func `a stream that has ended takes no live view`() {
        let (id, _) = streams.add("door", for: caller, at: start)
        #expect(streams.take(id))
        #expect(streams.remove(id)?.session == nil)
        #expect(!streams.record(session: "s1", of: id))
        #expect(!streams.take(id))
    }

    @Test(arguments: [true, false]) func `streams that nobody watches give way first`(isOnePrincipal: Bool) {
        let (watched, token) = streams.add("door", for: caller, at: start)
        #expect(streams.take(watched) && streams.record(session: "s1", of: watched))
        var ids: [(id: String, token: String)] = []
        for index in 1...(isOnePrincipal ? CameraStreams.share : CameraStreams.capacity) {
            let caller = isOnePrincipal ? caller : Caller(principal: "cloud \(index % 8)")
            ids.append(streams.add("door", for: caller, at: start + .milliseconds(index)))
        }
        let end = start + .seconds(1)
        #expect(streams.stream(watched, token: token, at: end) != nil)
        #expect(streams.stream(ids[0].id, token: ids[0].token, at: end) == nil)
        #expect(streams.stream(ids[1].id, token: ids[1].token, at: end) != nil)
    }

    @Test func `one principal's streams take no place of another's`() {
        let (id, token) = streams.add("door", for: Caller(principal: "other"), at: start)
        for index in 1...(2 * CameraStreams.capacity) {
            _ = streams.add("door", for: caller, at: start + .milliseconds(index))
        }
        #expect(streams.stream(id, token: token, at: start + .seconds(1)) != nil)
    }
}
