/// Why a connection of an RTMP client cannot go on.
public enum RTMPServerError: Error, Hashable, Sendable {
    /// The first byte is not that of RTMP's handshake, but this one.
    case notRTMP(firstByte: UInt8)
    /// The chunks or what they hold cannot be read.
    case format(StreamFormatError)
    /// A command cannot be read.
    case unreadableCommand
    /// A command came where it has no meaning. Holds its name, as far as it is printable.
    case unexpected(command: String)
    /// More is sent than may come from a client that does not publish.
    case tooEager
    /// The client asks for answers without end, and reads none.
    case unreadAnswers
}

extension RTMPServerError: CustomStringConvertible {
    /// The end of a sentence about the client.
    public var description: String {
        switch self {
        case .notRTMP(22): "it speaks TLS (rtmps), which is not supported here"
        case .notRTMP(6): "it speaks encrypted RTMP (rtmpe), which is not supported"
        case .notRTMP(let byte): "it does not speak RTMP: its first byte is \(byte)"
        case .format(.tooLong(let item)): "\(item.words) is longer than it may be"
        case .format(.damaged(let damage)): "what it sends is damaged: \(damage.words)"
        case .format(let error): "\(error)"
        case .unreadableCommand: "a command cannot be read"
        case .unexpected(let name): "the command \(name) came at the wrong time"
        case .tooEager: "it sends too much while it does not publish"
        case .unreadAnswers: "it keeps sending requests and does not read the answers"
        }
    }
}
