import Intake
import ONVIF
import RTP
import SDP
import Testing
import Transport

@testable import Cameras

/// A source that does what a test says.
private final class ToldSource: CameraSource {
    private let state = Locked<(sink: (any CameraSink)?, inlets: [any PacketInlet], requests: [Int])>((nil, [], []))

    var speaker: (any CameraSpeaker)? { nil }
    var isRunning: Bool { state.withLock { $0.sink != nil } }
    var requests: [Int] { state.withLock { $0.requests } }
    func start(sink: any CameraSink) { state.withLock { $0.sink = sink } }
    func stop() {
        report(.state(.stopped))
        state.withLock { $0.sink = nil }
    }
    func requestKeyFrame(track: Int) { state.withLock { $0.requests.append(track) } }
    func report(_ event: CameraEvent) { state.withLock { $0.sink }?.handle(event) }
    func open(_ tracks: [TrackDescription]) {
        guard let inlets = state.withLock({ $0.sink })?.open(tracks) else { return }
        state.withLock { $0.inlets = inlets }
    }

    func send(track: Int) {
        var pool = PacketBatchPool()
        [UInt8](repeating: 0x10, count: 8).withUnsafeBytes {
            pool.append(
                .init(offset: 0, length: 0, timestamp: 0, sequenceNumber: 0, payloadType: 96, flags: .startsFrame),
                payload: $0)
        }
        if let batch = pool.finish(arrival: .zero) { state.withLock { $0.inlets[track] }.deliver(batch) }
    }
}

@Suite struct MultiStreamSourceTests {
    private static let video = TrackDescription(
        kind: .video, codec: MediaCodec(name: "H264", clockRate: 90_000), payloadType: 96)
    private static let audio = TrackDescription(
        kind: .audio, codec: MediaCodec(name: "PCMA", clockRate: 8_000), payloadType: 8)

    private final class Sink: CameraSink {
        let events = Locked<[CameraEvent]>([])
        let received = Locked<[Int]>([])

        private struct Inlet: PacketInlet {
            let sink: Sink
            let track: Int

            func deliver(_ batch: PacketBatch) { sink.received.withLock { $0.append(track) } }
        }

        func open(_ tracks: [TrackDescription]) -> [any PacketInlet] {
            handle(.tracks(tracks))
            return tracks.indices.map { Inlet(sink: self, track: $0) }
        }

        func handle(_ event: CameraEvent) { events.withLock { $0.append(event) } }

        var tracks: [TrackDescription] {
            events.withLock { events in
                events.compactMap { if case .tracks(let tracks) = $0 { tracks } else { nil } }.last ?? []
            }
        }
        var states: [SourceState] {
            events.withLock { events in events.compactMap { if case .state(let state) = $0 { state } else { nil } } }
        }
    }

    private let main = ToldSource()
    private let sub = ToldSource()
    private let sink = Sink()
    private let source: MultiStreamSource

    init() {
        source = MultiStreamSource(main: main, substream: sub)
        source.start(sink: sink)
    }

    @Test func aReplacementSourceHasItsOwnConnections() throws {
        main.open([Self.video])
        let (other, otherMain, otherSink) = (MultiStreamSource(main: sub, substream: sub), sub, Sink())
        other.start(sink: otherSink)
        otherMain.open([Self.video])
        let connections = (sink.tracks + otherSink.tracks).compactMap(\.connection)
        #expect(connections.count >= 2 && Set(connections).count == connections.count)
    }

    @Test func theStateOfTheSubstreamIsKnown() {
        main.report(.state(.flowing))
        sub.report(.state(.backingOff(seconds: 2, reason: .unreachable(CameraUnreachable("gone")))))
        #expect(sink.states.last == .flowing)
        #expect(source.substreamState == .backingOff(seconds: 2, reason: .unreachable(CameraUnreachable("gone"))))
    }

    @Test func theTracksOfBothStreamsBelongToOneCamera() {
        sub.open([Self.video])
        #expect(sink.tracks.map(\.stream) == [.sub])
        main.open([Self.video, Self.audio])
        #expect(sink.tracks.map(\.stream) == [.main, .main, .sub])
        #expect(sink.tracks.map(\.kind) == [.video, .audio, .video])
        main.send(track: 1)
        // The other stream's inlet is the one that it was lent.
        sub.send(track: 0)
        #expect(sink.received.withLock { $0 } == [1, 0])
        sub.open([Self.video])
        sub.send(track: 0)
        #expect(sink.received.withLock { $0 } == [1, 0, 2])
        source.requestKeyFrame(track: 2)
        source.requestKeyFrame(track: 0)
        source.requestKeyFrame(track: 9)
        source.requestKeyFrame(track: -1)
        #expect(sub.requests == [0] && main.requests == [0])
        sub.report(.senderReport(track: 0, ntp: 1, rtpTimestamp: 2))
        #expect(sink.events.withLock { $0.last } == .senderReport(track: 2, ntp: 1, rtpTimestamp: 2))
    }

    @Test func tracksAreAwaitedUntilBothHaveAnswered() {
        #expect(source.awaitsTracks)
        sub.open([Self.video])
        sub.report(.state(.flowing))
        main.report(.state(.connecting))
        #expect(source.awaitsTracks)
        main.open([Self.video, Self.audio])
        #expect(!source.awaitsTracks)
        // What is known about an idle camera is good enough for the viewer that wakes it.
        source.stop()
        source.start(sink: sink)
        #expect(!source.awaitsTracks)
    }

    @Test func aStreamThatFailsIsNotAwaited() {
        main.open([Self.video])
        sub.report(.state(.backingOff(seconds: 1, reason: .unreachable(CameraUnreachable("unreachable")))))
        #expect(!source.awaitsTracks)
    }

    @Test func aCameraWithOneStreamIsCompleteAndInOrder() {
        main.open([Self.video])
        main.report(.state(.flowing))
        sub.report(.state(.givenUp(until: .distantFuture, failures: 1, reason: .onvif(.noSecondProfile))))
        #expect(!source.awaitsTracks && sink.states.last == .flowing)
        #expect(source.report?.notes == [.noSmallerStream])
    }

    @Test func aStreamThatStartsAgainLeavesTheOtherAlone() {
        main.open([Self.video])
        sub.open([Self.video])
        let before = sink.tracks.map(\.connection)
        sub.report(.state(.backingOff(seconds: 1, reason: .unreachable(CameraUnreachable("reset")))))
        sub.open([Self.video])
        let after = sink.tracks.map(\.connection)
        #expect(after[0] == before[0] && after[1] != before[1])
        // More information about the same packets is not a restart.
        var profiled = Self.video
        profiled.reordersPictures = true
        main.report(.state(.flowing))
        main.open([profiled])
        #expect(sink.tracks[0].connection == before[0] && sink.tracks[0].reordersPictures)
    }

    @Test func theCameraFlowsWhileOneOfItsStreamsDoes() {
        main.report(.state(.connecting))
        sub.report(.state(.flowing))
        main.report(.state(.backingOff(seconds: 1, reason: .unreachable(CameraUnreachable("reset")))))
        main.report(.state(.flowing))
        sub.report(.state(.backingOff(seconds: 1, reason: .unreachable(CameraUnreachable("reset")))))
        #expect(sink.states == [.connecting, .flowing])
        main.report(.state(.stalled(track: 0)))
        #expect(sink.states.last == .stalled(track: 0))
    }

    @Test func bothAreStoppedAndStartedTogether() {
        #expect(main.isRunning && sub.isRunning)
        source.stop()
        #expect(!main.isRunning && !sub.isRunning)
        source.start(sink: sink)
        #expect(main.isRunning && sub.isRunning)
    }
}
