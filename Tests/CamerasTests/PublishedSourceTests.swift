import PacketFakes
import RTP
import SDP
import Testing
import Transport

@testable import Cameras

@Suite struct PublishedSourceTests {
    static let tracks = [
        TrackDescription(kind: .video, codec: .vp8, payloadType: 96),
        TrackDescription(kind: .audio, codec: .opus, payloadType: 111),
    ]

    private let start = Instant(nanoseconds: 1_000_000_000)

    private func begin(
        _ source: PublishedSource, requestKeyFrame: @escaping @Sendable (Int) -> Void = { _ in },
        ended: @escaping @Sendable (PublicationEnd) -> Void = { _ in }
    ) -> Publication? {
        source.begin(Self.tracks, requestKeyFrame: requestKeyFrame, ended: ended)
    }

    private func send(
        _ publication: Publication, track: Int, sequenceNumber: UInt16, at now: Instant,
        _ payload: [UInt8] = [0x10, 0x10, 0]
    ) {
        var packet: [UInt8] = [0x80, track == 0 ? 0xE0 : 111, UInt8(sequenceNumber >> 8), UInt8(sequenceNumber & 0xFF)]
        packet += [0, 0, UInt8(sequenceNumber & 0x7F), 0, 0, 0, 0, 9] + payload
        packet.withUnsafeBytes { publication.receive($0, track: track, at: now) }
    }

    @Test func aPublisherIsTheCameraUntilItGoes() async throws {
        let (source, sink) = (PublishedSource(), RecordingSink())
        #expect(begin(source) == nil)
        source.start(sink: sink)
        let publication = try #require(begin(source))
        send(publication, track: 0, sequenceNumber: 1, at: start)
        send(publication, track: 1, sequenceNumber: 1, at: start)
        source.end(publication, because: .consentExpired)
        // Too late: it is the camera no more.
        send(publication, track: 0, sequenceNumber: 2, at: start)
        source.end(publication, because: .stopped)
        source.stop()
        let items = await sink.rest()
        #expect(
            items.states == [
                .backingOff(seconds: 0, reason: .noPublisher(after: nil)), .connecting, .flowing,
                .backingOff(seconds: 0, reason: .noPublisher(after: .consentExpired)), .stopped,
            ])
        #expect(items.contains(.event(.tracks(Self.tracks))))
        #expect(items.packets(ofTrack: 0).count == 1 && items.packets(ofTrack: 1).count == 1)
        #expect(items.packets(ofTrack: 0).first?.flags.contains([.keyFrame, .startsFrame, .marker]) == true)
    }

    @Test func theNewerPublisherTakesOver() async throws {
        let (source, sink) = (PublishedSource(), RecordingSink())
        let asked = Names()
        func ask(_ name: String) -> @Sendable (Int) -> Void { { _ in asked.add(name) } }
        source.start(sink: sink)
        let first = try #require(
            begin(source, requestKeyFrame: ask("first")))
        let second = try #require(
            begin(source, requestKeyFrame: ask("second")))
        send(first, track: 0, sequenceNumber: 1, at: start)
        send(second, track: 0, sequenceNumber: 500, at: start)
        source.requestKeyFrame(track: 0)
        // The end of the one before changes nothing.
        source.end(first, because: .stopped)
        source.stop()
        let items = await sink.rest()
        #expect(asked.all == ["second"])
        #expect(items.packets(ofTrack: 0).count == 1)
        #expect(items.states.dropFirst() == [.connecting, .connecting, .flowing, .stopped])
    }

    @Test func aPictureThatFreezesIsReported() async throws {
        let (source, sink) = (PublishedSource(), RecordingSink())
        source.start(sink: sink)
        let publication = try #require(begin(source))
        // It may never have begun.
        publication.receiveNothing(track: 0, since: start, at: start + .seconds(20))
        send(publication, track: 1, sequenceNumber: 0, at: start)
        send(publication, track: 0, sequenceNumber: 1, at: start)
        publication.receiveNothing(track: 0, since: start, at: start + .seconds(9))
        publication.receiveNothing(track: 1, since: start, at: start + .seconds(11))
        publication.receiveNothing(track: 0, since: start, at: start + .seconds(11))
        publication.receiveNothing(track: 0, since: start, at: start + .seconds(12))
        send(publication, track: 1, sequenceNumber: 1, at: start + .seconds(13))
        send(publication, track: 0, sequenceNumber: 2, at: start + .seconds(14))
        source.stop()
        #expect(
            await sink.rest().states.dropFirst(2) == [
                .stalled(track: 0), .flowing, .stalled(track: 0), .flowing, .stopped,
            ])
    }

    @Test func picturesOutOfDisplayOrderAreReported() async throws {
        let (source, sink) = (PublishedSource(), RecordingSink())
        source.start(sink: sink)
        let publication = try #require(begin(source))
        for (index, time) in [UInt32(0), 9_000, 3_000, 6_000, 18_000, 12_000, 15_000, 27_000, 21_000].enumerated() {
            var packet: [UInt8] = [0x80, 0xE0, 0, UInt8(index)]
            packet += withUnsafeBytes(of: time.bigEndian) { Array($0) } + [0, 0, 0, 9, 0x10, 0x10, 0]
            packet.withUnsafeBytes { publication.receive($0, track: 0, at: start) }
        }
        source.stop()
        let told = await sink.rest().compactMap { item -> Bool? in
            guard case .event(.tracks(let tracks)) = item else { return nil }
            return tracks[0].reordersPictures
        }
        #expect(told == [false, true])
    }

    @Test func aPublisherLearnsThatItsSourceWasStopped() throws {
        let (source, sink, told) = (PublishedSource(), RecordingSink(), Names())
        source.start(sink: sink)
        let tellFirst: @Sendable (PublicationEnd) -> Void = { told.add("first \($0)") }
        let tellSecond: @Sendable (PublicationEnd) -> Void = { told.add("second \($0)") }
        let ended = try #require(begin(source, ended: tellFirst))
        source.end(ended, because: .stopped)
        #expect(begin(source, ended: tellSecond) != nil)
        source.stop()
        source.stop()
        #expect(told.all == ["second cameraStopped"])
        #expect(begin(source) == nil)
    }

    @Test func aReplacedPublisherLearnsIt() throws {
        let (source, sink, told) = (PublishedSource(), RecordingSink(), Names())
        source.start(sink: sink)
        let tellFirst: @Sendable (PublicationEnd) -> Void = { told.add("first \($0)") }
        let tellSecond: @Sendable (PublicationEnd) -> Void = { told.add("second \($0)") }
        #expect(begin(source, ended: tellFirst) != nil)
        #expect(begin(source, ended: tellSecond) != nil)
        #expect(told.all == ["first replaced"])
        source.stop()
        #expect(told.all == ["first replaced", "second cameraStopped"])
    }
}

/// The calls, in order.
private final class Names: Sendable {
    private let names = Locked<[String]>([])

    var all: [String] { names.withLock { $0 } }

    func add(_ name: String) { names.withLock { $0.append(name) } }
}
