import FragmentedMP4
import RTP
import RecordingFakes
import StationFakes
import Testing
import Transport

@testable import PushAvStreamTransport
@testable import RTSPServer

/// `Frames` and `Rate-Control`: which pictures of a recording are sent, and how fast.
@Suite("which recorded pictures are sent, and how fast", .timeLimit(.minutes(10)))
struct ReplayMannerTests {
    private static let path = "recordings/door"

    /// The pictures of a recording.
    enum Video: String, CaseIterable {
        case vp8, h264, h265

        /// Their codec, with the parameter sets of real pictures.
        func codec() throws -> MP4Track.Codec {
            switch self {
            case .vp8: return .vp8(width: 320, height: 180)
            case .h264:
                let sets = try #require(CodedPictures.h264().first).payloads
                return .h264(
                    width: CodedPictures.width, height: CodedPictures.height, sequenceParameterSets: [sets[0]],
                    pictureParameterSets: [sets[1]])
            case .h265:
                let sets = try #require(CodedPictures.h265().first).payloads
                return .h265(
                    width: CodedPictures.width, height: CodedPictures.height, videoParameterSets: [sets[0]],
                    sequenceParameterSets: [sets[1]], pictureParameterSets: [sets[2]])
            }
        }
    }

    @Test("the header fields of a PLAY are read, and unknown values refused")
    func fields() {
        func manner(_ frames: String?, _ rateControl: String? = nil) -> ReplayManner? {
            ReplayManner(frames: frames, rateControl: rateControl)
        }
        #expect(manner(nil) == ReplayManner())
        #expect(manner("all", "yes") == ReplayManner())
        #expect(manner("Intra")?.frames == .intra(interval: 0))
        #expect(manner("intra/4000")?.frames == .intra(interval: 4_000_000))
        #expect(
            manner("predicted", "NO")
                == {
                    var wanted = ReplayManner()
                    wanted.frames = .predicted
                    wanted.isPaced = false
                    return wanted
                }())
        for unknown in ["", "intra/", "intra/-1", "intra/x", "intra/1/2", "intra/99999999999999999999", "all/5", "i"] {
            #expect(manner(unknown) == nil, "\(unknown)")
        }
        #expect(manner(nil, "maybe") == nil)
    }

    @Test("key frames alone come without sound, and as far apart as was asked for", arguments: [0, 2_000])
    func intra(interval: Int) async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 6)
        let field = interval == 0 ? "Frames: intra" : "Frames: intra/\(interval)"
        let (pictures, sound) = try await FootageReplayTests.play(
            house, "npt=0-", field, "Rate-Control: no", goodbyes: 1)
        let expected: [Int64] = interval == 0 ? [0, 1_000, 2_000, 3_000, 4_000, 5_000] : [0, 2_000, 4_000]
        #expect(pictures.map(\.milliseconds) == expected)
        #expect(sound.isEmpty)
        #expect(pictures.allSatisfy { $0.flags.contains(.cleanPoint) })
        #expect(pictures.indices.filter { pictures[$0].flags.contains(.discontinuity) } == [0])
        // The pictures after it were left out.
        #expect(pictures.indices.filter { pictures[$0].flags.contains(.terminal) } == [pictures.count - 1])
    }

    @Test("a section begins and ends with its own key frames, however few there are")
    func sections() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 2)
        try house.recordings.add(start: FootageHouse.start + 4_000, seconds: 1, sequence: 2)
        let (pictures, _) = try await FootageReplayTests.play(
            house, "npt=0-", "Frames: intra/60000", "Rate-Control: no", goodbyes: 1)
        #expect(pictures.map(\.milliseconds) == [0, 4_000])
        #expect(
            pictures.map(\.flags) == [
                [.cleanPoint, .discontinuity, .endOfSection], [.cleanPoint, .discontinuity, .endOfSection, .terminal],
            ])
    }

    @Test("footage without rate control is due at once and keeps its timestamps", arguments: Video.allCases)
    func unpaced(video: Video) async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 3, codec: video.codec())
        var manner = ReplayManner()
        manner.isPaced = false
        let block = try await Self.block(house, manner)
        // More than the half second that is read at a time otherwise.
        #expect(block.packets.count == 75 + 150)
        #expect(block.packets.allSatisfy { $0.due == .zero })
        #expect(block.packets.filter { $0.track == 0 }.map(\.shown) == (0..<75).map { .milliseconds($0 * 40) })
        let client = try FootageClient(house)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path, "Rate-Control: no", "Scale: 2").status == 200)
        let media = await client.media()
        Self.expectEverything(of: media.packets[0] ?? [], pictures: 75)
        #expect(media.packets[2]?.count == 150)
        #expect(try await client.ask("PLAY", Self.path, "Frames: some").status == 400)
    }

    @Test("what a slow client has not read is not followed by more")
    func slowClient() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 3)
        for isPaced in [true, false] {
            var manner = ReplayManner()
            manner.isPaced = isPaced
            let (presentation, feed) = try Self.feed(house, manner)
            var playback = FootagePlayback(
                number: 1, feed: feed, times: presentation.timeline.range, scale: nil, range: nil, manner: manner,
                replaySequence: nil)
            playback.started = .zero
            playback.append(try await Self.block(house, manner).packets)
            playback.isHeld = true
            #expect(!playback.wantsMore(at: .zero + .seconds(60)))
            playback.isHeld = false
            // What has no time to wait for is read again only when it has been sent.
            #expect(playback.wantsMore(at: .zero + .seconds(60)) == isPaced)
            while playback.next(at: .zero + .seconds(60)) != nil {}
            #expect(playback.wantsMore(at: .zero + .seconds(60)))
        }
    }

    /// Expects the packets of so many pictures, 40 ms apart, in order and without a gap.
    private static func expectEverything(
        of packets: [(timestamp: UInt32, sequence: UInt16)], pictures: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let steps = zip(packets, packets.dropFirst()).map { before, after in
            (time: after.timestamp &- before.timestamp, number: after.sequence &- before.sequence)
        }
        #expect(steps.allSatisfy { $0.number == 1 }, sourceLocation: sourceLocation)
        // A key frame may come in several packets, with the parameter sets in the first ones.
        #expect(steps.allSatisfy { $0.time == 0 || $0.time == 3_600 }, sourceLocation: sourceLocation)
        #expect(steps.count { $0.time > 0 } == pictures - 1, sourceLocation: sourceLocation)
    }

    @Test("footage without rate control goes in datagrams, too", arguments: Video.allCases)
    func datagrams(video: Video) async throws {
        let house = try FootageHouse { $0.reportInterval = .seconds(3_600) }
        // So little that the sockets hold it, however late they are read.
        try house.recordings.add(start: FootageHouse.start, seconds: 1, codec: video.codec())
        let receivers = try await Self.play(house)
        defer { for receiver in receivers { receiver.close() } }
        let pictures = receivers[0].packets()
        Self.expectEverything(of: pictures, pictures: 25)
        #expect(receivers[1].packets().count == 50)
    }

    @Test("footage that has to wait for the client ends in datagrams, too", arguments: Video.allCases)
    func datagramsThatWait(video: Video) async throws {
        let house = try FootageHouse { $0.reportInterval = .seconds(3_600) }
        try house.recordings.add(
            start: FootageHouse.start, seconds: 8, codec: video.codec(),
            keyFrames: [[UInt8](repeating: 7, count: 300_000)])
        // More than the sockets hold: what is lost on the way is nobody's fault.
        for receiver in try await Self.play(house) { receiver.close() }
    }

    /// Plays everything in datagrams, and waits for the goodbyes.
    private static func play(_ house: FootageHouse) async throws -> [DatagramReceiver] {
        let client = try FootageClient(house)
        let receivers = try (0..<2).map { _ in try DatagramReceiver() }
        for (track, receiver) in receivers.enumerated() {
            let answer = try await client.ask("SETUP", "\(path)/trackID=\(track)", receiver.transport)
            try #require(answer.status == 200, "\(answer.head)")
        }
        #expect(try await client.ask("PLAY", path, "Rate-Control: no").status == 200)
        for receiver in receivers {
            let saidGoodbye = await client.onThread { receiver.waitForGoodbye() }
            #expect(saidGoodbye)
        }
        return receivers
    }

    @Test("a client that reads at once gets footage at once", arguments: Video.allCases)
    func fastClient(video: Video) async throws {
        // With the usual interval, the next report would send on what had stopped.
        let house = try FootageHouse { $0.reportInterval = .seconds(3_600) }
        let count = 40
        try house.recordings.add(
            start: FootageHouse.start, seconds: count, codec: video.codec(),
            keyFrames: [[UInt8](repeating: 7, count: 300_000)])
        let client = try FootageClient(house)
        try await client.setUp(Self.path, tracks: 1)
        #expect(try await client.ask("PLAY", Self.path, "Frames: intra", "Rate-Control: no").status == 200)
        let media = await client.media(goodbyes: 1)
        #expect(Set((media.packets[0] ?? []).map(\.timestamp)).count == count)
        #expect(media.goodbyes.count == 1)
    }

    @Test("of the pictures between two others only those go that no other one needs")
    func predicted() throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 1)
        let track = try Self.feed(house, .init()).presentation.tracks[0]
        func sample(_ type: UInt8, referenced: Bool, shown: Int64, sync: Bool = false) -> FootageReader.Sample {
            FootageReader.Sample(
                isVideo: true, isSync: sync, data: [0, 0, 0, 2, type | (referenced ? 0x60 : 0), 0x80], decodeTime: 0,
                showTime: shown, track: track, beginsSection: sync, following: .sample)
        }
        var selection = PictureSelection(.predicted)
        let stream = [
            sample(5, referenced: true, shown: 0, sync: true), sample(1, referenced: true, shown: 120),
            sample(1, referenced: true, shown: 80), sample(1, referenced: false, shown: 40),
            sample(1, referenced: false, shown: 160), sample(1, referenced: true, shown: 240),
            sample(1, referenced: false, shown: 200),
        ]
        #expect(stream.map { selection.admits($0, .h264) } == [true, true, true, false, true, true, false])
        // VP8 has no such pictures.
        selection = PictureSelection(.predicted)
        #expect(stream.allSatisfy { selection.admits($0, .vp8) })
        // H.265: the even types below 16, of the highest layer; without a parameter set that is layer 6.
        #expect(!FootageCodec.h265.isReferenced([0, 0, 0, 2, 0 << 1, 7], track))
        #expect(FootageCodec.h265.isReferenced([0, 0, 0, 2, 1 << 1, 7], track))
        #expect(FootageCodec.h265.isReferenced([0, 0, 0, 2, 0 << 1, 1], track))
        #expect(FootageCodec.h264.isReferenced([0, 0, 0, 9, 1, 0], track), "it cannot be read")
    }

    private static func feed(
        _ house: FootageHouse, _ manner: ReplayManner
    ) throws -> (presentation: FootagePresentation, feed: FootageFeed) {
        let query = try #require(FootagePresentation.Query(uri: path))
        let presentation = try FootagePresentation(of: "door", query, in: house.recordings.store)
        let times = presentation.timeline.range
        var random = RandomSource.seeded(1)
        return (
            presentation,
            FootageFeed(
                presentation, from: times.lowerBound, until: times.upperBound, scale: 1, manner: manner,
                random: &random)
        )
    }

    private static func block(_ house: FootageHouse, _ manner: ReplayManner) async throws -> FootageFeed.Block {
        let feed = try feed(house, manner).feed
        return await withCheckedContinuation { continuation in feed.read { continuation.resume(returning: $0) } }
    }
}
