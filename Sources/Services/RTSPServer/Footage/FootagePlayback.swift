import MediaRelay
import PushAvStreamTransport
import RTSP
import Transport

/// What a request does with the footage that it waits for.
enum FootageWish {
    case describe
    case setUp(path: String, track: Int)
}

/// One PLAY of recorded footage: what has been read and not yet sent. It lives on the server's thread.
struct FootagePlayback {
    /// Names the playback, so that what a former one has read is not taken for its own.
    let number: UInt64
    let feed: FootageFeed
    /// What is played, in microseconds since 1970, UTC.
    let times: Range<Int64>
    /// How much faster than it was recorded; nil where the client did not ask.
    let scale: Double?
    /// The range as the client wrote it.
    let range: RTSPRange?
    /// Which pictures are sent, and whether they wait for their time.
    let manner: ReplayManner
    /// The low byte of the `CSeq` of its PLAY, where the packets carry the replay extension.
    let replaySequence: UInt8?
    /// The moment of its beginning; nil before PLAY has been answered.
    var started: Instant?
    /// Whether a reading is under way.
    var isReading = false
    /// Why nothing more will be read.
    var end: FootageFeed.End?
    /// Whether the client has to read before more is sent.
    var isHeld = false
    /// When what was sent last was captured, in microseconds since 1970, UTC.
    private(set) var latestCapture: Int64?
    private var waiting: [FootagePackets] = []
    private var head = 0

    /// How much is read in advance.
    static let lead = Duration.seconds(1)
    /// How many bytes may wait for a client that reads too slowly. Footage waits for it: nothing is left out.
    static let maximumQueuedBytes = 1 << 20

    init(
        number: UInt64, feed: FootageFeed, times: Range<Int64>, scale: Double?, range: RTSPRange?,
        manner: ReplayManner, replaySequence: UInt8?
    ) {
        self.number = number
        self.feed = feed
        self.times = times
        self.scale = scale
        self.range = range
        self.manner = manner
        self.replaySequence = replaySequence
    }

    var isEmpty: Bool { head == waiting.count }

    /// When the next packets are due; nil while nothing waits for time.
    var nextDue: Instant? {
        guard let started, !isHeld, head < waiting.count else { return nil }
        return started + waiting[head].due
    }

    /// Whether more is to be read now.
    func wantsMore(at now: Instant) -> Bool {
        guard !isReading, end == nil, let started else { return false }
        if isEmpty { return true }
        // What a slow client has not read yet waits on the disk.
        guard manner.isPaced, !isHeld else { return false }
        return started + (waiting.last?.due ?? .zero) - now < Self.lead
    }

    mutating func append(_ packets: [FootagePackets]) {
        waiting.removeFirst(head)
        head = 0
        waiting += packets
    }

    /// The next packets, if they are due.
    mutating func next(at now: Instant) -> FootagePackets? {
        guard let started, head < waiting.count, started + waiting[head].due <= now else { return nil }
        defer { head += 1 }
        latestCapture = waiting[head].captured
        return waiting[head]
    }
}

extension RTSPConnection {
    /// Whether so much footage waits for the client that it has to read before more is sent.
    var isFullOfFootage: Bool { tracks.contains { $0.queue.byteCount > FootagePlayback.maximumQueuedBytes } }

    /// Ends a playback, and keeps where it was.
    func leaveFootage(at now: Instant) {
        guard let playback else { return }
        if let footage { footagePosition = position(of: playback, in: footage, at: now) }
        self.playback = nil
    }

    /// Where a playback is, in the presentation.
    func position(of playback: FootagePlayback, in footage: FootagePresentation, at now: Instant) -> Int64 {
        let begin = footage.timeline.position(of: playback.times.lowerBound)
        guard let started = playback.started else { return begin }
        let end = footage.timeline.position(of: playback.times.upperBound)
        if !playback.manner.isPaced {
            return playback.latestCapture.map { min(end, max(begin, footage.timeline.position(of: $0))) } ?? begin
        }
        let elapsed = (now - started).inSeconds * (playback.scale ?? 1) * 1e6
        return min(end, begin + Int64(max(0, elapsed)))
    }
}

/// Brings to the server's thread what other threads have read.
final class ArrivingFootage: Sendable {
    typealias Work = @Sendable (RTSPServerShard, Instant) -> Void

    private let post = Locked<(@Sendable (@escaping Work) -> Void)?>(nil)

    func setPost(_ post: @escaping @Sendable (@escaping Work) -> Void) {
        self.post.withLock { $0 = post }
    }

    /// Runs `work` on the server's thread; not if it has ended.
    func post(_ work: @escaping Work) {
        post.withLock { $0 }?(work)
    }
}
