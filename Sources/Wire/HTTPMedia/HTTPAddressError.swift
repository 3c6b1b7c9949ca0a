/// Why an address cannot be used.
public enum HTTPAddressError: Error, Equatable, Sendable {
    /// Says why.
    case invalidAddress(String)
}

extension HTTPAddressError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidAddress(let reason): "the address cannot be used: \(reason)"
        }
    }
}
