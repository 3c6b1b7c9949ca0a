/// What is wrong with ICE credentials (RFC 8839, section 5.4). The value itself is never repeated: a password is secret.
public enum ICECredentialFault: Hashable, Sendable {
    /// What is wrong with a value.
    public enum Problem: Hashable, Sendable {
        /// It has so many characters, which the RFC does not allow.
        case length(Int)
        /// It contains characters other than printable ASCII.
        case unprintable
    }

    /// The problem is in `a=ice-ufrag`.
    case usernameFragment(Problem)
    /// The problem is in `a=ice-pwd`.
    case password(Problem)
}

extension ICECredentialFault: CustomStringConvertible {
    public var description: String { "a=\(attribute) \(reason)" }

    /// The name of the attribute.
    var attribute: String {
        switch self {
        case .usernameFragment: "ice-ufrag"
        case .password: "ice-pwd"
        }
    }

    /// What is wrong, after the attribute.
    var reason: String {
        switch self {
        case .usernameFragment(let problem): Self.words(problem, ICECredentialRules.usernameFragmentLengths)
        case .password(let problem): Self.words(problem, ICECredentialRules.passwordLengths)
        }
    }

    private static func words(_ problem: Problem, _ lengths: ClosedRange<Int>) -> String {
        switch problem {
        case .length(let count):
            "has \(count) characters; RFC 8839 asks for \(lengths.lowerBound) to \(lengths.upperBound)"
        case .unprintable: "contains characters other than printable ASCII"
        }
    }
}
