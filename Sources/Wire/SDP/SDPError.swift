/// Why a text cannot be read as a session description at all.
///
/// A single line that cannot be understood is not an error: it is kept and listed in ``SessionDescription/problems``.
/// Lines are counted from 1.
public enum SDPError: Error, Hashable, Sendable {
    /// The text holds no line.
    case empty
    /// The text has so many bytes, which are more than ``SessionDescription/maximumLength``.
    case tooLong(byteCount: Int)
    /// The text has more lines than ``SessionDescription/maximumLines``; this is the first one too many.
    case tooManyLines(line: Int)
    /// The text has more `m=` lines than ``SessionDescription/maximumMediaDescriptions``; this is the first one too
    /// many.
    case tooManyMediaDescriptions(line: Int)
    /// No line of the text has the form `x=value`. The first one has this number and begins with this text, of at most
    /// 80 characters.
    case notADescription(line: Int, text: String)

    /// The line of the fault, from 1; nil where the fault is in the text as a whole.
    public var line: Int? {
        switch self {
        case .empty, .tooLong: nil
        case .tooManyLines(let line), .tooManyMediaDescriptions(let line), .notADescription(let line, _): line
        }
    }
}
