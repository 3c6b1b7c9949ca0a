import DatagramPort
import MediaRelay
import Transport

/// How much of the machine's processor may be used to transcode video for viewers: one budget for all cameras.
///
/// A transcode is admitted while there is room for its smallest picture. When the budget is short, the most expensive
/// ones get smaller pictures. When that is not enough, the newest is refused. A camera whose config says
/// `transcodeVideo: true` counts, but is neither reduced nor refused.
public final class TranscodingBudget: Sendable {
    /// The state of the budget.
    public struct Report: Sendable, Equatable {
        /// What may be used, in processor cores.
        public var capacity: Double
        /// What the running transcodes use, as far as it is known, in processor cores.
        public var used = 0.0
        /// How many are running.
        public var running = 0
        /// How many of them make smaller pictures than they would otherwise.
        public var limited = 0
        /// How often one was refused.
        public var refused: UInt64 = 0
    }

    /// Names a running transcode.
    struct Ticket: Sendable, Hashable {
        let number: UInt64
    }

    private let plan: Locked<TranscodingPlan>
    private let now: @Sendable () -> Instant

    /// A budget for a machine with this many cores. One core, and a fifth of the others, is left to the relay and
    /// everything else. A machine with one core gives half of it.
    public convenience init(cores: Int) {
        self.init(capacity: cores > 1 ? Double(cores - 1) * 0.8 : 0.5)
    }

    /// A budget of this many cores.
    init(capacity: Double, now: @escaping @Sendable () -> Instant = { MonotonicClock.now }) {
        plan = Locked(TranscodingPlan(capacity: capacity))
        self.now = now
    }

    /// The state of the budget.
    public var report: Report { plan.withLock { $0.report } }

    /// Admits a transcode; nil if there is no room for it.
    /// - Parameters:
    ///   - source: the size of the camera's pictures, if it is known.
    ///   - isExempt: whether it runs whatever it costs.
    func admit(source: PictureSize?, isExempt: Bool) -> Ticket? {
        plan.withLock { $0.admit(source: source, isExempt: isExempt) }
    }

    /// How wide the pictures of a transcode may be now if its camera sends pictures of this size; nil if there is no
    /// room for it at any width.
    func width(of ticket: Ticket, source: PictureSize) -> Int? {
        plan.withLock { $0.width(of: ticket, source: source) }
    }

    /// The width to which the budget limits a transcode; nil if it does not.
    func limit(of ticket: Ticket) -> Int? { plan.withLock { $0.limit(of: ticket) } }

    /// Records the share of a core that a transcode was measured to use.
    func record(share: Double, of ticket: Ticket) {
        let now = now()
        plan.withLock { $0.record(share: share, of: ticket, at: now) }
    }

    /// The transcode has ended.
    func release(_ ticket: Ticket) { plan.withLock { $0.release(ticket) } }

    /// Why a transcode of this camera is refused now.
    func refusal(camera: String) -> TranscodingRefusal {
        let report = report
        return TranscodingRefusal(camera: camera, running: report.running, cores: report.capacity)
    }
}

/// The size of a picture in pixels.
struct PictureSize: Sendable, Hashable {
    var width: Int
    var height: Int
}

/// The arithmetic of ``TranscodingBudget``. Pure: times are passed in.
struct TranscodingPlan: Sendable {
    private struct Entry {
        var source: PictureSize
        let isExempt: Bool
        /// The position in ``widths``.
        var step = 0
        /// What it uses, relative to the model.
        var factor: Double

        /// The share of a core that it uses at a step.
        func cost(at step: Int) -> Double {
            TranscodingPlan.cost(of: source, width: TranscodingPlan.widths[step]) * factor
        }
        var cost: Double { cost(at: step) }
    }

    /// The widths that the budget chooses from.
    static let widths = [VideoTranscoding.maximumWidth, 1280, 960, 640, 480, 320]
    /// The assumption about a camera that has not shown a picture yet.
    private static let usual = PictureSize(width: 1280, height: 720)
    private static let framesPerSecond = 20.0
    /// One transcode runs on one thread, which cannot use more than one core.
    private static let most = 0.9
    /// How long a plan stays in force before pictures become larger again.
    private static let calm = Duration.seconds(30)

    let capacity: Double
    private var entries: [UInt64: Entry] = [:]
    private var next: UInt64 = 0
    private var refused: UInt64 = 0
    /// The cost of transcoding on this machine, relative to the model.
    private var factor = 1.0
    private var lastEnlarged = Instant.zero

    init(capacity: Double) { self.capacity = capacity }

    /// The share of a core that a transcode uses according to the model: decoding depends on the camera's pixels,
    /// encoding on the resulting ones. The numbers are those of H.265 on the machine of docs/performance.md (360p 6.6
    /// %, 720p 19 %, 1080p reduced to 720p 33 % of a core at 15 pictures per second); measurements correct them for
    /// others.
    static func cost(of source: PictureSize, width: Int) -> Double {
        let decoded = Double(source.width * source.height) * framesPerSecond
        let scale = min(1, Double(width) / Double(max(source.width, 1)))
        return 0.018 + 0.81e-8 * decoded + 0.565e-8 * decoded * scale * scale
    }

    private var used: Double { entries.values.reduce(0) { $0 + $1.cost } }

    var report: TranscodingBudget.Report {
        var report = TranscodingBudget.Report(capacity: capacity)
        report.used = used
        report.running = entries.count
        report.limited = entries.values.count { Self.isLimited($0) }
        report.refused = refused
        return report
    }

    private static func isLimited(_ entry: Entry) -> Bool { widths[entry.step] < min(entry.source.width, widths[0]) }

    mutating func admit(source: PictureSize?, isExempt: Bool) -> TranscodingBudget.Ticket? {
        let ticket = TranscodingBudget.Ticket(number: next)
        next += 1
        entries[ticket.number] = Entry(source: source ?? Self.usual, isExempt: isExempt, factor: factor)
        plan()
        return keep(ticket) ? ticket : nil
    }

    mutating func width(of ticket: TranscodingBudget.Ticket, source: PictureSize) -> Int? {
        guard let known = entries[ticket.number] else { return nil }
        if known.source != source {
            entries[ticket.number]?.source = source
            plan()
            guard keep(ticket) else { return nil }
        }
        return entries[ticket.number].map { Self.widths[$0.step] }
    }

    func limit(of ticket: TranscodingBudget.Ticket) -> Int? {
        entries[ticket.number].flatMap { Self.isLimited($0) ? Self.widths[$0.step] : nil }
    }

    /// Whether the newest one fits; it is released if it does not.
    private mutating func keep(_ ticket: TranscodingBudget.Ticket) -> Bool {
        guard let entry = entries[ticket.number], !entry.isExempt else { return true }
        if used <= capacity, entry.cost <= Self.most { return true }
        refused += 1
        release(ticket)
        return false
    }

    mutating func release(_ ticket: TranscodingBudget.Ticket) {
        guard entries.removeValue(forKey: ticket.number) != nil else { return }
        plan()
    }

    mutating func record(share: Double, of ticket: TranscodingBudget.Ticket, at now: Instant) {
        guard let entry = entries[ticket.number] else { return }
        let measured = share / Self.cost(of: entry.source, width: Self.widths[entry.step])
        // Calm pictures cost little, and may become lively at any moment.
        entries[ticket.number]?.factor = min(max((entry.factor + measured) / 2, 0.5), 20)
        factor = entries.values.reduce(0) { $0 + $1.factor } / Double(entries.count)
        if used > capacity * 1.1 {
            plan()
        } else if used < capacity * 0.7, now - lastEnlarged >= Self.calm, entries.values.contains(where: Self.isLimited)
        {
            lastEnlarged = now
            plan()
        }
    }

    /// Gives each transcode the largest pictures that fit. The most expensive one is reduced first, and of two equals
    /// the older one.
    private mutating func plan() {
        for number in entries.keys { entries[number]?.step = 0 }
        let smallest = Self.widths.count - 1
        while true {
            let candidates = entries.filter { !$0.value.isExempt && $0.value.step < smallest }
            let isTooMuch = used > capacity
            let next = candidates.filter { isTooMuch || $0.value.cost > Self.most }
                .max { ($0.value.cost, $1.key) < ($1.value.cost, $0.key) }
            guard let next else { return }
            entries[next.key]?.step += 1
        }
    }
}
