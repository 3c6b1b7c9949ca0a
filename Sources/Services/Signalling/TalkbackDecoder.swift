import Cameras
import Codecs
import MediaRelay
import SDP
import Transport

/// Turns a viewer's microphone into samples for the camera's speaker.
///
/// Decoding happens on the relay's thread: one talker at a time costs 27 µs every 20 ms there, less than handing the
/// packet to another thread and waking it.
final class TalkbackDecoder: TalkbackSink {
    private struct State: ~Copyable {
        var opus: OpusDecoder?
        var lastSequenceNumber: UInt16?
        var isFinished = false
        var samples = [Int16](repeating: 0, count: OpusDecoder.maximumSamplesPerPacket)
    }

    /// The same bound as in RFC 3550, appendix A.1 (MAX_MISORDER).
    private static let mostReordering: UInt16 = 100

    private let speaker: any CameraSpeaker
    private let codecs: [UInt8: MediaCodec]
    private let state: Locked<State>

    /// - Parameter codecs: what each payload type of the microphone stands for.
    init(speaker: any CameraSpeaker, codecs: [UInt8: MediaCodec]) throws(CodecError) {
        self.speaker = speaker
        self.codecs = codecs
        var state = State()
        if codecs.values.contains(where: { $0.isNamed("opus") }) { state.opus = try OpusDecoder(channels: 1) }
        self.state = Locked(state)
    }

    func receive(
        _ payload: UnsafeRawBufferPointer, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32,
        at now: Instant
    ) {
        guard let codec = codecs[payloadType] else { return }
        // The lock runs its closure here and now, so the memory outlives its use. It goes in as a number because the
        // compiler cannot know that, and takes a pointer in the closure for one that the state might keep.
        let (address, count) = (UInt(bitPattern: payload.baseAddress), payload.count)
        state.withLock { state in
            guard !state.isFinished else { return }
            let payload = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count)
            let step = state.lastSequenceNumber.map { sequenceNumber &- $0 } ?? 1
            // A late packet would be played out of turn; what it held has been concealed already. One that is far
            // behind comes from a source that has started again (RFC 3550, appendix A.1).
            guard step != 0, step < 0x8000 || 0 &- step > Self.mostReordering else { return }
            state.lastSequenceNumber = sequenceNumber
            if codec.isNamed("opus") {
                decodeOpus(payload, missing: Int(step) - 1, &state)
            } else {
                decodeG711(payload, codec.isNamed("PCMA") ? .aLaw : .muLaw, &state)
            }
        }
    }

    /// The talker has given the floor back. A packet that the relay is just handing in is not played any more: the
    /// speaker takes calls of one thread at a time.
    func finish() {
        state.withLock { state in
            state.isFinished = true
            speaker.end()
        }
    }

    private func decodeOpus(_ payload: UnsafeRawBufferPointer, missing: Int, _ state: inout State) {
        // Up to 60 ms are concealed; a longer gap is a pause, and sounds better as one.
        let concealed = missing <= 3 ? missing : 0
        state.samples.withUnsafeMutableBufferPointer { samples in
            for _ in 0..<concealed {
                let frame = UnsafeMutableBufferPointer(rebasing: samples[..<960])
                if let count = try? state.opus?.conceal(into: frame) {
                    speaker.play(UnsafeBufferPointer(rebasing: samples[..<count]))
                }
            }
            // A packet that does not decode is one lost packet, which the next one makes good.
            guard let count = try? state.opus?.decode(payload, into: samples) else { return }
            speaker.play(UnsafeBufferPointer(rebasing: samples[..<count]))
        }
    }

    /// 8 kHz to 48 kHz by straight lines between the samples: telephone sound has nothing above 4 kHz to lose.
    private func decodeG711(_ payload: UnsafeRawBufferPointer, _ law: G711, _ state: inout State) {
        let count = min(payload.count, state.samples.count / 6)
        state.samples.withUnsafeMutableBufferPointer { samples in
            var previous: Int32?
            for index in 0..<count {
                let value = Int32(law.decode(payload[index]))
                let from = previous ?? value
                for step in 0..<6 {
                    samples[index * 6 + step] = Int16(clamping: from + (value - from) * Int32(step + 1) / 6)
                }
                previous = value
            }
            speaker.play(UnsafeBufferPointer(rebasing: samples[..<(count * 6)]))
        }
    }
}
