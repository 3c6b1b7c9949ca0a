import PacketFakes
import RTP
import SDP
import StreamFormats
import Testing
import Transport

@testable import Cameras

/// A publisher whose protocol brings pictures and sound, and not packets.
struct PublishedOutputTests {
    private static let video = StreamTrack(.h264(parameterSets: [[0x67, 0x42, 0xC0, 30, 1], [0x68, 1, 2]]))
    private static let audio = StreamTrack(.aac(config: [0x11, 0x88]))
    private let now = Instant.zero + .seconds(1)

    private func picture(at time: Int64, track: Int = 0) -> StreamUnit {
        let bytes: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xC0, 30, 1, 0, 0, 0, 1, 0x68, 1, 2, 0, 0, 0, 1, 0x65, 0x88, 4]
        return StreamUnit(track: track, bytes: bytes, presentation: time, decoding: time)
    }

    @Test func `Tracks are described with the picture first, and those that cannot be are left out`() {
        let described = PublishedOutput.descriptions(of: [Self.audio, Self.video])
        #expect(described.map(\.codec.name) == ["H264", "mpeg4-generic"] && described.map(\.payloadType) == [96, 97])
        #expect(PublishedOutput.descriptions(of: [StreamTrack(.aac(config: []))]).isEmpty)
    }

    @Test func `Units become the camera's packets until another publisher takes over`() async throws {
        let (source, sink) = (PublishedSource(), RecordingSink())
        source.start(sink: sink)
        let tracks = [Self.audio, Self.video]
        let descriptions = PublishedOutput.descriptions(of: tracks)
        let began = source.begin(descriptions, requestKeyFrame: { _ in }, ended: { _ in })
        let first = try #require(began)
        var output = PublishedOutput(first, random: .seeded(1))
        output.take(picture(at: 0, track: 1), of: tracks, at: now, wallClock: 0)
        let sound = StreamUnit(track: 0, bytes: [1, 2, 3], presentation: 900, decoding: 900)
        output.take(sound, of: tracks, at: now, wallClock: 0)
        let second = source.begin(descriptions, requestKeyFrame: { _ in }, ended: { _ in })
        // These come too late.
        output.take(picture(at: 3600, track: 1), of: tracks, at: now + .milliseconds(40), wallClock: 0)
        output.take(picture(at: 7200, track: 0), of: [Self.video], at: now + .seconds(2), wallClock: 0)
        source.stop()
        let items = await sink.rest()
        #expect(second != nil)
        let pictures = items.packets(ofTrack: 0)
        #expect(pictures.last?.flags.contains(.marker) == true)
        #expect(Set(pictures.map(\.timestamp)) == [0] && items.packets(ofTrack: 1).count == 1)
        #expect(
            items.states == [
                .backingOff(seconds: 0, reason: .noPublisher(after: nil)), .connecting, .flowing, .connecting, .stopped,
            ])
    }

    @Test func `A publisher reports its tracks once, and again when they change`() async throws {
        let (source, sink) = (PublishedSource(), RecordingSink())
        source.start(sink: sink)
        let (one, both) = ([Self.video], [Self.video, Self.audio])
        let descriptions = [PublishedOutput.descriptions(of: one), PublishedOutput.descriptions(of: both)]
        let began = source.begin(descriptions[0], requestKeyFrame: { _ in }, ended: { _ in })
        let publication = try #require(began)
        var output = PublishedOutput(publication, random: .seeded(1))
        output.take(picture(at: 0), of: one, at: now, wallClock: 0)
        output.take(picture(at: 90_000), of: one, at: now + .seconds(1), wallClock: 1_000_000_000)
        output.take(picture(at: 180_000), of: both, at: now + .seconds(2), wallClock: 2_000_000_000)
        source.stop()
        let items = await sink.rest()
        let reports = items.compactMap { item -> [TrackDescription]? in
            guard case .event(.tracks(let tracks)) = item else { return nil }
            return tracks
        }
        #expect(reports == descriptions)
        // The packets go where the first report said.
        #expect(Set(items.packets(ofTrack: 0).map(\.timestamp)).count >= 2)
    }
}

struct WaitingUnitsTests {
    private func unit(at time: Int64, length: Int = 1) -> StreamUnit {
        StreamUnit(track: 0, bytes: [UInt8](repeating: 0, count: length), presentation: time, decoding: time)
    }

    @Test func `A stream waits for its tracks a second of its own time, three of ours, or some megabytes`() {
        var waiting = WaitingUnits()
        var isOver = waiting.add(unit(at: 0), awaitsTracks: false, at: .zero)
        #expect(isOver)
        waiting = WaitingUnits()
        isOver = waiting.add(unit(at: 0), awaitsTracks: true, at: .zero)
        #expect(!isOver)
        isOver = waiting.add(unit(at: 89_999), awaitsTracks: true, at: .zero)
        #expect(!isOver)
        isOver = waiting.add(unit(at: 90_000), awaitsTracks: true, at: .zero)
        #expect(isOver)
        let taken = waiting.take()
        #expect(taken.map(\.decoding) == [0, 89_999, 90_000])
        // Nothing is left, and the wait begins again.
        isOver = waiting.add(unit(at: 500_000), awaitsTracks: true, at: .zero + .seconds(9))
        #expect(!isOver)
        isOver = waiting.add(unit(at: 500_000), awaitsTracks: true, at: .zero + .seconds(12))
        #expect(isOver)
        waiting = WaitingUnits()
        isOver = waiting.add(unit(at: 0, length: 4 << 20), awaitsTracks: true, at: .zero)
        #expect(!isOver)
        isOver = waiting.add(unit(at: 0, length: 4 << 20), awaitsTracks: true, at: .zero)
        #expect(isOver)
    }
}
