import PushAvStreamTransport
import RTP
import RecordingFakes
import Testing
import Transport

@testable import RTSPServer

/// The replay extension of recorded packets, for clients that require it.
@Suite("recorded footage with the times of its capture", .timeLimit(.minutes(10)))
struct FootageReplayTests {
    private static let path = "recordings/door"

    /// What the extension of a packet says.
    struct Replay: Equatable {
        /// Milliseconds since the recording began.
        var milliseconds: Int64
        var flags: ReplayHeaderExtension.Flags
        var sequence: UInt8

        init(_ bytes: [UInt8]) throws {
            try #require(bytes.count == 16 && bytes[..<4] == [0xAB, 0xAC, 0, 3])
            let ntp = bytes[4..<12].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let seconds = Int64(ntp >> 32) - 2_208_988_800
            let fraction = Int64(((ntp & 0xFFFF_FFFF) * 1_000_000) >> 32)
            milliseconds = seconds * 1_000 + (fraction + 500) / 1_000 - FootageHouse.start
            flags = .init(rawValue: bytes[12])
            sequence = bytes[13]
        }
    }

    /// Plays a range with the extension, and reads what comes until as many tracks have said goodbye.
    static func play(
        _ house: FootageHouse, _ range: String, _ fields: String..., goodbyes: Int = 2
    ) async throws -> (pictures: [Replay], sound: [Replay]) {
        let client = try FootageClient(house)
        for track in 0..<2 {
            let answer = try await client.ask(
                "SETUP", "\(path)/trackID=\(track)", "Require: onvif-replay",
                "Transport: RTP/AVP/TCP;unicast;interleaved=\(track * 2)-\(track * 2 + 1)")
            try #require(answer.status == 200, "\(answer.head)")
        }
        // The third request of the connection.
        let all = ["Range: \(range)", "Require: onvif-replay"] + fields
        try #require(await client.ask("PLAY", path, all).status == 200)
        let media = await client.media(goodbyes: goodbyes)
        #expect(media.packets[0]?.count == media.extensions[0]?.count)
        return (
            try (media.extensions[0] ?? []).map { try Replay($0) },
            try (media.extensions[2] ?? []).map { try Replay($0) }
        )
    }

    @Test("each packet says when it was captured, and which PLAY it answers")
    func times() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 6)
        let (pictures, sound) = try await Self.play(house, "npt=2.5-3.5")
        // From the key frame at 2 s, a picture each 40 ms and a sound each 20 ms.
        #expect(pictures.map(\.milliseconds) == (50..<88).map { Int64($0 * 40) })
        #expect(sound.map(\.milliseconds) == (125..<175).map { Int64($0 * 20) })
        #expect((pictures + sound).allSatisfy { $0.sequence == 3 })
        // Key frames each second, from the first picture on; every piece of sound can be decoded alone.
        #expect(pictures.indices.filter { pictures[$0].flags.contains(.cleanPoint) } == [0, 25])
        #expect(sound.allSatisfy { $0.flags.contains(.cleanPoint) })
        for track in [pictures, sound] {
            #expect(track.indices.filter { track[$0].flags.contains(.discontinuity) } == [0])
            #expect(track.indices.filter { track[$0].flags.contains(.endOfSection) } == [track.count - 1])
            #expect(track.indices.filter { track[$0].flags.contains(.terminal) } == [track.count - 1])
        }
    }

    @Test("a time without footage is between the end of a section and a discontinuity", arguments: ["keep", "cut"])
    func gap(gaps: String) async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 2)
        try house.recordings.add(start: FootageHouse.start + 4_000, seconds: 1, sequence: 2)
        let client = try FootageClient(house)
        let query = "\(Self.path)?gaps=\(gaps)"
        let description = try await client.ask("DESCRIBE", query, "Require: onvif-replay")
        // ONVIF's clients count by the time of the day, also where gaps are left out.
        #expect(description.body.contains("a=range:clock=20261121T222640.000000Z-20261121T222645.000000Z"))
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path, "Require: onvif-replay").status == 200)
        let media = await client.media()
        let pictures = try (media.extensions[0] ?? []).map { try Replay($0) }
        let expected: [Int64] = (0..<75).map { $0 < 50 ? $0 * 40 : ($0 - 50) * 40 + 4_000 }
        #expect(pictures.map(\.milliseconds) == expected)
        #expect(pictures.indices.filter { pictures[$0].flags.contains(.discontinuity) } == [0, 50])
        #expect(pictures.indices.filter { pictures[$0].flags.contains(.endOfSection) } == [49, 74])
        #expect(pictures.indices.filter { pictures[$0].flags.contains(.terminal) } == [74])
        let sound = try (media.extensions[2] ?? []).map { try Replay($0) }
        #expect(sound.indices.filter { sound[$0].flags.contains(.endOfSection) } == [99, 149])
    }

    @Test("a recording that continues in another one has no end between them")
    func continuation() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 2)
        try house.recordings.add(start: FootageHouse.start + 2_000, seconds: 1, sequence: 2)
        let (pictures, _) = try await Self.play(house, "npt=0-")
        #expect(pictures.count == 75)
        #expect(pictures.indices.filter { pictures[$0].flags.contains(.discontinuity) } == [0])
        #expect(pictures.indices.filter { pictures[$0].flags.contains(.endOfSection) } == [74])
    }

    @Test("a frame in several packets has its marks at its edges")
    func fragments() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 1, length: 3_000)
        let (pictures, _) = try await Self.play(house, "npt=0-")
        #expect(pictures.count == 75)
        #expect(pictures[..<3].map(\.flags) == [[.cleanPoint, .discontinuity], .cleanPoint, .cleanPoint])
        #expect(pictures.suffix(3).map(\.flags) == [[], [], [.endOfSection, .terminal]])
        #expect(Set(pictures[..<3].map(\.milliseconds)) == [0])
    }

    @Test("who does not require the extension does not get it, and a live camera has none")
    func notRequired() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 1)
        let client = try FootageClient(house)
        #expect(try await client.ask("DESCRIBE", "door", "Require: onvif-replay").status == 551)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path).status == 200)
        let media = await client.media()
        #expect(media.packets[0]?.count == 25 && media.extensions.isEmpty)
    }
}
