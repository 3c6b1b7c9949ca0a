/// Why a codec could not be made, or why it refused its input.
public struct CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The codec or file format, for example `VP8`.
    public var codec: String
    /// What was attempted, for example `decode`.
    public var operation: String
    /// What was wrong and, where a remedy exists, what to do.
    public var reason: String

    /// Describes a failure.
    public init(codec: String, operation: String, reason: String) {
        self.codec = codec
        self.operation = operation
        self.reason = reason
    }

    public var description: String { "\(codec) \(operation): \(reason)" }
}
