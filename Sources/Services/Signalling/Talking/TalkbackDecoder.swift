import Cameras
import Codecs
import MediaRelay
import SDP
import Transport

/// Decodes a viewer's microphone into samples for the camera's speaker.
///
/// It decodes on its caller's thread, the ``TalkThread`` of the talk.
final class TalkbackDecoder: TalkbackSink {
    private struct State: ~Copyable {
        var opus: OpusDecoder?
        var lastSequenceNumber: UInt16?
        var isFinished = false
        var samples = [Int16](repeating: 0, count: OpusDecoder.maximumSamplesPerPacket)
        var counts = Counts()
        var voice: VoiceActivity
        var isSpeaking = false
        var lastReport: Instant?
    }

    /// What has arrived.
    struct Counts: Sendable {
        /// Packets that were decoded.
        var received: UInt64 = 0
        /// Packets that were missing before one that arrived.
        var lost: UInt64 = 0
        /// When the last packet arrived.
        var lastHeard: Instant?
    }

    /// The bound of RFC 3550, appendix A.1 (MAX_MISORDER).
    private static let mostReordering: UInt16 = 100

    private let speaker: any CameraSpeaker
    private let codecs: [UInt8: MediaCodec]
    private let voiceChanged: (@Sendable (Bool) -> Void)?
    private let state: Locked<State>

    /// - Parameters:
    ///   - codecs: the codec of each payload type of the microphone.
    ///   - voiceHold: how long the talker still counts as speaking after a word.
    ///   - voiceChanged: called when the talker starts or stops speaking, and once per second while they speak, on the
    ///     talk's thread.
    init(
        speaker: any CameraSpeaker, codecs: [UInt8: MediaCodec], voiceHold: Duration = .milliseconds(600),
        voiceChanged: (@Sendable (Bool) -> Void)? = nil
    ) throws(CodecError) {
        self.speaker = speaker
        self.codecs = codecs
        self.voiceChanged = voiceChanged
        var state = State(voice: VoiceActivity(hold: voiceHold))
        if codecs.values.contains(where: { $0.isNamed("opus") }) { state.opus = try OpusDecoder(channels: 1) }
        self.state = Locked(state)
    }

    func receive(
        _ payload: UnsafeRawBufferPointer, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32,
        at now: Instant
    ) {
        guard let codec = codecs[payloadType] else { return }
        // The lock runs its closure at once, so the memory outlives its use. It is passed as a number because the
        // compiler cannot know that, and would assume that the state may keep a pointer from the closure.
        let (address, count) = (UInt(bitPattern: payload.baseAddress), payload.count)
        let change = state.withLock { state -> Bool? in
            guard !state.isFinished else { return nil }
            let payload = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count)
            let step = state.lastSequenceNumber.map { sequenceNumber &- $0 } ?? 1
            // A late packet would be played in the wrong place, and its sound has been concealed already. A packet that
            // is far behind comes from a source that has restarted (RFC 3550, appendix A.1).
            guard step != 0, step < 0x8000 || 0 &- step > Self.mostReordering else { return nil }
            state.lastSequenceNumber = sequenceNumber
            state.counts.received &+= 1
            if step < 1000 { state.counts.lost &+= UInt64(step - 1) }
            state.counts.lastHeard = now
            if codec.isNamed("opus") {
                decodeOpus(payload, missing: Int(step) - 1, &state, at: now)
            } else {
                decodeG711(payload, codec.isNamed("PCMA") ? .aLaw : .muLaw, &state, at: now)
            }
            let isSpeaking = state.voice.isActive(at: now)
            let isDue = isSpeaking && state.lastReport.map { now - $0 >= .seconds(1) } ?? true
            guard isSpeaking != state.isSpeaking || isDue else { return nil }
            state.isSpeaking = isSpeaking
            state.lastReport = now
            return isSpeaking
        }
        if let change { voiceChanged?(change) }
    }

    /// What has arrived so far.
    var counts: Counts { state.withLock { $0.counts } }

    /// The talker has released the floor. Packets that still wait for the talk's thread are no longer played, because
    /// the speaker accepts calls from one thread at a time.
    /// - Parameter silencing: drops what the speaker has not sent yet.
    func finish(silencing: Bool) {
        state.withLock { state in
            state.isFinished = true
            if silencing { speaker.silence() } else { speaker.end() }
        }
    }

    private func decodeOpus(_ payload: UnsafeRawBufferPointer, missing: Int, _ state: inout State, at now: Instant) {
        // Up to 60 ms are concealed; a longer gap is a pause, and sounds better as one.
        let concealed = missing <= 3 ? missing : 0
        state.samples.withUnsafeMutableBufferPointer { samples in
            for _ in 0..<concealed {
                let frame = UnsafeMutableBufferPointer(rebasing: samples[..<960])
                if let count = try? state.opus?.conceal(into: frame) {
                    speaker.play(UnsafeBufferPointer(rebasing: samples[..<count]))
                }
            }
            // A packet that cannot be decoded counts as one lost packet, which the next one conceals.
            guard let count = try? state.opus?.decode(payload, into: samples) else { return }
            let sound = UnsafeBufferPointer(rebasing: samples[..<count])
            _ = state.voice.hear(sound, at: now)
            speaker.play(sound)
        }
    }

    /// Converts 8 kHz to 48 kHz by straight lines between the samples: telephone sound has nothing above 4 kHz to lose.
    private func decodeG711(_ payload: UnsafeRawBufferPointer, _ law: G711, _ state: inout State, at now: Instant) {
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
            let sound = UnsafeBufferPointer(rebasing: samples[..<(count * 6)])
            _ = state.voice.hear(sound, at: now)
            speaker.play(sound)
        }
    }
}
