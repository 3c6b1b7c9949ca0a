import SDP

/// Why an offer is not answered, with the line that shows it.
public struct OfferRefusal: Error, Hashable, Sendable {
    /// The error for the client.
    public var error: SignallingError
    /// The same in words, without the line.
    public var reason: String
    /// The line of the offer that shows it, from 1; nil where none does.
    public var line: Int?

    init(_ error: SignallingError, _ reason: String, line: Int?) {
        self.error = error
        self.reason = reason
        self.line = line
    }

    /// An offer that no gateway could answer.
    init(invalid error: NegotiationError, in offer: SessionDescription) {
        self.init(.invalidOffer("\(error)"), error.reason, line: error.line ?? offer.lineNumber(ofMediaAt: 0))
    }
}

extension SessionDescription {
    /// The number of the first `m=` line that matches, or of the very first one.
    func lineOfMedia(_ isWanted: (MediaDescription) -> Bool) -> Int? {
        lineNumber(ofMediaAt: media.firstIndex { !$0.isRejected && isWanted($0) } ?? 0)
    }

    /// Whether the offer asks for a picture.
    var wantsVideo: Bool {
        media.contains { $0.kind == .video && !$0.isRejected && direction(of: $0).receives }
    }
}
