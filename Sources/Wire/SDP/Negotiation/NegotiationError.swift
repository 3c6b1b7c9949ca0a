/// Why an offer cannot be answered, or an answer cannot be used. Each case says what was found, where, and what would
/// help.
public enum NegotiationError: Error, Hashable, Sendable {
    /// The description lacks what a WebRTC session needs, or contradicts itself; the line shows where.
    case invalidDescription(DescriptionFault, line: Int? = nil)
    /// The description lacks usable ICE credentials or a usable fingerprint; the line shows where, or which `m=` line
    /// lacks it. Nil for a description made in code.
    case unusableTransport(TransportFault, line: Int?)
    /// Both sides have media of the same kind but share no codec; names both sides' codecs, and what would help.
    case codecMismatch(MediaKind, CodecMismatch, remedy: CodecMismatch.Remedy?)
    /// Nothing in the description can be used; gives a reason for each `m=` line.
    case noUsableMedia([NegotiationNote])
}

extension NegotiationError: CustomStringConvertible {
    public var description: String { (line.map { "line \($0): " } ?? "") + reason }

    /// What is wrong, without the line.
    public var reason: String {
        switch self {
        case .invalidDescription(let fault, _): fault.description
        case .unusableTransport(let fault, _): fault.description
        case .codecMismatch(let kind, let mismatch, let remedy):
            "\(kind.name) has \(mismatch.words)" + (remedy.map { "; " + $0.words } ?? "")
        case .noUsableMedia(let notes):
            "nothing in the offer can be used: " + notes.map(\.description).joined(separator: "; ")
        }
    }

    /// The line that shows it, from 1; nil where no line does, and for a description that was made in code.
    public var line: Int? {
        switch self {
        case .invalidDescription(_, let line), .unusableTransport(_, let line): line
        case .codecMismatch, .noUsableMedia: nil
        }
    }
}
