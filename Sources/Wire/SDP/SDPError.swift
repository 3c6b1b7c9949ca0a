/// Why a text cannot be read as a session description at all.
///
/// A single line that cannot be understood is not an error: it is kept and listed in ``SessionDescription/problems``.
/// Two errors are equal when their codes are.
public struct SDPError: Error, Sendable {
    /// What kind of fault it is.
    public enum Code: String, Hashable, Sendable {
        /// The text holds no line.
        case empty
        /// The text has more bytes than ``SessionDescription/maximumLength``.
        case tooLong
        /// The text has more lines than ``SessionDescription/maximumLines``.
        case tooManyLines
        /// The text has more `m=` lines than ``SessionDescription/maximumMediaDescriptions``.
        case tooManyMediaDescriptions
        /// No line of the text has the form `x=value`.
        case notADescription
    }

    /// What kind of fault it is.
    public let code: Code
    /// The line of the fault, from 1; nil where the fault is in the text as a whole.
    public let line: Int?
    /// What is wrong and what would be right.
    public let reason: String

    init(_ code: Code, line: Int? = nil, reason: String) {
        self.code = code
        self.line = line
        self.reason = reason
    }
}

extension SDPError: Hashable {
    public static func == (left: SDPError, right: SDPError) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension SDPError: CustomStringConvertible {
    public var description: String {
        line.map { "line \($0): \(reason)" } ?? reason
    }
}
