/// The lengths of ICE credentials (RFC 8839, section 5.4).
///
/// The user name of a check is both fragments and a colon, and each check is hashed with the password. A peer chooses
/// these lengths, so they are limited: the gateway's checks grow with them.
enum ICECredentialRules {
    static let usernameFragmentLengths = 4...256
    static let passwordLengths = 22...256

    /// What is wrong with a value; nil where nothing is.
    static func fault(usernameFragment value: String) -> ICECredentialFault? {
        problem(in: value, lengths: usernameFragmentLengths).map { .usernameFragment($0) }
    }

    /// What is wrong with a value; nil where nothing is.
    static func fault(password value: String) -> ICECredentialFault? {
        problem(in: value, lengths: passwordLengths).map { .password($0) }
    }

    private static func problem(in value: String, lengths: ClosedRange<Int>) -> ICECredentialFault.Problem? {
        let count = value.utf8.count
        guard lengths.contains(count) else { return .length(count) }
        // The alphabet is letters, digits, `+` and `/`. Other characters that peers send do no harm as long as they are
        // printable.
        return value.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? nil : .unprintable
    }
}

extension TrickleFragment {
    /// What is wrong with the credentials of the fragment or of a section, with its line, from 1; nil where nothing is
    /// wrong.
    public var credentialFault: (fault: ICECredentialFault, line: Int?)? {
        let levels = [(usernameFragment, password)] + sections.map { ($0.usernameFragment, $0.password) }
        for (usernameFragment, password) in levels {
            let fault =
                usernameFragment.flatMap { ICECredentialRules.fault(usernameFragment: $0) }
                ?? password.flatMap { ICECredentialRules.fault(password: $0) }
            guard let fault else { continue }
            let line = problems.first { $0.text.hasPrefix("a=\(fault.attribute)") && $0.line > 0 }?.line
            return (fault, line)
        }
        return nil
    }
}
