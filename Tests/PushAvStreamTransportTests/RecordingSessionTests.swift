import Foundation
import PushAvStreamTransport
import Testing

@Suite("The description of a recording")
struct RecordingSessionTests {
    @Test("It survives its JSON")
    func survivesJSON() throws {
        let session = RecordingSession(
            id: .init(device: "d1", start: 1_700_000_000_000, epoch: 3, sequence: 7), connection: 1, number: 9,
            trigger: .init(kind: .motion, reason: "motion in Driveway", events: ["e1"]), triggeredAt: 1_700_000_005_000,
            tracks: [
                .init(
                    name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000,
                    initializationSegment: Data([0, 1, 2]), width: 1_280, height: 720)
            ])
        let read = try JSONDecoder().decode(RecordingSession.self, from: JSONEncoder().encode(session))
        #expect(read == session)
    }
}
