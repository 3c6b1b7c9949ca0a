import Transport

/// How fast a backlog goes to one viewer: as fast as the path takes it, and no faster.
///
/// Nothing in WebRTC acknowledges media soon enough. Transport-wide feedback comes each 50 to 250 ms, and by then the
/// backlog should be over. But every ICE agent answers a check at once, and reads it from the socket after the media that was
/// sent before it. So the gateway sends a probe (``PeerConnection/writeProbe(_:into:at:)``) behind each burst, and its answer
/// acknowledges the burst. The pacer keeps a window of packets that are on their way, as TCP does:
///
/// - The first window is small enough for any receiver's socket buffer, and is sent in bursts some time apart.
/// - Each answer lets the window grow by what it acknowledges, as long as it comes after about the shortest round trip seen.
///   An answer that comes later shows that packets wait on the path: the window no longer grows, and shrinks in the end.
/// - Reported losses end the growth, and heavy loss halves the window. Loss alone does not make it small, because a bad radio
///   link loses a fifth of everything at any rate. But a player keeps everything after a missing packet in a buffer of some
///   hundred packets until the packet has been repaired, which can take 100 ms and more. So a path that loses packets gets
///   fewer of them in a millisecond.
/// - Retransmissions come out of the window first.
/// - Without any answer, a window goes out now and then.
struct BacklogPacer {
    /// The most packets of one send.
    static let mostPerBurst = 16
    /// The packets on their way at first, and the most on a path without delay. A socket buffer of Linux's default size
    /// (212,992 bytes, of which a packet of 1,200 takes 2,304) holds 92. The receiver may be busy while they arrive.
    static let receiverRoom = 64
    /// The fewest packets on their way.
    static let leastWindow = 8
    /// The most packets in a millisecond on a path with delay: about 300 Mbit/s.
    private static let mostPerMillisecond = 32.0
    private static let largestWindow = 2048
    /// The time between two bursts before the first answer. After that, answers set the pace.
    private static let firstInterval = Duration.milliseconds(1)
    private static let interval = Duration.microseconds(500)
    /// How much longer than the shortest round trip an answer may take. A browser that is busy decoding takes some
    /// milliseconds to answer.
    private static let tolerance = Duration.milliseconds(5)
    /// From this delay on, the window shrinks to what leaves half of it.
    private static let longestQueue = Duration.milliseconds(50)
    /// How long an answer is waited for at least: the first one, which shows how long the others take, and later ones.
    private static let leastPatience = (first: Duration.milliseconds(250), later: Duration.milliseconds(50))
    /// The shares of reported loss from which packets are slow to be repaired, and that halve the window.
    private static let loss = (some: 0.05, heavy: 0.25)
    /// The time between two bursts after a loss, and after more than `some` loss.
    private static let lossyInterval = (any: Duration.milliseconds(2), some: Duration.milliseconds(8))

    /// How many packets may be on their way.
    private(set) var window = receiverRoom
    private var sent: UInt64 = 0
    /// Of the packets sent, those that have arrived or are lost.
    private var settled: UInt64 = 0
    private var shortestRoundTrip: Duration?
    private var newestRoundTrip: Duration?
    private var growsFast = true
    private var hasAnswer = false
    /// When the backlog began.
    private(set) var startedAt = Instant.zero
    /// When the newest answer came, or when the pacer began.
    private var progressAt = Instant.zero
    private var silences = 0
    private var lastBurst: Instant?
    /// The time between two bursts since a loss has been reported.
    private var lossyPause: Duration?
    /// The losses reported since ``sent`` was `lossesFrom`.
    private var losses = 0
    private var lossesFrom: UInt64 = 0

    /// Starts a backlog.
    /// - Parameter roundTrip: the time that the path has been seen to take.
    mutating func begin(roundTrip: Duration?, at now: Instant) {
        self = BacklogPacer()
        shortestRoundTrip = roundTrip
        newestRoundTrip = roundTrip
        progressAt = now
        startedAt = now
    }

    /// The path in use is another one. Its round trips have nothing to do with those of the former one.
    mutating func recordPathChange(roundTrip: Duration?) {
        shortestRoundTrip = roundTrip
        newestRoundTrip = roundTrip
    }

    /// How many packets may leave in the next burst.
    mutating func room(at now: Instant) -> Int {
        if now >= patienceEnds { endWait(at: now) }
        if let lastBurst, now < lastBurst + pause { return 0 }
        let free = window - Int(clamping: sent &- settled)
        // Two bursts per window at least, so that the answer to the first comes while the second is on its way.
        return max(0, min(free, Self.mostPerBurst, max(window / 2, Self.leastWindow / 2)))
    }

    /// When to ask for ``room(at:)`` again if no answer comes.
    var nextBurst: Instant {
        let isFull = Int(clamping: sent &- settled) >= window
        guard !isFull, let lastBurst else { return patienceEnds }
        return min(lastBurst + pause, patienceEnds)
    }

    /// Whether the path takes less than a local network's receiver would.
    private var isSlow: Bool { window < Self.receiverRoom }

    /// How many packets may be retransmitted now. If the path is not slow, they may take a window of their own, because all
    /// that follows waits for them.
    var roomForRepairs: Int { max(0, (isSlow ? window : 2 * window) - Int(clamping: sent &- settled)) }

    /// Whether retransmissions are sent twice.
    var repairsTwice: Bool { !isSlow && lossyPause == Self.lossyInterval.some }

    private var pause: Duration { lossyPause ?? (hasAnswer ? Self.interval : Self.firstInterval) }

    private var patienceEnds: Instant {
        let least = hasAnswer ? Self.leastPatience.later : Self.leastPatience.first
        return progressAt + max(least, (newestRoundTrip ?? .zero) * 4)
    }

    /// Records a burst that has left.
    /// - Returns: the number of the probe that has to follow it; nil if it was empty.
    mutating func recordSent(_ packets: Int, at now: Instant) -> UInt64? {
        guard packets > 0 else { return nil }
        if sent == settled { progressAt = now }
        sent &+= UInt64(packets)
        lastBurst = now
        return sent
    }

    /// Records packets that have been sent again.
    /// - Returns: the number of the probe that has to follow them; nil if there were none.
    mutating func recordRetransmitted(_ packets: Int) -> UInt64? {
        guard packets > 0 else { return nil }
        sent &+= UInt64(packets)
        return sent
    }

    /// Records the answer to a probe.
    mutating func recordAnswer(to number: UInt64, roundTrip: Duration, at now: Instant) {
        guard number <= sent else { return }
        let shortest = min(shortestRoundTrip ?? roundTrip, roundTrip)
        shortestRoundTrip = shortest
        newestRoundTrip = roundTrip
        hasAnswer = true
        silences = 0
        // An answer that was not waited for any longer acknowledges nothing, but it shows how long it took.
        let acknowledged = number > settled ? Int(clamping: number &- settled) : 0
        settled = max(settled, number)
        progressAt = now
        // What comes next is sent at once: the answer has made room for it.
        if lossyPause == nil, acknowledged > 0 { lastBurst = nil }
        let wait = roundTrip - shortest
        if wait <= max(Self.tolerance, shortest / 4) {
            guard acknowledged > 0 else { return }
            window += growsFast ? acknowledged : max(1, acknowledged * Self.mostPerBurst / window)
        } else if wait > Self.longestQueue {
            growsFast = false
            let share = (shortest + Self.longestQueue / 2).inSeconds / roundTrip.inSeconds
            window = max(Self.leastWindow, Int(Double(window) * share))
        }
        window = min(window, mostOnTheWay(shortest))
    }

    private func mostOnTheWay(_ roundTrip: Duration) -> Int {
        min(Self.largestWindow, Self.receiverRoom + Int(roundTrip.inSeconds * 1_000 * Self.mostPerMillisecond))
    }

    /// Records packets that the viewer reports as lost.
    mutating func recordLost(_ packets: Int) {
        guard packets > 0 else { return }
        losses += packets
        let share = Double(losses) / Double(max(sent &- lossesFrom, 32))
        growsFast = false
        let pause = share >= Self.loss.some ? Self.lossyInterval.some : Self.lossyInterval.any
        lossyPause = max(lossyPause ?? .zero, pause)
        guard share >= Self.loss.heavy else { return }
        window = max(Self.leastWindow, window / 2)
        // What is on its way was sent at the old rate. Its losses are not a reason to halve the window again.
        losses = -Int(clamping: (sent &- settled) / 4)
        lossesFrom = sent
    }

    /// Nothing has been answered for a long time: whatever was on its way has arrived or is lost.
    private mutating func endWait(at now: Instant) {
        settled = sent
        progressAt = now
        lastBurst = nil
        silences += 1
        // The loss of one window's answers happens on a path that loses a fifth of everything.
        guard silences > 1 || !hasAnswer else { return }
        growsFast = false
        window = max(Self.leastWindow, window / 2)
    }
}
