/// Why authentication at a camera failed. A camera counts wrong answers by account, and many lock it after five, so a caller
/// has to know whether this failure was one. No case holds a password.
public enum AuthenticationFailure: Sendable, Hashable, CaseIterable {
    /// The camera asks for credentials, and none are configured.
    case credentialsMissing
    /// The camera does not accept the user name and password.
    case credentialsRefused
    /// The camera asks for the password itself, which is not sent: neither in clear text nor to another address.
    case passwordWithheld
    /// The camera asks for credentials by a method other than Basic and Digest.
    case methodUnsupported
    /// The camera offers only Digest with a hash that libcrypto refuses here, as it does MD5 under FIPS rules. Nothing was
    /// sent.
    case hashUnavailable
}
