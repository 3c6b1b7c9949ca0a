import Cameras
import RTP
import SDP
import Synchronization
import Transport

/// A camera that does what a test tells it.
final class FakeCamera: CameraSource {
    private struct State {
        var sink: (any CameraSink)?
        var keyFrameRequests: [Int] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    let fakeSpeaker: FakeSpeaker?

    init(speaks: Bool = true) {
        fakeSpeaker = speaks ? FakeSpeaker() : nil
    }

    var speaker: (any CameraSpeaker)? { fakeSpeaker }
    var keyFrameRequests: [Int] { state.withLock { $0.keyFrameRequests } }

    func start(sink: any CameraSink) { state.withLock { $0.sink = sink } }

    func stop() {
        state.withLock {
            $0.isStopped = true
            $0.sink = nil
        }
    }

    func requestKeyFrame(track: Int) { state.withLock { $0.keyFrameRequests.append(track) } }

    private var sink: (any CameraSink)? { state.withLock { $0.sink } }

    func tell(_ event: CameraEvent) { sink?.handle(event) }

    func tellTracks(_ codecs: [MediaCodec]) {
        let tracks = codecs.enumerated().map { index, codec in
            TrackDescription(
                kind: ["opus", "PCMU", "PCMA"].contains(codec.name) ? .audio : .video, codec: codec,
                payloadType: UInt8(96 + index))
        }
        tell(.tracks(tracks))
        tell(.state(.flowing))
    }

    /// Sends a key frame of four packets on the first track.
    func sendKeyFrame(number: UInt16, at now: Instant) {
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
        if let batch = pool.finish(arrival: now) { sink?.receive(batch, track: 0) }
    }
}

/// A speaker that counts.
final class FakeSpeaker: CameraSpeaker {
    private let state = Mutex((samples: 0, ends: 0))

    var samples: Int { state.withLock { $0.samples } }
    var ends: Int { state.withLock { $0.ends } }

    func play(_ samples: UnsafeBufferPointer<Int16>) {
        let count = samples.count
        state.withLock { $0.samples += count }
    }

    func end() { state.withLock { $0.ends += 1 } }
}
