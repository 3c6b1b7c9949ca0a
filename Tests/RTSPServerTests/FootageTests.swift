import PushAvStreamTransport
import RTSP
import RecordingFakes
import Stations
import Testing
import Transport

@testable import RTSPServer

@Suite("recorded footage by RTSP", .timeLimit(.minutes(10)))
struct FootageTests {
    private static let path = "recordings/door"

    /// The timestamps of a track at the beginning, from `RTP-Info`.
    private static func beginnings(_ answer: FootageClient.Answer) -> [(sequence: UInt16, timestamp: UInt32)] {
        (answer.field("RTP-Info") ?? "").split(separator: ",").map { entry in
            func value(_ name: String) -> String {
                String(entry.split(separator: ";").first { $0.hasPrefix(name) }?.dropFirst(name.count) ?? "")
            }
            return (UInt16(value("seq=")) ?? 0, UInt32(value("rtptime=")) ?? 0)
        }
    }

    @Test("a range is played from its key frame to its end, with the times of the recording")
    func range() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 6)
        let client = try FootageClient(house)
        let description = try await client.ask("DESCRIBE", Self.path)
        #expect(description.status == 200)
        #expect(description.body.contains("a=range:npt=0.000000-6.000000"))
        #expect(description.body.contains("VP8/90000"))
        try await client.setUp(Self.path)
        let play = try await client.ask("PLAY", Self.path, "Range: npt=2.5-3.5")
        #expect(play.status == 200)
        #expect(play.field("Range") == "npt=2.500000-3.500000")
        let begin = Self.beginnings(play)
        try #require(begin.count == 2)
        let media = await client.media()
        // Pictures from the key frame at 2 s to 3.5 s, sound from 2.5 s.
        let pictures = try #require(media.packets[0])
        let sound = try #require(media.packets[2])
        #expect(
            pictures.map { Int32(bitPattern: $0.timestamp &- begin[0].timestamp) }
                == (50..<88).map { $0 * 3_600 - 225_000 })
        #expect(
            sound.map { Int32(bitPattern: $0.timestamp &- begin[1].timestamp) } == (125..<175).map { ($0 - 125) * 960 })
        #expect(pictures.map(\.sequence) == (0..<38).map { begin[0].sequence &+ $0 })
        #expect(media.goodbyes == [1: "the end of the recording", 3: "the end of the recording"])
        // The reports have the wall clock of the recording (seconds since 1900).
        let captured = UInt32(truncatingIfNeeded: FootageHouse.start / 1_000 + 2_208_988_800)
        for report in media.reports.values { #expect((captured + 1...captured + 4).contains(report)) }

        // Another range, by the time of the day, in the same session.
        let again = try await client.ask("PLAY", Self.path, "Range: clock=20261121T222641Z-20261121T222641.5Z")
        #expect(again.status == 200)
        let second = await client.media()
        #expect(second.packets[2]?.count == 25)
        #expect(second.packets[0]?.count == 13)
        #expect(second.packets[0]?.first?.sequence == pictures.last.map { $0.sequence &+ 1 })
    }

    @Test("a range that begins with a segment begins with its key frame")
    func segmentStart() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 6)
        let client = try FootageClient(house)
        try await client.setUp(Self.path)
        let play = try await client.ask("PLAY", Self.path, "Range: npt=4-4.5")
        let begin = Self.beginnings(play)
        let media = await client.media()
        #expect(media.packets[0]?.count == 13)
        #expect(media.packets[0]?.first?.timestamp == begin.first?.timestamp)
    }

    @Test("what was not recorded, other units and other directions are refused")
    func refusals() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 2)
        let client = try FootageClient(house)
        #expect(try await client.ask("DESCRIBE", "recordings/attic").status == 404)
        #expect(try await client.ask("DESCRIBE", "recordings").status == 404)
        #expect(try await client.ask("DESCRIBE", "\(Self.path)?from=yesterday").status == 404)
        #expect(try await client.ask("DESCRIBE", "\(Self.path)?from=2030-01-01T00:00:00Z").status == 404)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path, "Range: smpte=0:0:1-").status == 501)
        #expect(try await client.ask("PLAY", Self.path, "Range: npt=7-9").status == 457)
        #expect(try await client.ask("PLAY", Self.path, "Range: npt=x").status == 457)
        #expect(try await client.ask("PLAY", Self.path, "Scale: -1").status == 406)
        let fast = try await client.ask("PLAY", Self.path, "Range: npt=0-", "Scale: 9")
        #expect(fast.field("Scale") == "4.0")
        let media = await client.media(goodbyes: 1)
        #expect(media.packets[0]?.count == 50)
        #expect(media.packets[2] == nil)
    }

    @Test("times without footage are kept, or left out where that was asked for")
    func gaps() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 2)
        try house.recordings.add(start: FootageHouse.start + 3_600_000, seconds: 2, sequence: 2)
        #expect(
            try await FootageClient(house).ask("DESCRIBE", Self.path).body.contains("a=range:npt=0.000000-3602.000000"))
        let client = try FootageClient(house)
        let description = try await client.ask("DESCRIBE", "\(Self.path)?gaps=cut")
        #expect(description.body.contains("a=range:npt=0.000000-4.000000"))
        try await client.setUp(Self.path)
        let play = try await client.ask("PLAY", Self.path, "Range: npt=1-3")
        let begin = Self.beginnings(play)
        let media = await client.media()
        #expect(media.packets[0]?.count == 50)
        let last = try #require(media.packets[0]?.last)
        #expect(last.timestamp &- begin[0].timestamp == 49 * 3_600)
    }

    @Test("footage that is deleted while it plays ends the connection with a reason")
    func deletion() async throws {
        let house = try FootageHouse()
        let session = try house.recordings.add(start: FootageHouse.start, seconds: 60)
        let client = try FootageClient(house)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path).status == 200)
        try house.recordings.store.delete(session.id)
        let media = await client.media()
        #expect(media.goodbyes[1] == "the recording was deleted while it was played")
        #expect((media.packets[0]?.count ?? 0) < 1_500)
    }

    @Test("a camera that is switched off shows no footage, and ends what plays")
    func off() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 60)
        let client = try FootageClient(house)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path).status == 200)
        #expect(await house.server.counters().playbacks == 1)
        await house.permits.set(OutputPolicy(isOn: false))
        #expect(house.permits.count == 0)
        _ = await client.media()
        let other = try FootageClient(house)
        #expect(try await other.ask("DESCRIBE", Self.path).status == 403)
        await house.permits.set(OutputPolicy())
        #expect(try await other.ask("DESCRIBE", Self.path).status == 200)
    }

    @Test("a description of another camera does not keep footage playing after the camera is switched off")
    func offAfterDescription() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 60)
        house.server.setCameras([ServedCamera(id: "yard", name: "Yard", tracks: { [video] })])
        let client = try FootageClient(house)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path).status == 200)
        #expect(try await client.ask("DESCRIBE", "yard").status == 200)
        #expect(house.permits.count == 1)
        await house.permits.set(OutputPolicy(isOn: false))
        #expect(await house.server.counters().playbacks == 0)
    }

    @Test("a session is about what was set up, whatever was described before")
    func describedBefore() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 6)
        house.server.setCameras([ServedCamera(id: "door", name: "Door", tracks: { [video] })])
        let live = try FootageClient(house)
        #expect(try await live.ask("DESCRIBE", Self.path).status == 200)
        #expect(house.permits.count == 1)
        try await live.setUp("door", tracks: 1)
        #expect(house.permits.count == 0)
        // The camera sends nothing, so the connection may end instead of an answer.
        _ = try? await live.ask("PLAY", "door")
        #expect(await house.server.counters().playbacks == 0)

        let recorded = try FootageClient(house)
        #expect(try await recorded.ask("DESCRIBE", Self.path).status == 200)
        #expect(try await recorded.ask("DESCRIBE", "door").status == 200)
        try await recorded.setUp(Self.path)
        #expect(try await recorded.ask("PLAY", Self.path, "Range: npt=5-").status == 200)
        #expect(await recorded.media().packets[0]?.count == 25)
    }

    @Test("who may not watch a camera any more plays nothing of it")
    func accessEnds() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 60)
        let client = try FootageClient(house)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path).status == 200)
        house.server.endReaders(of: "somebody else") { _ in false }
        house.server.endReaders(of: "") { $0 == "door" }
        #expect(await house.server.counters().playbacks == 1)
        house.server.endReaders(of: "") { _ in false }
        #expect(await house.server.counters().playbacks == 0)
    }

    @Test("searches for footage take readers' places, also after their clients have gone")
    func searches() async throws {
        let house = try FootageHouse { $0.admitsReader = { _, readers in readers.isEmpty } }
        try house.recordings.add(start: FootageHouse.start, seconds: 2)
        let (begun, begins) = AsyncStream<Void>.makeStream()
        let (gate, opens) = AsyncStream<Void>.makeStream()
        let permits = house.permits
        house.server.setFootage(
            FootageSource(
                store: house.recordings.store,
                permits: { _ in
                    begins.yield()
                    for await _ in gate { break }
                    return permits
                }))
        let first = try FootageClient(house)
        async let described = first.ask("DESCRIBE", Self.path)
        for await _ in begun { break }
        let second = try FootageClient(house)
        #expect(try await second.ask("DESCRIBE", Self.path).status == 503)
        let track = "\(Self.path)/trackID=0"
        #expect(
            try await second.ask("SETUP", track, "Transport: RTP/AVP/TCP;unicast;interleaved=0-1").status == 453)
        opens.finish()
        let answer = try await described
        #expect(answer.status == 200)
        #expect(try await second.ask("DESCRIBE", Self.path).status == 200)
    }

    @Test("a pause keeps the place")
    func pause() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 60)
        let client = try FootageClient(house)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path, "Range: npt=8-").status == 200)
        #expect(try await client.ask("PAUSE", Self.path).status == 200)
        // The rest comes at once: nobody has to wait for it.
        let range = try #require(await client.ask("PLAY", Self.path, "Rate-Control: no").field("Range"))
        let from = try #require(Double(range.dropFirst(4).prefix { $0 != "-" }))
        #expect((8..<60).contains(from))
        #expect(await client.media().goodbyes.count == 2)
    }
}
