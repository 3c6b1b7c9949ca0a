import Foundation
import StationFakes
import Stations
import Testing

@testable import PushAvStreamTransport

/// Segments and parts of a live stream, cut from chunks that the test makes.
@Suite struct LiveWindowTests {
    private static let tracks = [
        RecordingSession.Track(
            name: "video", isVideo: true, codec: "avc1", timescale: 90_000, initializationSegment: .init()),
        RecordingSession.Track(
            name: "audio", isVideo: false, codec: "opus", timescale: 48_000, initializationSegment: .init()),
    ]

    private static func description(_ number: UInt64) -> LiveDescription {
        LiveDescription(tracks: tracks, header: [UInt8(number)], number: number)
    }

    /// Pictures at ten a second with a key frame each second, and sound between them.
    private static func chunks(_ numbers: Range<Int>) -> [LiveChunk] {
        numbers.flatMap { number in
            [
                LiveChunk(
                    track: 0, canBegin: number % 10 == 0, decodeTime: Int64(number) * 9_000, duration: 9_000,
                    bytes: [UInt8(number & 0xFF)]),
                LiveChunk(
                    track: 1, canBegin: false, decodeTime: Int64(number) * 4_800, duration: 4_800, bytes: [0xFF]),
            ]
        }
    }

    private static func window(_ change: (inout LiveWindow.Configuration) -> Void = { _ in }) -> LiveWindow {
        var configuration = LiveWindow.Configuration()
        change(&configuration)
        return LiveWindow(LiveSubscription {}, configuration: configuration)
    }

    @Test func `segments begin with key frames, and parts have the length that is announced`() {
        let window = Self.window()
        window.take(.began(Self.description(1)))
        window.take(.chunks(Self.chunks(0..<48)))
        let content = window.content
        #expect(content.segments.map(\.number) == [0, 1, 2])
        #expect(content.segments.map(\.isComplete) == [true, true, false])
        #expect(content.segments[0].parts.map { ($0.duration * 10).rounded() } == [5, 5, 5, 5])
        #expect(content.segments[0].parts.map(\.isIndependent) == [true, false, true, false])
        #expect(content.segments[1].parts[0].bytes.first == 20)
        // Nothing is lost and nothing comes twice.
        let pictures = content.segments.flatMap(\.parts).flatMap(\.bytes).filter { $0 != 0xFF }
        #expect(pictures == (0..<45).map { UInt8($0) })
        #expect(content.next == (2, 1))
        #expect(content.longestPart <= 0.501 && abs(content.longestSegment - 2) < 0.001)
    }

    @Test func `another description is a discontinuity with its own header`() {
        let window = Self.window()
        window.take(.began(Self.description(1)))
        window.take(.chunks(Self.chunks(0..<12)))
        window.take(.began(Self.description(2)))
        // What comes before a key frame cannot be shown.
        window.take(.chunks(Self.chunks(15..<26)))
        let content = window.content
        #expect(content.segments.map(\.header) == [1, 2])
        #expect(content.segments.map(\.isDiscontinuous) == [false, true])
        #expect(content.segments[0].isComplete)
        #expect(content.segments[1].parts[0].bytes.first == 20)
        #expect(window.header(1)?.header == [1] && window.header(2)?.header == [2] && window.header(3) == nil)
    }

    @Test func `old segments go, and are counted as the standard wants it`() {
        let window = Self.window { $0.segments = 2 }
        window.take(.began(Self.description(1)))
        window.take(.chunks(Self.chunks(0..<20)))
        window.take(.began(Self.description(2)))
        window.take(.chunks(Self.chunks(0..<100)))
        #expect(window.content.segments.count <= 3)
        #expect(window.content.discontinuities == 1)
        #expect(window.header(2) != nil)
        #expect(window.content.segments.map(\.number) == window.content.segments.map(\.number).sorted())
    }

    @Test func `segments do not take more memory than they may`() {
        let window = Self.window { $0.bytes = 60 }
        window.take(.began(Self.description(1)))
        window.take(.chunks(Self.chunks(0..<200)))
        #expect(window.content.segments.flatMap(\.parts).flatMap(\.bytes).count <= 100)
    }

    @Test func `a camera that sends no key frame any more takes no memory for ever`() {
        let window = Self.window { $0.bytes = 60 }
        window.take(.began(Self.description(1)))
        window.take(.chunks(Self.chunks(0..<1)))
        for _ in 0..<200 { window.take(.chunks(Self.chunks(1..<10))) }
        #expect(window.content.segments.flatMap(\.parts).flatMap(\.bytes).count <= 62)
        #expect(window.content.segments.allSatisfy { $0.isComplete })
        // It goes on with the next key frame, whose times do not continue.
        window.take(.chunks(Self.chunks(10..<16)))
        #expect(window.content.segments.last?.isDiscontinuous == true)
        #expect(window.content.next.segment == 1 && window.content.segments.last?.parts.first?.bytes.first == 10)
    }

    @Test func `a request for the next part waits until the part is there`() async throws {
        let window = Self.window()
        window.take(.began(Self.description(1)))
        window.take(.chunks(Self.chunks(0..<6)))
        #expect(window.content.next == (0, 1))
        let part = Task { try await window.wait(segment: 0, part: 1, atMost: .seconds(3_600)) }
        let segment = Task { try await window.wait(segment: 0, part: nil, atMost: .seconds(3_600)) }
        window.take(.chunks(Self.chunks(6..<11)))
        #expect(try await part.value)
        window.take(.chunks(Self.chunks(11..<21)))
        #expect(try await segment.value)
        let isLater = try await window.wait(segment: 9, part: 0, atMost: .milliseconds(1))
        #expect(!isLater)
    }

    @Test func `a request that is cancelled stops waiting, and the others go on`() async throws {
        let window = Self.window()
        window.take(.began(Self.description(1)))
        let waits = (0..<2).map { _ in
            Task { try await window.wait(segment: 0, part: 0, atMost: .seconds(3_600)) }
        }
        #expect(await eventually { window.waitCount == 2 })
        waits[0].cancel()
        #expect(try await !waits[0].value)
        #expect(window.waitCount == 1)
        window.take(.chunks(Self.chunks(0..<6)))
        #expect(try await waits[1].value)
    }

    @Test func `those who wait learn that their camera has gone`() async throws {
        let subscription = LiveSubscription {}
        let window = LiveWindow(subscription)
        window.take(.began(Self.description(1)))
        window.take(.chunks(Self.chunks(0..<6)))
        let next = window.content.next
        let waiting = Task { try await window.wait(segment: next.segment, part: next.part, atMost: .seconds(3_600)) }
        #expect(await eventually { window.waitCount == 1 })
        subscription.end()
        await window.run()
        #expect(try await !waiting.value)
        #expect(window.hasEnded && window.content.segments.isEmpty)
    }

    @Test func `those who wait learn why the stream has ended`() async throws {
        let subscription = LiveSubscription {}
        let window = LiveWindow(subscription)
        let waiting = Task { try await window.wait(segment: 0, part: nil, atMost: .seconds(3_600)) }
        subscription.end(.refused(camera: "door", .off))
        await window.run()
        await #expect(throws: StationError.refused(camera: "door", .off)) { try await waiting.value }
        #expect(window.hasEnded && window.content.segments.isEmpty)
    }
}
