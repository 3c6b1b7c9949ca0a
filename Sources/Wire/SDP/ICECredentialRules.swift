/// The lengths of ICE credentials (RFC 8839, section 5.4).
///
/// The user name of a check is both fragments and a colon, and each check is hashed with the password. A peer chooses
/// these lengths, so they are limited: the gateway's checks grow with them.
enum ICECredentialRules {
    static let usernameFragmentLengths = 4...256
    static let passwordLengths = 22...256

    /// What is wrong with a value; nil where nothing is.
    static func fault(usernameFragment value: String) -> String? {
        fault(in: value, lengths: usernameFragmentLengths)
    }

    /// What is wrong with a value; nil where nothing is.
    static func fault(password value: String) -> String? {
        fault(in: value, lengths: passwordLengths)
    }

    private static func fault(in value: String, lengths: ClosedRange<Int>) -> String? {
        let count = value.utf8.count
        guard lengths.contains(count) else {
            return "has \(count) characters; RFC 8839 asks for \(lengths.lowerBound) to \(lengths.upperBound)"
        }
        // The alphabet is letters, digits, `+` and `/`. Other characters that peers send do no harm as long as they are
        // printable.
        guard value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return "contains characters other than printable ASCII"
        }
        return nil
    }

    /// What is wrong with a pair of credentials, with the line of the first fault; nil where nothing is wrong. The
    /// value itself is never repeated: a password is secret.
    static func fault(
        usernameFragment: String?, password: String?, problems: [SessionDescription.Problem]
    ) -> String? {
        if let usernameFragment, let fault = fault(usernameFragment: usernameFragment) {
            return place("ice-ufrag", problems) + fault
        }
        if let password, let fault = fault(password: password) { return place("ice-pwd", problems) + fault }
        return nil
    }

    private static func place(_ name: String, _ problems: [SessionDescription.Problem]) -> String {
        let line = problems.first { $0.text.hasPrefix("a=\(name)") && $0.line > 0 }?.line
        return (line.map { "line \($0): " } ?? "") + "a=\(name) "
    }
}

extension TrickleFragment {
    /// What is wrong with the credentials of the fragment or of a section, with its line; nil where nothing is wrong.
    public var credentialFault: String? {
        let levels = [(usernameFragment, password)] + sections.map { ($0.usernameFragment, $0.password) }
        for (usernameFragment, password) in levels {
            if let fault = ICECredentialRules.fault(
                usernameFragment: usernameFragment, password: password, problems: problems)
            {
                return fault
            }
        }
        return nil
    }
}
