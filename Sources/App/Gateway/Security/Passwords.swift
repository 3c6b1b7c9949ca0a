import DatagramPort
import Dispatch
import HomeTypes
import Transport

/// Checks names and passwords. scrypt runs on a queue of its own, one password at a time, so that requests are served meanwhile
/// and many sign-ins at once cost no more memory than one.
final class Passwords: Sendable {
    private let registry: TokenRegistry
    private let delays = Locked(SignInDelays())
    let places = Locked(SignInPlaces())
    private let queue = DispatchQueue(label: "passwords")
    private let clock: @Sendable () -> Instant

    init(registry: TokenRegistry, clock: @escaping @Sendable () -> Instant = { MonotonicClock.now }) {
        self.registry = registry
        self.clock = clock
    }

    /// Hashes a new password.
    func hash(_ password: String) async throws(HomeError) -> PasswordHash {
        guard PasswordHash.lengths.contains(password.utf8.count) else {
            throw .invalidArgument(
                "password must have \(PasswordHash.lengths.lowerBound) to \(PasswordHash.lengths.upperBound) bytes")
        }
        try takePlace(.newPassword)
        defer { releasePlace(.newPassword) }
        guard let hash = await run({ PasswordHash(password) }) else {
            throw .unavailable("the password cannot be hashed: the system's random source or its memory failed")
        }
        return hash
    }

    /// Signs somebody in.
    /// - Returns: a token that works until the given time, or until the password is changed.
    /// - Throws: `unauthenticated` for a wrong name or password, which look alike, and `resourceExhausted` for a host that has
    ///   to wait.
    func signIn(_ name: String, _ password: String, from host: String) async throws(HomeError) -> TokenRegistry.Session
    {
        let stored = registry.holder(named: name)
        let hash = stored?.record.password
        let isRight = try await self.isRight(name, password, hash, from: host)
        guard let stored, let hash, isRight else {
            throw .unauthenticated("the name or the password is wrong")
        }
        delays.withLock { $0.succeed(host, name) }
        return try await registry.addSession(to: stored.record.id, signedInWith: hash)
    }

    private func isRight(
        _ name: String, _ password: String, _ hash: PasswordHash?, from host: String
    ) async throws(HomeError) -> Bool {
        let holder = SignInPlaces.Holder.signIn(SignInHost(host))
        try takePlace(holder)
        defer { releasePlace(holder) }
        // A password without a place is not looked at, and does not count as a wrong one.
        if let wait = delays.withLock({ $0.begin(host, name, at: clock()) }) {
            throw .resourceExhausted(
                "too many wrong passwords from this address; try again in \(wait.components.seconds + 1) s, or use a token"
            )
        }
        // A name that nobody has takes as long as a wrong password.
        return await run {
            PasswordHash.lengths.contains(password.utf8.count) && (hash ?? Self.nobody)?.matches(password) == true
        }
    }

    /// The password of nobody. It is made at the first sign-in.
    private static let nobody = PasswordHash("the password that nobody has")

    private func takePlace(_ holder: SignInPlaces.Holder) throws(HomeError) {
        guard let refusal = places.withLock({ $0.take(holder) }) else { return }
        switch refusal {
        case .share:
            throw .resourceExhausted(
                holder == .newPassword
                    ? "too many passwords are being set at the moment; try again"
                    : "too many people are signing in from this address at the moment; try again")
        case .full: throw .resourceExhausted("too many people are signing in at the moment; try again")
        }
    }

    private func releasePlace(_ holder: SignInPlaces.Holder) { places.withLock { $0.release(holder) } }

    private func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
