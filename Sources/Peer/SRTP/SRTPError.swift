/// Why an SRTP context could not be made, or why a packet was not accepted.
public enum SRTPError: Error, Hashable, Sendable {
    /// A master key or salt does not have the length that the profile requires; lengths in bytes.
    case wrongKeyLength(profile: SRTPProfile, key: Int, salt: Int)
    /// OpenSSL refused a call that never fails with sound parameters; the text names the call.
    case cryptographicFailure(String)
    /// The packet is too short for its header and tag.
    case truncated
    /// The packet is not of RTP version 2.
    case wrongVersion
    /// The tag does not match: a forged or damaged packet, or another key.
    case authenticationFailed
    /// The packet has come before, or is too old for the replay window.
    case replayed
}

extension SRTPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wrongKeyLength(let profile, let key, let salt):
            """
            a master key of \(key) bytes and a salt of \(salt): \(profile) takes \(profile.masterKeyLength) and \
            \(profile.masterSaltLength)
            """
        case .cryptographicFailure(let call): "OpenSSL's \(call) failed"
        case .truncated: "the packet is shorter than its header and tag"
        case .wrongVersion: "the packet is not of RTP version 2"
        case .authenticationFailed: "the packet's authentication tag is wrong"
        case .replayed: "the packet came before or is too old"
        }
    }
}
