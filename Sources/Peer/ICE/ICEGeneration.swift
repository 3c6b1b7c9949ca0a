import STUN

/// The credentials of both sides between two restarts, ready for use.
struct ICEGeneration: ~Copyable {
    /// The user name fragment that the peer's requests begin with.
    private(set) var localUsernameFragment: [UInt8]
    /// Protects the peer's requests and the responses to them.
    var localKey: MessageIntegrityKey
    /// USERNAME of the own requests; empty until the peer's credentials are known.
    private(set) var remoteUsername: [UInt8] = []
    /// Protects the own requests and the peer's responses.
    var remoteKey = MessageIntegrityKey()

    /// No generation: nothing authenticates against it.
    init() {
        localUsernameFragment = []
        localKey = MessageIntegrityKey()
    }

    init(local: ICECredentials, remote: ICECredentials?) {
        localUsernameFragment = Array(local.usernameFragment.utf8)
        localKey = MessageIntegrityKey(local.password)
        if let remote { setRemote(remote) }
    }

    mutating func setRemote(_ remote: ICECredentials) {
        remoteUsername = Array(remote.usernameFragment.utf8) + [UInt8(ascii: ":")] + localUsernameFragment
        remoteKey = MessageIntegrityKey(remote.password)
    }

    var knowsRemote: Bool { !remoteUsername.isEmpty }

    /// Whether USERNAME of a request names this generation. The other half is up to the peer: MESSAGE-INTEGRITY vouches
    /// only for the local half.
    func isAddressed(by username: UnsafeRawBufferPointer) -> Bool {
        let count = localUsernameFragment.count
        return count > 0 && username.count > count && username[count] == UInt8(ascii: ":")
            && username.prefix(count).elementsEqual(localUsernameFragment)
    }

    /// Whether USERNAME of a request names both sides of this generation, as it does between agents that have both
    /// restarted, or both not.
    func isAddressedByItsPeer(_ username: UnsafeRawBufferPointer) -> Bool {
        guard isAddressed(by: username), username.count == remoteUsername.count else { return false }
        let remote = username.dropFirst(localUsernameFragment.count + 1)
        return remote.elementsEqual(remoteUsername.prefix(remote.count))
    }
}
