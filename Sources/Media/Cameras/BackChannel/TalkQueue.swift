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
