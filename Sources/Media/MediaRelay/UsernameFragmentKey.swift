/// A username fragment by which a shard finds a session, packed into one number. Anybody may send checks, so looking one up
/// allocates nothing.
///
/// The relay makes the credentials of its sessions itself (``RelayPlacement/credentials(using:)``), so all their fragments
/// have one length. A fragment of another length names no session.
struct UsernameFragmentKey: Hashable, Sendable {
    /// The length of the relay's own fragments, in bytes.
    private static let length = 8

    private let characters: UInt64

    /// Packs a fragment; nil for one of another length.
    init?(_ fragment: some Collection<UInt8>) {
        guard fragment.count == Self.length else { return nil }
        characters = fragment.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
