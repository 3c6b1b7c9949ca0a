import Transport

/// When a shard's socket is read: as soon as something has come, or, while much comes that can wait, some at a time.
///
/// Each of hundreds of viewers reports on what it gets. Read at once, nearly every report wakes the thread, which costs as
/// much as handling it. So when reads that found only such datagrams follow each other closely, the socket is no longer
/// watched, and read after ``interval``. A read that finds anything else, or nothing, ends that.
struct ReadingPace {
    /// How long a datagram waits at most.
    static let interval = Duration.milliseconds(2)
    /// From this time on, a thread that is awake for something else reads too.
    private static let least = Duration.milliseconds(1)

    /// When the last read was, if it found only what can wait.
    private var lastRead: Instant?
    /// When to read a socket that is not watched; nil while it is watched.
    private(set) var due: Instant?

    /// Whether the socket is watched, so that the thread wakes when something comes.
    var isWatching: Bool { due == nil }

    /// Whether a thread that is awake should read a socket that is not watched: when its time has come, or soon before, which
    /// saves a wake-up.
    func shouldRead(at now: Instant) -> Bool {
        guard due != nil, let lastRead else { return due.map { $0 <= now } ?? false }
        return now - lastRead >= Self.least
    }

    /// Records a read.
    /// - Parameter canWait: Whether it found something, and only what can wait.
    mutating func recordRead(canWait: Bool, at now: Instant) {
        guard canWait else {
            lastRead = nil
            due = nil
            return
        }
        let isClose = lastRead.map { now - $0 < Self.interval } ?? false
        lastRead = now
        if isClose || due != nil { due = now + Self.interval }
    }

    /// The socket could not be watched again, so it is read in a while.
    mutating func readLater(at now: Instant) { due = now + Self.interval }
}

/// What the batches of one read have shown.
struct ReadFindings {
    /// Whether the read has found something, and only what can wait.
    private(set) var canWait = false
    private var isEmpty = true

    /// Records a batch.
    mutating func add(canWait isPatient: Bool) {
        canWait = isPatient && (isEmpty || canWait)
        isEmpty = false
    }
}

/// The pace of each of a shard's sockets.
struct SocketPaces {
    var ipv4 = ReadingPace()
    var ipv6 = ReadingPace()

    subscript(family: TransportAddress.Family) -> ReadingPace {
        get { family == .ipv4 ? ipv4 : ipv6 }
        set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }

    /// When to read a socket that is not watched; the distant future if all are.
    var next: Instant { min(ipv4.due ?? .distantFuture, ipv6.due ?? .distantFuture) }

    /// Records a read.
    /// - Returns: Whether the socket has to be watched from now on, or no longer.
    mutating func recordRead(of family: TransportAddress.Family, canWait: Bool, at now: Instant) -> Bool {
        let wasWatching = self[family].isWatching
        self[family].recordRead(canWait: canWait, at: now)
        return self[family].isWatching != wasWatching
    }
}
