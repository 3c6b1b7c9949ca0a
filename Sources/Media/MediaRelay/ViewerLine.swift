import RTP
import Transport

/// What the gateway knows about the path to one viewer, and what it does about it.
struct ViewerLine {
    /// Repairs stop waiting for the viewer's requests at the first share of loss, and wait for them again below the second.
    private static let heavyLoss = (from: 0.08, until: 0.04)
    /// From this share of loss, everything is sent twice if the path back loses many packets too.
    private static let lossForSendingTwice = 0.12
    /// The path back is judged over this many feedback messages. It loses many packets if ``lostFeedback`` of them are lost.
    private static let feedbackWindow = 24
    private static let lostFeedback = 3

    private var meter = LossMeter()
    private(set) var limit = LineLimit()
    /// Whether losses are repaired before the viewer asks (see ``Viewer/repair(_:through:at:)``).
    private(set) var repairsEarly = false
    private var share = 0.0
    private var losesRequests = false
    private var lastFeedback: UInt8?
    private var feedbackMessages = (expected: 0, received: 0)
    /// ``Egress/bytesSent`` at the beginning of the meter's current window.
    private var bytesBefore: UInt64 = 0

    /// Whether everything is sent twice without a request.
    var sendsTwice: Bool { repairsEarly && losesRequests && share >= Self.lossForSendingTwice }

    /// Whether the viewer gets less than everything.
    var isLimited: Bool { limit.isOn }

    /// Reads a receiver report's block about the video.
    /// - Parameters:
    ///   - bytesSent: The bytes sent to the viewer so far, without retransmissions.
    ///   - streamRate: The track's rate, in bytes a second.
    mutating func note(_ block: RTCPReportBlock, bytesSent: UInt64, streamRate: UInt64, at now: Instant) {
        guard let window = meter.note(block, at: now) else { return }
        limit.judge(window, bytes: bytesSent &- bytesBefore, streamRate: streamRate, at: now)
        bytesBefore = bytesSent
        share = window.share
        repairsEarly = !limit.isOn && window.share >= (repairsEarly ? Self.heavyLoss.until : Self.heavyLoss.from)
    }

    /// Records a message of transport-wide feedback. Gaps in the messages' numbers show the losses of the path back.
    mutating func noteFeedback(number: UInt8) {
        defer { lastFeedback = number }
        guard let lastFeedback else { return }
        let step = number &- lastFeedback
        // Larger steps are messages that arrived out of order.
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
