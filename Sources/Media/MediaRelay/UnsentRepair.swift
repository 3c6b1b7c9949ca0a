import Congestion

/// A retransmission, or a packet of a probe, that has been written into a run. It counts as sent when the run has left.
struct UnsentRepair {
    /// Why a packet is sent again.
    enum Purpose {
        /// The viewer misses it, or will miss it.
        case repair(isPrecaution: Bool)
        /// It is the second copy of a repair.
        case copy
        /// It only measures the path.
        case probe

        /// Whether it takes from the viewer's budget. A probe is beside it, because it finds out whether there could be
        /// more of it.
        var needsBudget: Bool { if case .probe = self { false } else { true } }

        /// What the log calls it.
        var kind: SendLog.Kind { needsBudget ? .retransmission : .probe }
    }

    var purpose: Purpose
    /// The packet's index in its media stream.
    var index: UInt64
    /// Its transport-wide sequence number; nil for none.
    var transportNumber: UInt16?
    /// The size of its payload.
    var payloadBytes: Int
    /// Its size without the headers of UDP and IP.
    var bytes: Int
}
