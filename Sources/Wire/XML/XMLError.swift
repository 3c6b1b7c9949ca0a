/// Why a document cannot be read.
public enum XMLError: Error, Equatable, Sendable {
    /// It is not well-formed (XML 1.0, section 2.1); says where and why.
    case malformed(String)
    /// It declares a document type, which could define entities.
    case documentType
    /// Something in it exceeds a limit of the reader.
    case tooLarge(what: String, limit: Int)
    /// libexpat could not make a parser: it got no memory.
    case noParser
}

extension XMLError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let reason): "the document is not XML: \(reason)"
        case .documentType: "the document declares a document type"
        case .tooLarge(let what, let limit): "the document contains \(what) of more than \(limit)"
        case .noParser: "libexpat could not make a parser"
        }
    }
}
