import RTP
import Transport

/// What is known about the path to one viewer, and what follows from it.
struct ViewerLine {
    /// Repairs stop waiting for the viewer's requests at the first share of loss, and wait for them again below the second.
    private static let heavyLoss = (from: 0.08, until: 0.04)
    /// From this share of loss on, everything is sent twice if the way back loses many packets too.
    private static let lossForSendingTwice = 0.12
    /// The way back is judged by so many feedback messages. It loses many packets if this number of them is lost.
    private static let feedbackWindow = 24
    private static let lostFeedback = 3

    private var meter = LossMeter()
    private(set) var limit = LineLimit()
    /// Whether losses are made good before they are asked for (see ``Viewer/repair(_:through:at:)``).
    private(set) var repairsEarly = false
    private var share = 0.0
    private var losesRequests = false
    private var lastFeedback: UInt8?
    private var feedbackMessages = (expected: 0, received: 0)
    var log = TransportLog()
    /// ``Egress/bytesSent`` when the present window of the meter began.
    private var bytesBefore: UInt64 = 0

    /// Whether everything is sent twice, without being asked for.
    var sendsTwice: Bool { repairsEarly && losesRequests && share >= Self.lossForSendingTwice }

    /// Whether the viewer gets less than everything.
    var isLimited: Bool { limit.isOn }

    /// Reads a receiver report's block about the video.
    /// - Parameters:
    ///   - bytesSent: What has gone to the viewer so far, without retransmissions.
    ///   - streamRate: What the track brings, in bytes a second.
    mutating func note(_ block: RTCPReportBlock, bytesSent: UInt64, streamRate: UInt64, at now: Instant) {
        guard let window = meter.note(block, at: now) else { return }
        limit.judge(window, bytes: bytesSent &- bytesBefore, streamRate: streamRate, at: now)
        bytesBefore = bytesSent
        share = window.share
        repairsEarly = !limit.isOn && window.share >= (repairsEarly ? Self.heavyLoss.until : Self.heavyLoss.from)
        if !repairsEarly { log.removeAll() }
    }

    /// Records a message of transport-wide feedback. Gaps in the messages' numbers show what the way back loses.
    mutating func noteFeedback(number: UInt8) {
        defer { lastFeedback = number }
        guard let lastFeedback else { return }
        let step = number &- lastFeedback
        // Larger ones are messages that were overtaken.
        guard step > 0, step < 128 else { return }
        feedbackMessages.expected += Int(step)
        feedbackMessages.received += 1
        guard feedbackMessages.expected >= Self.feedbackWindow else { return }
        let lost = Double(feedbackMessages.expected - feedbackMessages.received) / Double(feedbackMessages.expected)
        // One window without any loss is enough to stop: with 20 % of loss that is one window in 200.
        losesRequests = losesRequests ? lost > 0 : lost * Double(Self.feedbackWindow) >= Double(Self.lostFeedback)
        feedbackMessages = (0, 0)
    }

    mutating func packets(at now: Instant) -> Int { limit.packets(at: now) }

    mutating func spend(_ bytes: UInt64) { limit.spend(bytes) }

    mutating func takeForRepair(_ bytes: Int, at now: Instant) -> Bool { limit.takeForRepair(bytes, at: now) }
}
