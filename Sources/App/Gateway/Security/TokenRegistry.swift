import Foundation
import HomeHub
import HomeTypes
import Logging
import Signalling
import Transport

/// All tokens that open the API: those of the file `token`, and those that were made through the API, which the home's
/// shared store keeps as digests.
///
/// A request is checked against an index in memory without waiting. Changes happen one after the other and are on the disk
/// before they count.
public actor TokenRegistry {
    /// How many tokens can work at once.
    static let maximumCount = 256
    /// The longest name, in Unicode scalars.
    static let longestName = 60

    /// A record with its version in the store, which is its entity tag.
    struct Stored: Sendable, Equatable {
        var record: TokenRecord
        var version: Int64
    }

    private struct Index {
        var records: [String: Stored] = [:]
        /// The record of each secret, by the digest.
        var byDigest: [String: String] = [:]
        /// When each token was used last since the gateway started. The disk would be written for every request.
        var lastUses: [String: Date] = [:]
    }

    /// The tokens of the file.
    nonisolated let file: TokenStore
    nonisolated let now: @Sendable () -> Date
    private nonisolated let index = Locked(Index())
    private let store: (any SharedStore)?
    /// Called when somebody has other access than before, or none. It ends what they hold.
    private var onChange: @Sendable (_ principal: String, Access) async -> Void = { _, _ in }
    /// The tokens whose end was noticed already.
    private var expired: Set<String> = []

    /// Reads what the store keeps.
    /// - Parameters:
    ///   - file: the tokens of the file.
    ///   - store: keeps the others; nil to keep them until the gateway stops.
    ///   - logger: gets a line for each record that cannot be read. Its token does not work then.
    ///   - now: the wall clock.
    public init(
        file: TokenStore, store: (any SharedStore)? = nil,
        logger: Logger = Logger(label: "tokens") { _ in SwiftLogNoOpLogHandler() },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.file = file
        self.store = store
        self.now = now
        var read = Index()
        do throws(StoreFailure) {
            for object in try store?.objects(TokenRecord.kind) ?? [] {
                do {
                    let record = try TokenRecord(json: object.body)
                    Self.put(Stored(record: record, version: object.version), in: &read)
                    if !record.works(at: now()) { expired.insert(record.id) }
                } catch {
                    logger.error(
                        "a token cannot be read and does not work", metadata: ["token": "\(object.id)"])
                }
            }
        } catch {
            logger.error(
                "the tokens of the API cannot be read; only those of the file work", metadata: ["reason": "\(error)"])
        }
        let found = read
        index.withLock { $0 = found }
    }

    /// Names who ends what a principal holds.
    func observe(_ onChange: @escaping @Sendable (_ principal: String, Access) async -> Void) {
        self.onChange = onChange
    }

    // MARK: Checking

    /// The holder of a token; nil for a token that does not work.
    nonisolated func authorization(holding token: String) -> Authorization? {
        if let principal = file.principal(holding: token) {
            return Authorization(principal: principal, access: .everything)
        }
        guard let (stored, secret) = secret(token), secret.kind == .access else { return nil }
        let record = stored.record
        let now = self.now()
        index.withLock { $0.lastUses[record.id] = now }
        return Authorization(
            principal: record.name, access: record.access, tokenID: record.id, secretDigest: secret.digest,
            expiresAt: secret.expiresAt ?? record.expiresAt)
    }

    /// A secret that has not ended, with its record. The index finds it by its digest, so the time of the search reveals
    /// nothing about the secret.
    nonisolated func secret(_ token: String) -> (Stored, TokenRecord.Secret)? {
        secret(withDigest: Self.digest(of: token))
    }

    /// A secret that has not ended, with its record, by its digest.
    nonisolated func secret(withDigest digest: String) -> (Stored, TokenRecord.Secret)? {
        let now = self.now()
        guard let stored = index.withLock({ index in index.byDigest[digest].flatMap { index.records[$0] } }),
            stored.record.works(at: now),
            let secret = stored.record.secrets.first(where: { $0.digest == digest }),
            secret.expiresAt.map({ now < $0 }) ?? true
        else { return nil }
        return (stored, secret)
    }

    /// What a principal has now, by all of its tokens that work.
    nonisolated func access(of principal: String) -> Access {
        if file.holders.contains(where: { $0.name == principal }) { return .everything }
        return Access(all.filter { $0.record.name == principal }.flatMap(\.record.access.grants))
    }

    /// The tokens that work, the oldest first.
    nonisolated var all: [Stored] {
        let now = self.now()
        return index.withLock { index in index.records.values.filter { $0.record.works(at: now) } }
            .sorted { ($0.record.createdAt, $0.record.id) < ($1.record.createdAt, $1.record.id) }
    }

    /// When a token was used last; nil when it was not used since the gateway started.
    nonisolated func lastUse(of id: String) -> Date? { index.withLock { $0.lastUses[id] } }

    /// One token that works.
    nonisolated func token(_ id: String) throws(HomeError) -> Stored {
        guard let stored = index.withLock({ $0.records[id] }), stored.record.works(at: now()) else {
            throw HomeError.notFound("no token has this id")
                .advising(request: "GET /v1/tokens lists them", command: "gatehouse token list lists them")
        }
        return stored
    }

    // MARK: Changing

    /// Adds a token.
    /// - Throws: `alreadyExists` when a token of this name works, so that a repeated request makes no second one.
    @discardableResult
    func add(_ record: TokenRecord) async throws(HomeError) -> Stored {
        let others = all
        guard others.count < Self.maximumCount else {
            throw .resourceExhausted("there are \(Self.maximumCount) tokens already; revoke one first")
        }
        guard !file.holders.contains(where: { $0.name == record.name }),
            !others.contains(where: { $0.record.name == record.name })
        else { throw .alreadyExists("there is a token with this name; choose another name, or revoke that one") }
        let written = try write(Stored(record: record, version: 0))
        await onChange(record.name, record.access)
        return written
    }

    /// Changes a token that works.
    /// - Parameters:
    ///   - version: the version that the caller has seen; nil for any.
    ///   - body: changes the record.
    /// - Throws: `aborted` when the token has changed since then.
    @discardableResult
    func change(
        _ id: String, expecting version: Int64? = nil, _ body: @Sendable (inout TokenRecord) throws(HomeError) -> Void
    ) async throws(HomeError) -> Stored {
        var stored = try token(id)
        guard version == nil || version == stored.version else {
            throw .aborted("the token was changed meanwhile; read it again")
        }
        let before = stored.record
        try body(&stored.record)
        guard stored.record != before else { return stored }
        let written = try write(stored)
        // Somebody who knew the old password may hold something.
        let stays = written.record.works(at: now()) && before.password == written.record.password
        if before.access != written.record.access || !stays {
            await onChange(written.record.name, stays ? written.record.access : .nothing)
        }
        return written
    }

    /// Revokes a token: what it holds ends. The tokens that were made with it go with it, because they may be why it is
    /// revoked.
    /// - Parameter version: the version that the caller has seen; nil for any.
    func revoke(_ id: String, expecting version: Int64? = nil) async throws(HomeError) {
        let now = self.now()
        let revoked = try await change(id, expecting: version) { record in
            record.revokedAt = now
            record.secrets = []
        }
        for made in all where made.record.createdBy == revoked.record.name && made.record.id != id {
            // It may have ended meanwhile, by itself or with another one that is revoked here.
            do throws(HomeError) {
                try await revoke(made.record.id)
            } catch  where error.code == .notFound {}
        }
    }

    /// Ends what the holders of tokens have whose time is over.
    func endExpired() async {
        let now = self.now()
        let over = index.withLock { index in index.records.values.filter { !$0.record.works(at: now) } }
        for stored in over where expired.insert(stored.record.id).inserted {
            await onChange(stored.record.name, .nothing)
        }
    }

    /// A device belongs to another structure now. Ends what the holders of tokens for single structures have of it and may
    /// no longer have.
    func followMovedDevice() async {
        for name in Set(all.map(\.record.name)).sorted() {
            let access = access(of: name)
            if access.grants.contains(where: { $0.structureID != nil }) { await onChange(name, access) }
        }
    }

    private func write(_ stored: Stored) throws(HomeError) -> Stored {
        var written = stored
        if let store {
            do {
                let version = try store.write(
                    TokenRecord.kind, stored.record.id, try stored.record.json(), expecting: stored.version)
                guard let version else { throw HomeError.aborted("the token was changed meanwhile; read it again") }
                written.version = version
            } catch let error as HomeError {
                throw error
            } catch {
                throw .unavailable("the token cannot be stored: \(error)")
            }
        } else {
            written.version += 1
        }
        let result = written
        index.withLock { Self.put(result, in: &$0) }
        return result
    }

    private static func put(_ stored: Stored, in index: inout Index) {
        for secret in index.records[stored.record.id]?.record.secrets ?? [] { index.byDigest[secret.digest] = nil }
        index.records[stored.record.id] = stored
        if stored.record.secrets.isEmpty { index.lastUses[stored.record.id] = nil }
        for secret in stored.record.secrets { index.byDigest[secret.digest] = stored.record.id }
    }

    /// SHA-256 of a token in hexadecimal digits.
    static func digest(of token: String) -> String {
        TokenStore.digest(of: token).map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }

    /// An identifier that was never used: `t` and 32 hexadecimal digits.
    static func newID(prefix: String = "t") -> String {
        var random = SystemRandomNumberGenerator()
        let digits = (0..<4).map { _ in
            let part = String(UInt32.random(in: .min ... .max, using: &random), radix: 16)
            return String(repeating: "0", count: 8 - part.count) + part
        }
        return prefix + digits.joined()
    }
}
