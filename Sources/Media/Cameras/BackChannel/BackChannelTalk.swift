import Glibc
import Transport

/// One talk: the state that the speaker's owner and the talk's thread share.
final class BackChannelTalk: Sendable {
    private struct State {
        var queue: TalkQueue
        var gain: SpeechGain
        var delivery = SpeakerDelivery(state: .opening)
        var louder: [Int16] = []
    }

    /// Stops the thread and wakes it.
    let control: SourceControl
    private let state: Locked<State>
    private let gate: SpeakerGate
    private let number: UInt64
    private let report: @Sendable (SpeakerState) -> Void

    init(
        control: SourceControl, limits: TalkQueue.Limits, decibels: Double, gate: SpeakerGate = SpeakerGate(),
        report: @escaping @Sendable (SpeakerState) -> Void
    ) {
        self.control = control
        self.report = report
        self.gate = gate
        number = gate.admit()
        state = Locked(State(queue: TalkQueue(limits: limits), gain: SpeechGain(decibels: decibels)))
    }

    // MARK: The talker's side

    /// Queues the talker's sound.
    func play(_ samples: UnsafeBufferPointer<Int16>) {
        state.withLock { state in
            state.louder.removeAll(keepingCapacity: true)
            state.louder.append(contentsOf: samples)
            state.louder.withUnsafeMutableBufferPointer { state.gain.apply(to: $0) }
            state.louder.withUnsafeBufferPointer { state.queue.push($0) }
        }
    }

    /// What has been delivered so far.
    var delivery: SpeakerDelivery {
        state.withLock { state in
            var delivery = state.delivery
            let queue = state.queue
            delivery.millisecondsReceived = Double(queue.received) / TalkQueue.samplesPerMillisecond
            delivery.millisecondsQueued = queue.milliseconds
            delivery.millisecondsDropped = Double(queue.dropped) / TalkQueue.samplesPerMillisecond
            delivery.millisecondsOfSilence = Double(queue.filled) / TalkQueue.samplesPerMillisecond
            return delivery
        }
    }

    // MARK: The thread's side

    /// The path is open: drops earlier sound that is too old by now.
    func open(codec: String, after duration: Duration) {
        let isNew = state.withLock { state in
            state.queue.restart()
            state.delivery.codec = codec
            state.delivery.millisecondsToOpen = duration.inMilliseconds
            guard state.delivery.state == .opening else { return false }
            state.delivery.state = .open
            return true
        }
        if isNew { report(.open) }
    }

    /// The camera does not accept the talk.
    func refuse(_ refusal: SpeakerRefusal) {
        state.withLock { $0.delivery.state = .refused(refusal) }
        report(.refused(refusal))
    }

    /// The talk is over; a refusal can still be read.
    func close() {
        state.withLock { state in
            if case .refused = state.delivery.state { return }
            state.delivery.state = .closed
        }
    }

    /// Fills a frame with the talker's sound.
    func pull(into frame: UnsafeMutableBufferPointer<Int16>) {
        state.withLock { state in _ = state.queue.pull(into: frame) }
    }

    /// Whether the camera was switched off, and nothing more may be sent to it.
    var isSilenced: Bool { gate.isSilenced(number) }

    /// Runs `send` unless the camera was switched off. The caller that switches it off waits for `send` to return.
    func unlessSilenced<Failure: Error>(_ send: () throws(Failure) -> Void) throws(Failure) {
        try gate.pass(number, send)
    }

    /// The talker has ended: lets the remaining sound go out. Returns whether any is left.
    func drain() -> Bool {
        state.withLock { state in
            state.queue.finish()
            return state.queue.count > 0
        }
    }

    /// Records what the stream has sent.
    func record(_ stream: borrowing BackChannelStream) {
        let (frames, packets) = (stream.framesSent, stream.packetsSent)
        let (bytes, dropped) = (stream.bytesSent, stream.packetsDropped)
        state.withLock { state in
            state.delivery.millisecondsSent = Double(frames) * 20
            state.delivery.packetsSent = packets
            state.delivery.bytesSent = bytes
            state.delivery.packetsDropped = dropped
        }
    }
}

/// What a speaker that has begun hands on to its talk.
extension BackChannelSpeaker {
    public func play(_ samples: UnsafeBufferPointer<Int16>) {
        talk.withLock { $0 }?.play(samples)
    }

    public func end() {
        talk.withLock { $0 }?.control.requestStop()
    }

    public func silence() {
        gate.silence()
        end()
    }

    public var delivery: SpeakerDelivery {
        talk.withLock { $0 }?.delivery ?? SpeakerDelivery()
    }
}

/// Makes a talker louder or softer, and keeps peaks below full scale.
struct SpeechGain: Sendable {
    /// Peaks stay below this part of full scale: a small speaker at its limit distorts.
    private static let ceiling: Float = 0.9 * 32_767
    /// How much of the limiter's reduction is released per sample: half of it in 50 ms at 48 kHz.
    private static let release: Float = 1 - 0.000_289

    private let gain: Float
    private var reduction: Float = 1

    /// - Parameter decibels: -40 to 40; values beyond are clamped.
    init(decibels: Double) {
        gain = Float(pow(10, min(max(decibels, -40), 40) / 20))
    }

    /// Changes `samples` in place.
    mutating func apply(to samples: UnsafeMutableBufferPointer<Int16>) {
        for index in samples.indices {
            let wanted = Float(samples[index]) * gain
            let magnitude = abs(wanted)
            // The gain goes down at once and up slowly: a peak never passes, and the sound does not pump.
            if magnitude * reduction > Self.ceiling {
                reduction = Self.ceiling / magnitude
            } else {
                reduction = 1 - (1 - reduction) * Self.release
            }
            samples[index] = Int16(max(-32_767, min(32_767, (wanted * reduction).rounded())))
        }
    }
}

/// A talker's sound that has not been sent to the camera yet: mono samples at 48 kHz, bounded by time.
///
/// The talker's clock fills it and the gateway's clock empties it, a frame of 20 ms at a time. Delay never grows: sound
/// beyond the bound is dropped at once, the oldest first. Sound that waits without need (after a burst, or because the
/// talker's clock is faster) is cut out bit by bit. If nothing has come, the camera gets silence.
struct TalkQueue: Sendable {
    /// How much may wait.
    struct Limits: Sendable {
        /// How much is gathered before the first sample goes out, in samples: two packets of the usual 20 ms.
        var target = 2 * TalkQueue.frameLength
        /// The most that waits, in samples: 200 ms.
        var most = 10 * TalkQueue.frameLength
    }

    /// Samples of one frame: 20 ms.
    static let frameLength = 960
    /// The samples of a millisecond.
    static let samplesPerMillisecond = 48.0
    /// How many past frames decide about a cut: half a second.
    private static let window = 25
    /// Samples over which a cut or an end is smoothed: 5 ms.
    private static let fade = 240
    /// A frame whose mean amplitude is below this holds no speech: about -50 dB of full scale.
    private static let quiet = 100

    let limits: Limits
    /// Samples that came from the talker.
    private(set) var received: UInt64 = 0
    /// Samples of the talker that were dropped.
    private(set) var dropped: UInt64 = 0
    /// Samples of silence that were handed out.
    private(set) var filled: UInt64 = 0

    private var ring: [Int16]
    private var head = 0
    /// Samples that wait.
    private(set) var count = 0
    /// Nothing goes out until ``Limits/target`` has come.
    private var isGathering = true
    private var lowest = Int.max
    private var framesInWindow = 0

    /// An empty queue.
    init(limits: Limits = Limits()) {
        self.limits = limits
        ring = [Int16](repeating: 0, count: max(limits.most, limits.target, Self.frameLength))
    }

    /// Milliseconds that wait.
    var milliseconds: Double { Double(count) / Self.samplesPerMillisecond }

    /// Queues the talker's sound. When more comes than fits, the newest stays.
    mutating func push(_ samples: UnsafeBufferPointer<Int16>) {
        received &+= UInt64(samples.count)
        let newest = samples.suffix(limits.most)
        dropped &+= UInt64(samples.count - newest.count)
        let excess = count + newest.count - limits.most
        if excess > 0 { discard(excess) }
        let place = (head + count) % ring.count
        let first = min(newest.count, ring.count - place)
        ring.withUnsafeMutableBufferPointer { ring in
            guard let target = ring.baseAddress, let source = newest.base.baseAddress else { return }
            let from = source + newest.startIndex
            (target + place).update(from: from, count: first)
            target.update(from: from + first, count: newest.count - first)
        }
        count += newest.count
    }

    /// Drops sound beyond ``Limits/target``: the path to the camera has just opened.
    mutating func restart() {
        if count > limits.target { discard(count - limits.target) }
        isGathering = true
        forget()
    }

    /// Hands out one frame: the talker's next samples, or silence where none wait. Returns how many are the talker's.
    @discardableResult
    mutating func pull(into frame: UnsafeMutableBufferPointer<Int16>) -> Int {
        if isGathering, count >= limits.target { isGathering = false }
        let available = isGathering ? 0 : min(count, frame.count)
        copy(available, to: frame)
        advance(available)
        if available < frame.count {
            fadeOut(frame, end: available)
            UnsafeMutableBufferPointer(rebasing: frame[available...]).update(repeating: 0)
            filled &+= UInt64(frame.count - available)
            isGathering = true
            forget()
        } else {
            observe(frame)
        }
        return available
    }

    /// Hands out what is left at the end of a talk, without gathering.
    mutating func finish() {
        isGathering = false
    }

    private func copy(_ samples: Int, to frame: UnsafeMutableBufferPointer<Int16>) {
        let first = min(samples, ring.count - head)
        ring.withUnsafeBufferPointer { ring in
            guard let source = ring.baseAddress, let target = frame.baseAddress else { return }
            target.update(from: source + head, count: first)
            (target + first).update(from: source, count: samples - first)
        }
    }

    private subscript(index: Int) -> Int16 {
        get { ring[(head + index) % ring.count] }
        set { ring[(head + index) % ring.count] = newValue }
    }

    private mutating func advance(_ samples: Int) {
        head = (head + samples) % ring.count
        count -= samples
    }

    private mutating func discard(_ samples: Int) {
        let samples = min(samples, count)
        dropped &+= UInt64(samples)
        advance(samples)
    }

    private mutating func forget() {
        lowest = .max
        framesInWindow = 0
    }

    /// Sound that was not needed for half a second only adds delay. It is cut out: a frame at a time during speech, and
    /// at once during silence.
    private mutating func observe(_ frame: UnsafeMutableBufferPointer<Int16>) {
        lowest = min(lowest, count)
        framesInWindow += 1
        guard framesInWindow >= Self.window else { return }
        let excess = lowest - max(0, limits.target - Self.frameLength)
        forget()
        guard excess >= Self.frameLength / 2 else { return }
        let amplitude = frame.reduce(0) { $0 + Int($1.magnitude) } / max(1, frame.count)
        cut(amplitude < Self.quiet ? excess : min(excess, Self.frameLength))
    }

    /// Leaves out `samples` and joins the following sound without a click.
    private mutating func cut(_ samples: Int) {
        let samples = min(samples, count)
        let length = min(Self.fade, count - samples, samples)
        for index in 0..<max(0, length) {
            let (old, new) = (Int(self[index]), Int(self[samples + index]))
            self[samples + index] = Int16(clamping: (old * (length - index) + new * index) / length)
        }
        discard(samples)
    }

    private func fadeOut(_ frame: UnsafeMutableBufferPointer<Int16>, end: Int) {
        let length = min(Self.fade, end)
        for index in 0..<length {
            let place = end - length + index
            frame[place] = Int16(clamping: Int(frame[place]) * (length - index) / length)
        }
    }
}

/// What a speaker's talks pass on their way to the camera, so that a camera that is switched off receives nothing more
/// from the moment at which the command returns. Talks have threads of their own, and send their last words after
/// their end.
final class SpeakerGate: Sendable {
    private struct State {
        var latest: UInt64 = 0
        var silenced: UInt64 = 0
    }

    private let state = Locked(State())

    /// Admits another talk; returns its number.
    func admit() -> UInt64 {
        state.withLock { state in
            state.latest += 1
            return state.latest
        }
    }

    /// Stops all talks that were admitted. Waits for a talk that is sending at this moment: it never waits for the
    /// camera while it does.
    func silence() { state.withLock { $0.silenced = $0.latest } }

    /// Whether a talk may no longer send.
    func isSilenced(_ talk: UInt64) -> Bool { state.withLock { talk <= $0.silenced } }

    /// Runs `send` unless the talk may no longer send.
    func pass<Failure: Error>(_ talk: UInt64, _ send: () throws(Failure) -> Void) throws(Failure) {
        try state.withLock { state throws(Failure) in
            guard talk > state.silenced else { return }
            try send()
        }
    }
}
