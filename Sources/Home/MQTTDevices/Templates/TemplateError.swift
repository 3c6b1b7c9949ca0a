/// Why a template cannot be used, or did not produce a value for a message.
public enum TemplateError: Error, Hashable, Sendable {
    /// It contains something that is not in the supported subset.
    case unsupported(String)
    /// It is not a template.
    case malformed(String)
    /// The message does not contain what the template reads, or contains it in another form.
    case noValue(String)
    /// The result would be longer than a payload may be.
    case tooLong
}

extension TemplateError: CustomStringConvertible {
    /// The words that people read.
    public var description: String {
        switch self {
        case .unsupported(let what): "uses \(what), which is not supported"
        case .malformed(let what): "is not a template: \(what)"
        case .noValue(let what): "does not find a value: \(what)"
        case .tooLong: "produces a text that is too long"
        }
    }
}
