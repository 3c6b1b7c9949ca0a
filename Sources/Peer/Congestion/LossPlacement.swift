/// Tells loss for want of room from random loss by where in a burst the lost packets were.
///
/// A camera's frame leaves at once. A line that is too slow, whether it polices the rate or has a short queue, takes the
/// first packets of each frame and drops the last ones. Radio does not care which packet it loses. So the halves of a frame
/// are compared: frame by frame, because packets are often lost several in a row, and by their number.
struct LossPlacement: Sendable {
    /// The frames that are remembered.
    private static let frames = 32
    /// By how many standard deviations of pure chance the second halves must lose more, in frames and in packets.
    private static let certainty = (frames: 3.1, packets: 4.5)
    /// The same while loss has suddenly become heavy, when chance has fewer occasions, and when that also follows a step up.
    private static let suddenly = (frames: 2.2, packets: 3.7)
    private static let afterStep = (frames: 1.7, packets: 3.0)

    private struct Frame {
        var key: UInt64
        var early = 0
        var late = 0
    }

    /// The newest frames that lost packets, oldest first.
    private var lossy: [Frame] = []

    /// Records the loss of a packet.
    /// - Parameters:
    ///   - frame: what tells the frame from others.
    ///   - position: the packet's place among the `count` that left together.
    mutating func recordLost(frame: UInt64, position: Int, of count: Int) {
        // Neither half has the packet in the middle.
        guard count > 1, position * 2 + 1 != count else { return }
        let place: Int
        if let known = lossy.lastIndex(where: { $0.key == frame }) {
            place = known
        } else {
            if lossy.count == Self.frames { lossy.removeFirst() }
            lossy.append(Frame(key: frame))
            place = lossy.count - 1
        }
        if position * 2 < count { lossy[place].early += 1 } else { lossy[place].late += 1 }
    }

    /// Whether so many more packets were lost at the ends of frames that this is not a coincidence.
    var showsLackOfRoom: Bool { hasLaterLosses(Self.certainty) }

    /// Whether this is likely, now that loss has suddenly become heavy.
    /// - Parameter afterStep: whether the peer has got a larger stream just before.
    func suggestsLackOfRoom(afterStep: Bool) -> Bool {
        hasLaterLosses(afterStep ? Self.afterStep : Self.suddenly)
    }

    private func hasLaterLosses(_ least: (frames: Double, packets: Double)) -> Bool {
        var frames = (late: 0, early: 0)
        var packets = (late: 0, early: 0)
        for frame in lossy {
            if frame.late > frame.early { frames.late += 1 } else if frame.late < frame.early { frames.early += 1 }
            packets.late += frame.late
            packets.early += frame.early
        }
        func deviations(_ counts: (late: Int, early: Int)) -> Double {
            Double(counts.late - counts.early) / Double(max(counts.late + counts.early, 1)).squareRoot()
        }
        return deviations(frames) >= least.frames && deviations(packets) >= least.packets
    }

    /// Forgets all frames.
    mutating func removeAll() { lossy.removeAll(keepingCapacity: true) }
}
