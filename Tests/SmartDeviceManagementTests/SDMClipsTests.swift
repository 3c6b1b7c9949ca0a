import Foundation
import HomeHub
import HomeTypes
import SmartDeviceManagement
import Testing

@Suite struct SDMClipsTests {
    typealias Transport = Google.PushAvStreamTransportTrait

    func time(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_000 + seconds) }

    func motion(_ session: String, at seconds: Double, _ phase: DetectionEvent.Phase = .began) -> HomeChange {
        .detection(
            deviceID: "d", at: time(seconds), DetectionEvent(kind: .motion, phase: phase, eventSessionId: session))
    }

    func began(_ connection: UInt16 = 1, at seconds: Double) -> HomeChange {
        .recordingBegan(
            deviceID: "d", at: time(seconds), .init(connectionID: connection, triggerType: .motion))
    }

    func ended(_ connection: UInt16 = 1, at seconds: Double) -> HomeChange {
        .recordingEnded(deviceID: "d", at: time(seconds), .init(connectionID: connection))
    }

    /// The clips of some changes.
    func clips(_ changes: [HomeChange]) -> [SDMClips.Clip] {
        var clips = SDMClips()
        return changes.enumerated().compactMap { clips.take($1, id: "e\($0)") }
    }

    @Test func `a recording that an event has begun becomes its clip`() throws {
        let found = clips([motion("s1", at: 0), began(at: 1), motion("s1", at: 8, .ended), ended(at: 9)])
        let clip = try #require(found.first)
        #expect(found.count == 1 && clip.session == "s1" && clip.device == "d")
        #expect(clip.beganAt == time(1) && clip.endedAt == time(9))
        let message = SDMEvent(clip, id: "e3", project: "home", user: "u", base: "https://g.example")
        let happening = try #require(
            message.resourceUpdate?.events?["sdm.devices.events.CameraClipPreview.ClipPreview"])
        #expect(happening.eventSessionId == "s1" && happening.eventId == nil)
        let address = try #require(happening.previewUrl.flatMap { URLComponents(string: $0) })
        #expect(address.path == "/v1/devices/d/recordings/export.mp4")
        #expect(address.host == "g.example")
        #expect(
            address.queryItems == [
                .init(name: "from", value: "1970-01-01T00:16:41.000Z"),
                .init(name: "until", value: "1970-01-01T00:16:49.000Z"),
            ])
    }

    @Test func `a press is an event, too`() {
        let press = HomeChange.doorbellPressed(deviceID: "d", at: time(0), .init())
        #expect(clips([press, began(at: 1), ended(at: 5)]).map(\.session) == ["e0"])
    }

    @Test func `a recording without an event, or of one that is long over, becomes none`() {
        #expect(clips([began(at: 1), ended(at: 9)]).isEmpty)
        #expect(clips([motion("s1", at: 0), began(at: 31), ended(at: 40)]).isEmpty)
        #expect(clips([motion("s1", at: 0), ended(at: 9)]).isEmpty)
        #expect(clips([began(at: 1), ended(at: 9), motion("s1", at: 10)]).isEmpty)
        #expect(clips([motion("s1", at: 0), began(at: 1), .deviceRemoved(deviceID: "d"), ended(at: 9)]).isEmpty)
    }

    @Test func `each connection has recordings of its own`() {
        let found = clips([motion("s1", at: 0), began(1, at: 1), began(2, at: 2), ended(2, at: 5), ended(1, at: 9)])
        #expect(found.map(\.beganAt) == [time(2), time(1)])
    }

    @Test func `a move names the new place, or the enterprise`() {
        let parent = SDMParent(parent: "enterprises/home/structures/s1", displayName: "Home")
        for (place, subject) in [(parent, parent.parent), (nil, "enterprises/home")] as [(SDMParent?, String)] {
            let message = SDMEvent(moved: "d", to: place, id: "e", project: "home", user: "u", now: time(0))
            #expect(message.relationUpdate?.type == "UPDATED" && message.relationUpdate?.subject == subject)
            #expect(message.relationUpdate?.object == "enterprises/home/devices/d")
        }
    }
}
