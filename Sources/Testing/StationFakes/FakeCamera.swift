import Cameras
import Intake
import RTP
import SDP
import Transport

/// A camera that does what a test tells it.
package final class FakeCamera: CameraSource {
    private struct State {
        var sink: (any CameraSink)?
        var inlets: [any PacketInlet] = []
        var keyFrameRequests: [Int] = []
        var isStopped = false
        var starts = 0
        var stops = 0
        var awaitsTracks = false
        var coalescing: [Bool] = []
    }

    private let state = Locked(State())
    package let fakeSpeaker: FakeSpeaker?

    package init(speaks: Bool = true) {
        fakeSpeaker = speaks ? FakeSpeaker() : nil
    }

    package var speaker: (any CameraSpeaker)? { fakeSpeaker }
    package var keyFrameRequests: [Int] { state.withLock { $0.keyFrameRequests } }

    /// How often it was started and stopped.
    package var runs: (starts: Int, stops: Int) { state.withLock { ($0.starts, $0.stops) } }

    package var awaitsTracks: Bool {
        get { state.withLock { $0.awaitsTracks } }
        set { state.withLock { $0.awaitsTracks = newValue } }
    }

    package func start(sink: any CameraSink) {
        state.withLock {
            $0.sink = sink
            $0.starts += 1
        }
    }

    package func stop() {
        state.withLock {
            $0.isStopped = true
            $0.stops += 1
            $0.sink = nil
        }
    }

    package func requestKeyFrame(track: Int) { state.withLock { $0.keyFrameRequests.append(track) } }

    package func setCoalescing(_ isCoalescing: Bool) { state.withLock { $0.coalescing.append(isCoalescing) } }

    /// What it was told about coalescing its reads.
    package var coalescing: [Bool] { state.withLock { $0.coalescing } }

    private var sink: (any CameraSink)? { state.withLock { $0.sink } }

    /// Where the packets of each track go.
    package var inlets: [any PacketInlet] { state.withLock { $0.inlets } }

    /// Reports the tracks, and takes the inlets for them.
    package func open(_ tracks: [TrackDescription]) {
        guard let inlets = sink?.open(tracks) else { return }
        state.withLock { $0.inlets = inlets }
    }

    package func report(_ event: CameraEvent) { sink?.handle(event) }

    package func reportTracks(_ codecs: [MediaCodec], _ change: (inout [TrackDescription]) -> Void = { _ in }) {
        var tracks = codecs.enumerated().map { index, codec in
            TrackDescription(
                kind: codec.clockRate == 90_000 ? .video : .audio, codec: codec, payloadType: UInt8(96 + index))
        }
        change(&tracks)
        open(tracks)
        report(.state(.flowing))
    }

    /// Sends a key frame of four packets on the first track.
    package func sendKeyFrame(number: UInt16, at now: Instant) {
        var pool = PacketBatchPool()
        for index in UInt16(0)..<4 {
            var flags: PacketBatch.Flags = .keyFrame
            if index == 0 { flags.insert(.startsFrame) }
            if index == 3 { flags.insert(.marker) }
            [UInt8](repeating: 0x10, count: 900).withUnsafeBytes {
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: UInt32(number) * 3_000, sequenceNumber: number &* 4 &+ index,
                        payloadType: 96, flags: flags),
                    payload: $0)
            }
        }
        if let batch = pool.finish(arrival: now) { deliver(batch, track: 0) }
    }

    /// Hands a batch in.
    package func deliver(_ batch: PacketBatch, track: Int) {
        state.withLock { $0.inlets.indices.contains(track) ? $0.inlets[track] : nil }?.deliver(batch)
    }

    /// Sends 20 ms of a tone in L16 of 16 kHz.
    package func sendSound(number: UInt16, track: Int, at now: Instant) {
        if let batch = Self.sound(number: number, at: now) { deliver(batch, track: track) }
    }

    /// 20 ms of a tone in L16 of 16 kHz.
    package static func sound(number: UInt16, at now: Instant) -> PacketBatch? {
        var pool = PacketBatchPool()
        let payload = (0..<320).flatMap { index -> [UInt8] in
            let sample = Int16(8_000 * (index / 18 % 2 == 0 ? 1 : -1))
            return [UInt8(truncatingIfNeeded: sample >> 8), UInt8(truncatingIfNeeded: sample)]
        }
        payload.withUnsafeBytes {
            pool.append(
                PacketBatch.Packet(
                    offset: 0, length: 0, timestamp: UInt32(number) * 320, sequenceNumber: number, payloadType: 97,
                    flags: [.startsFrame, .keyFrame]),
                payload: $0)
        }
        return pool.finish(arrival: now)
    }
}

extension MediaCodec {
    /// Sound that no browser plays.
    package static let linear = MediaCodec(name: "L16", clockRate: 16_000)
    package static let h265 = MediaCodec(name: "H265", clockRate: 90_000)
}

/// A speaker that counts.
package final class FakeSpeaker: CameraSpeaker {
    private let state = Locked((samples: 0, ends: 0, silences: 0))

    package init() {}

    package var samples: Int { state.withLock { $0.samples } }
    package var ends: Int { state.withLock { $0.ends } }
    /// How many times the last words were forbidden.
    package var silences: Int { state.withLock { $0.silences } }

    package func play(_ samples: UnsafeBufferPointer<Int16>) {
        let count = samples.count
        state.withLock { $0.samples += count }
    }

    package func end() { state.withLock { $0.ends += 1 } }

    package func silence() { state.withLock { $0.silences += 1 } }

    private let answer = Locked<(state: SpeakerState, report: (@Sendable (SpeakerState) -> Void)?)>((.open, nil))

    private let begun = Locked(0)

    /// How many talks have begun.
    package var beginnings: Int { begun.withLock { $0 } }

    /// The state that the next talk gets at its beginning.
    package func answerNext(_ state: SpeakerState) { answer.withLock { $0.state = state } }

    /// Reports a state to the running talk.
    package func reportNow(_ state: SpeakerState) { answer.withLock { $0.report }?(state) }

    package func begin(_ report: @escaping @Sendable (SpeakerState) -> Void) {
        begun.withLock { $0 += 1 }
        let state = answer.withLock { answer in
            answer.report = report
            return answer.state
        }
        if state != .opening { report(state) }
    }
}
