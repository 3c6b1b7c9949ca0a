extension SDPError: CustomStringConvertible {
    public var description: String { (line.map { "line \($0): " } ?? "") + reason }

    /// What is wrong and what would be right, without the line.
    private var reason: String {
        switch self {
        case .empty: "the description is empty; v=0 and what follows it were expected"
        case .tooLong(let byteCount):
            "the description has \(byteCount) bytes; at most \(SessionDescription.maximumLength) are read"
        case .tooManyLines: "the description has more than \(SessionDescription.maximumLines) lines"
        case .tooManyMediaDescriptions:
            "the description has more than \(SessionDescription.maximumMediaDescriptions) m= lines"
        case .notADescription(_, let text): "no line has the form x=value; the first is \"\(text)\""
        }
    }
}
