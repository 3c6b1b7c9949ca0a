import Cameras
import Codecs
import DatagramPort
import Dispatch
import MediaRelay
import RTP
import SDP
import Transport

/// Decodes a viewer's microphone into samples for the camera's speaker.
///
/// A packet that comes early waits for those before it, for a moment (``PacketReorderBuffer``). What does not come by then is
/// restored from the packet after it where that carries redundancy, and concealed otherwise.
///
/// It decodes on its caller's thread, the ``TalkThread`` of the talk.
final class TalkbackDecoder: Sendable {
    private struct State: ~Copyable {
        var packets = PacketReorderBuffer(maximumDelay: TalkbackDecoder.patience, maximumBytes: 64 << 10)
        /// How many packets are missing before the next one.
        var missing = 0
        var opus: OpusDecoder?
        var telephone = TelephoneDecoder()
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
        /// Samples at 48 kHz of lost packets that were restored from the packets after them.
        var samplesRestored: UInt64 = 0
        /// Samples at 48 kHz of lost packets that were replaced by a guess.
        var samplesConcealed: UInt64 = 0
    }

    /// How long a packet waits for those before it. The speaker holds some sound, so a short wait is not heard.
    static let patience = Duration.milliseconds(100)
    /// The most samples that are concealed one after the other: 100 ms. A longer gap is a pause, and sounds better as one.
    private static let longestConcealment = 4_800

    private let speaker: any CameraSpeaker
    private let codecs: [UInt8: MediaCodec]
    private let voiceChanged: (@Sendable (Bool) -> Void)?
    private let state: Locked<State>

    /// - Parameters:
    ///   - codecs: the codec of each payload type of the microphone.
    ///   - voiceHold: how long the talker is still treated as speaking after a word.
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
        guard codecs[payloadType] != nil else { return }
        // The lock runs its closure at once, so the memory outlives its use. It is passed as a number because the
        // compiler cannot know that, and would assume that the state may keep a pointer from the closure.
        let (address, count) = (UInt(bitPattern: payload.baseAddress), payload.count)
        let change = state.withLock { state -> Bool? in
            guard !state.isFinished else { return nil }
            state.packets.insert(
                sequenceNumber: sequenceNumber, timestamp: timestamp, marker: false, payloadType: payloadType,
                payload: UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count), at: now)
            state.counts.lastHeard = now
            return playPackets(&state, at: now)
        }
        if let change { voiceChanged?(change) }
    }

    /// When a missing packet's time is over; nil while none is missing.
    var nextDeadline: Instant? { state.withLock { $0.isFinished ? nil : $0.packets.nextDeadline } }

    /// Goes on without the packets whose time is over.
    func handleDeadline(at now: Instant) {
        let change = state.withLock { $0.isFinished ? nil : playPackets(&$0, at: now) }
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

    /// Plays the packets that are in order. Answers whether the talker speaks, where that is worth a report.
    private func playPackets(_ state: inout State, at now: Instant) -> Bool? {
        while let output = state.packets.next(at: now) {
            switch output {
            case .gap(let count):
                state.missing += count
                // A leap is not a loss: the source has restarted.
                if count < 1000 { state.counts.lost &+= UInt64(count) }
            case .packet(let packet):
                state.counts.received &+= 1
                if let codec = codecs[packet.payloadType] { play(packet.payload, codec, &state, at: now) }
                state.missing = 0
            }
        }
        let isSpeaking = state.voice.isActive(at: now)
        let isDue = isSpeaking && state.lastReport.map { now - $0 >= .seconds(1) } ?? true
        guard isSpeaking != state.isSpeaking || isDue else { return nil }
        state.isSpeaking = isSpeaking
        state.lastReport = now
        return isSpeaking
    }

    private func play(_ payload: UnsafeRawBufferPointer, _ codec: MediaCodec, _ state: inout State, at now: Instant) {
        if codec.isNamed("opus") {
            playOpus(payload, &state, at: now)
        } else {
            playTelephone(payload, codec.isNamed("PCMA") ? .aLaw : .muLaw, &state, at: now)
        }
    }

    /// How many missing packets of this length are replaced. Of a long gap the beginning is faded out.
    private static func replaced(_ missing: Int, samplesPerPacket: Int) -> Int {
        missing <= longestConcealment / samplesPerPacket ? missing : 1
    }

    private func playOpus(_ payload: UnsafeRawBufferPointer, _ state: inout State, at now: Instant) {
        let length = OpusPacket.sampleCount(payload) ?? 960
        let replaced = Self.replaced(state.missing, samplesPerPacket: length)
        let isRestorable = state.missing > 0 && OpusPacket.hasRedundancy(payload)
        state.samples.withUnsafeMutableBufferPointer { samples in
            // A packet is as long as the one after it, as far as anybody knows.
            let frame = UnsafeMutableBufferPointer(rebasing: samples[..<min(length, samples.count)])
            for _ in 0..<(isRestorable ? replaced - 1 : replaced) {
                guard let count = try? state.opus?.conceal(into: frame) else { break }
                state.counts.samplesConcealed &+= UInt64(count)
                speaker.play(UnsafeBufferPointer(rebasing: samples[..<count]))
            }
            if isRestorable, let count = try? state.opus?.restore(before: payload, into: frame) {
                state.counts.samplesRestored &+= UInt64(count)
                speaker.play(UnsafeBufferPointer(rebasing: samples[..<count]))
            }
            // A packet that cannot be decoded is silence; the decoder continues with the next one.
            guard let count = try? state.opus?.decode(payload, into: samples) else { return }
            let sound = UnsafeBufferPointer(rebasing: samples[..<count])
            _ = state.voice.hear(sound, at: now)
            speaker.play(sound)
        }
    }

    private func playTelephone(
        _ payload: UnsafeRawBufferPointer, _ law: G711, _ state: inout State, at now: Instant
    ) {
        let length = max(payload.count, 1) * TelephoneDecoder.samplesPerByte
        state.samples.withUnsafeMutableBufferPointer { samples in
            for _ in 0..<Self.replaced(state.missing, samplesPerPacket: length) {
                let count = state.telephone.conceal(bytes: payload.count, into: samples)
                state.counts.samplesConcealed &+= UInt64(count)
                speaker.play(UnsafeBufferPointer(rebasing: samples[..<count]))
            }
            let count = state.telephone.decode(payload, law, into: samples)
            let sound = UnsafeBufferPointer(rebasing: samples[..<count])
            _ = state.voice.hear(sound, at: now)
            speaker.play(sound)
        }
    }
}

/// The thread of one talk: a talker's packets are decoded there, and the relay's thread only copies them.
///
/// The thread lives as long as this object, which the relay holds while the talker has the floor.
final class TalkThread: TalkbackSink {
    private let queue = PacketQueue()

    /// Starts a thread that decodes for `decoder`; nil when the system cannot start another one.
    init?(decoder: TalkbackDecoder) {
        let queue = queue
        let isRunning = startDetachedThread(name: "talk") {
            var buffer = [UInt8](repeating: 0, count: PacketQueue.packetSize)
            while true {
                switch queue.take(into: &buffer, until: decoder.nextDeadline) {
                case .packet(let packet):
                    buffer.withUnsafeBytes { bytes in
                        decoder.receive(
                            UnsafeRawBufferPointer(rebasing: bytes[..<packet.length]),
                            payloadType: packet.payloadType, sequenceNumber: packet.sequenceNumber,
                            timestamp: packet.timestamp, at: packet.arrival)
                    }
                case .timeIsUp: decoder.handleDeadline(at: MonotonicClock.now)
                case .stopped: return
                }
            }
        }
        guard isRunning else { return nil }
    }

    deinit { queue.stop() }

    func receive(
        _ payload: UnsafeRawBufferPointer, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32,
        at now: Instant
    ) {
        queue.add(
            PacketQueue.Packet(
                length: payload.count, payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp,
                arrival: now), payload)
    }
}

/// A talker's packets on their way to the talk's thread. It holds 32 packets, 640 ms of a browser's microphone; the
/// decoder conceals or skips what finds no room, like any lost packet.
private final class PacketQueue: Sendable {
    struct Packet {
        var length: Int
        var payloadType: UInt8
        var sequenceNumber: UInt16
        var timestamp: UInt32
        var arrival: Instant
    }

    private struct State {
        var bytes = [UInt8](repeating: 0, count: PacketQueue.capacity * PacketQueue.packetSize)
        var packets: [Packet?] = Array(repeating: nil, count: PacketQueue.capacity)
        var first = 0
        var count = 0
        var isStopped = false
    }

    /// No datagram is larger.
    static let packetSize = 2_048
    private static let capacity = 32

    private let state = Locked(State())
    private let somethingToDo = DispatchSemaphore(value: 0)

    func add(_ packet: Packet, _ payload: UnsafeRawBufferPointer) {
        guard packet.length <= Self.packetSize else { return }
        // The lock runs its closure here and now, so the memory outlives its use; see `TalkbackDecoder.receive`.
        let address = UInt(bitPattern: payload.baseAddress)
        let isFirst = state.withLock { state -> Bool in
            guard state.count < Self.capacity else { return false }
            let slot = (state.first + state.count) % Self.capacity
            state.packets[slot] = packet
            let payload = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: packet.length)
            state.bytes.withUnsafeMutableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: bytes[(slot * Self.packetSize)...]).copyMemory(from: payload)
            }
            state.count += 1
            return state.count == 1
        }
        if isFirst { somethingToDo.signal() }
    }

    enum Taken {
        case packet(Packet)
        case timeIsUp
        case stopped
    }

    /// Waits for a packet and copies its payload to the beginning of `buffer`.
    func take(into buffer: inout [UInt8], until deadline: Instant?) -> Taken {
        while true {
            let (packet, isStopped) = state.withLock { state -> (Packet?, Bool) in
                guard !state.isStopped, state.count > 0, let packet = state.packets[state.first] else {
                    return (nil, state.isStopped)
                }
                let start = state.first * Self.packetSize
                buffer.replaceSubrange(..<packet.length, with: state.bytes[start..<start + packet.length])
                state.first = (state.first + 1) % Self.capacity
                state.count -= 1
                return (packet, false)
            }
            if isStopped { return .stopped }
            if let packet { return .packet(packet) }
            guard let deadline else {
                somethingToDo.wait()
                continue
            }
            let left = (deadline - MonotonicClock.now).wholeNanoseconds
            guard left > 0 else { return .timeIsUp }
            _ = somethingToDo.wait(timeout: .now() + .nanoseconds(Int(clamping: left)))
        }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        somethingToDo.signal()
    }
}

/// Detects speech by comparing the energy of the sound with that of the room, like the simplest detectors in the
/// literature: a threshold above a noise floor that falls quickly and rises slowly.
struct VoiceActivity: Sendable {
    /// How much louder than the room speech is: 10 dB, as a ratio of energies.
    private static let ratio = 10.0
    /// Below about -46 dB of full scale nothing is treated as speech, however quiet the room.
    private static let least = 165.0 * 165.0
    /// Above about -14 dB everything is treated as speech; otherwise nothing would in a room that is always loud.
    private static let certain = 6_500.0 * 6_500.0
    /// How fast the floor rises while the sound is louder: it doubles in about three seconds at 20 ms per packet.
    private static let rise = 1.005

    /// How long somebody is still treated as speaking after they were last heard.
    let hold: Duration
    private var floor = 0.0
    private var lastVoice: Instant?

    /// Nobody has spoken.
    init(hold: Duration) {
        self.hold = hold
    }

    /// Adds sound, and returns whether somebody speaks.
    mutating func hear(_ samples: UnsafeBufferPointer<Int16>, at now: Instant) -> Bool {
        guard !samples.isEmpty else { return isActive(at: now) }
        var sum = 0.0
        for sample in samples { sum += Double(sample) * Double(sample) }
        let energy = sum / Double(samples.count)
        if floor == 0 || energy < floor {
            floor = max(1, energy)
        } else {
            floor = min(energy, floor * Self.rise)
        }
        if energy > Self.certain || energy > max(Self.least, floor * Self.ratio) { lastVoice = now }
        return isActive(at: now)
    }

    /// Whether somebody speaks, or has just spoken.
    func isActive(at now: Instant) -> Bool {
        guard let lastVoice else { return false }
        return now - lastVoice < hold
    }
}
