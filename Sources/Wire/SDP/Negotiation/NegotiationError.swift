/// Why an offer cannot be answered, or an answer cannot be used. Each case says what was found, where, and what would
/// help.
public enum NegotiationError: Error, Hashable, Sendable {
    /// The description lacks what a WebRTC session needs, or contradicts itself.
    case invalidDescription(String)
    /// Both sides have media of the same kind but share no codec; names both sides' codecs.
    case codecMismatch(String)
    /// Nothing of the description can be used, for the reasons given, one for each `m=` line.
    case noUsableMedia([String])
}

extension NegotiationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidDescription(let reason), .codecMismatch(let reason): reason
        case .noUsableMedia(let reasons): "nothing of the offer can be used: " + reasons.joined(separator: "; ")
        }
    }
}
