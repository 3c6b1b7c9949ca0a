import DatagramPort
import Dispatch
import HomeTypes
import Transport

/// Checks names and passwords. scrypt runs on a queue of its own, one password at a time, so that requests are served meanwhile
/// and many sign-ins at once cost no more memory than one.
final class Passwords: Sendable {
    private let registry: TokenRegistry
    private let delays = Locked(SignInDelays())
    private let waiting = Locked(0)
    private let queue = DispatchQueue(label: "passwords")
    private let clock: @Sendable () -> Instant

    /// How many sign-ins wait at most.
    static let maximumWaiting = 8

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
        guard let hash = try await run({ PasswordHash(password) }) else {
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
        if let wait = delays.withLock({ $0.begin(host, name, at: clock()) }) {
            throw .resourceExhausted(
                "too many wrong passwords from this address; try again in \(wait.components.seconds + 1) s, or use a token"
            )
        }
        let stored = registry.holder(named: name)
        let hash = stored?.record.password
        // A name that nobody has takes as long as a wrong password.
        let isRight = try await run {
            PasswordHash.lengths.contains(password.utf8.count) && (hash ?? Self.nobody)?.matches(password) == true
        }
        guard let stored, let hash, isRight else {
            throw .unauthenticated("the name or the password is wrong")
        }
        delays.withLock { $0.succeed(host, name) }
        return try await registry.addSession(to: stored.record.id, signedInWith: hash)
    }

    /// The password of nobody. It is made at the first sign-in.
    private static let nobody = PasswordHash("the password that nobody has")

    private func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws(HomeError) -> Value {
        let isAdmitted = waiting.withLock { count in
            guard count < Self.maximumWaiting else { return false }
            count += 1
            return true
        }
        guard isAdmitted else { throw .resourceExhausted("too many people are signing in at the moment; try again") }
        defer { waiting.withLock { $0 -= 1 } }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
