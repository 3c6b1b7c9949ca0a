/// Why a camera's source, or the connection that delivers its events, does not work. In JSON it is the text that people
/// read.
public struct SourceTrouble: Sendable, Hashable {
    /// What differs with each attempt.
    public enum Attempts: Sendable, Hashable {
        /// The next one is in this many seconds.
        case next(seconds: Int)
        /// So many have failed in the same way that the next one has to wait longer.
        case failed(Int)
    }

    /// The reason as a text, which stays the same while every attempt fails in the same way.
    public var reason: String
    /// The attempts; nil where there is nothing to say about them, and in what was read from JSON.
    public var attempts: Attempts?

    /// Describes a trouble.
    public init(_ reason: String, attempts: Attempts? = nil) {
        self.reason = reason
        self.attempts = attempts
    }
}

extension SourceTrouble: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(words)
    }
}
