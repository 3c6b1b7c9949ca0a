/// A request method (RFC 2326, section 10).
public enum RTSPMethod: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case options = "OPTIONS"
    case describe = "DESCRIBE"
    case announce = "ANNOUNCE"
    case setup = "SETUP"
    case play = "PLAY"
    case pause = "PAUSE"
    case teardown = "TEARDOWN"
    case getParameter = "GET_PARAMETER"
    case setParameter = "SET_PARAMETER"
    case redirect = "REDIRECT"
    case record = "RECORD"

    public var description: String { rawValue }

    /// The methods that an answer to OPTIONS lists; names that RFC 2326 does not know are left out.
    public static func list(_ headerValue: String) -> Set<RTSPMethod> {
        Set(headerValue.split(separator: ",").compactMap { RTSPMethod(rawValue: $0.trimmedASCII.uppercased()) })
    }
}
