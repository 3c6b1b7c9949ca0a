/// Why a redirection is not followed.
public enum RedirectionRefusal: Sendable, Hashable, CaseIterable {
    /// It leads from an encrypted connection to one that is not.
    case notEncrypted
    /// It leads to the gateway's own host, or to an address of its link.
    case ownHost

    /// The reason, and what to do.
    /// - Parameter address: where the redirection leads, without a password.
    func words(to address: String) -> String {
        switch self {
        case .notEncrypted:
            "the camera redirects from an encrypted connection to one that is not (\(address)), which is not followed"
        case .ownHost:
            "the camera redirects to \(address), an address of the gateway's own host or link, which is not followed. If the "
                + "camera is there, write that address into the config"
        }
    }
}
