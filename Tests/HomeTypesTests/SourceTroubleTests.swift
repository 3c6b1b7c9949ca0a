import Foundation
import HomeTypes
import Testing

@Suite struct SourceTroubleTests {
    /// What a client of another make reads.
    private struct Written: Decodable {
        var reason: String
    }

    @Test(arguments: [
        (SourceTrouble("no route to host"), "no route to host"),
        (SourceTrouble("no route to host", attempts: .next(seconds: 3)), "no route to host; the next try is in 3 s"),
        (
            SourceTrouble("no route to host", attempts: .failed(4)),
            "no route to host; given up for now after 4 such failures"
        ),
    ])
    func `a client reads why a source does not work as one text`(trouble: SourceTrouble, words: String) throws {
        let source = CameraSourceStatus(state: .backingOff, trouble: trouble, cause: .noRoute)
        let events = EventSourceStatus(state: .backingOff, trouble: trouble)
        #expect(source.reason == words && events.reason == words)
        for data in [try JSONEncoder().encode(source), try JSONEncoder().encode(events)] {
            #expect(try JSONDecoder().decode(Written.self, from: data).reason == words)
        }
        let read = try JSONDecoder().decode(CameraSourceStatus.self, from: JSONEncoder().encode(source))
        #expect(read.trouble == SourceTrouble(words) && read.cause == .noRoute)
    }

    @Test func `a source without trouble says nothing about it`() throws {
        let source = CameraSourceStatus(state: .flowing, tracks: [CameraTrack(kind: "video", codec: "H264")])
        let data = try JSONEncoder().encode(source)
        #expect(try JSONDecoder().decode(CameraSourceStatus.self, from: data) == source)
        #expect(!String(decoding: data, as: UTF8.self).contains("reason"))
    }
}
