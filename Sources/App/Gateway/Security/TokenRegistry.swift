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

    struct Index {
        var records: [String: Stored] = [:]
        /// The records that could not be read at the start.
        var unreadable = UnreadableTokens()
        /// The record of each secret, by the digest.
        var byDigest: [String: String] = [:]
        /// When each token was used last since the gateway started. The disk would be written for every request.
        var lastUses: [String: Date] = [:]
    }

    /// The tokens of the file.
    nonisolated let file: TokenStore
    nonisolated let now: @Sendable () -> Date
    nonisolated let index = Locked(Index())
    /// The structure of a device; nil for one that is not known.
    private nonisolated let places = Locked<@Sendable (String) -> String?>({ _ in nil })
    private let store: (any SharedStore)?
    /// Called when somebody has other access than before, or none. It ends what they hold.
    private(set) var onChange: @Sendable (_ principal: String, Access) async -> Void = { _, _ in }
    /// Called with the reason of the alarm about records that cannot be read; nil when there are none any more.
    var onUnreadable: @Sendable (_ reason: String?) async -> Void = { _ in }
    /// The tokens whose end was noticed already.
    private(set) var expired: Set<String> = []
    /// How often in a row the record of each ended token was found to be old.
    var oldRecords: [String: Int] = [:]

    /// Reads what the store keeps.
    /// - Parameters:
    ///   - file: the tokens of the file.
    ///   - store: keeps the others; nil to keep them until the gateway stops.
    ///   - logger: gets a line for each record that cannot be read. Its token does not work then, and what its holder may do
    ///     is not known; see ``isUnknown(_:)``.
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
                    read.unreadable.add(object)
                    logger.error(
                        """
                        a token cannot be read and does not work; the recordings of its holder go on and are not \
                        uploaded; restore shared.sqlite, or revoke the token
                        """, metadata: ["token": "\(object.id)"])
                }
            }
        } catch {
            read.unreadable.areAll = true
            logger.error(
                "the tokens of the API cannot be read; only those of the file work", metadata: ["reason": "\(error)"])
        }
        // A token that cannot be read may have made others.
        let orphans =
            read.unreadable.isEmpty ? Self.orphans(among: read.records, holders: file.holders.map(\.name)) : []
        for orphan in orphans {
            logger.notice(
                "a token is revoked, because the one that made it no longer exists",
                metadata: ["token": "\(orphan.record.name)", "createdBy": "\(orphan.record.createdBy)"])
            var ended = orphan
            ended.record.revoke(at: now())
            // What the disk does not take now is ended again by the next start.
            if let body = try? ended.record.json(),
                let version = try? store?.write(TokenRecord.kind, ended.record.id, body, expecting: ended.version)
            {
                ended.version = version
            }
            Self.put(ended, in: &read)
            expired.insert(ended.record.id)
        }
        let found = read
        index.withLock { $0 = found }
    }

    /// Names who knows the structures of devices.
    nonisolated func use(structureOf: @escaping @Sendable (_ device: String) -> String?) {
        places.withLock { $0 = structureOf }
    }

    /// The structure of a device; nil for one that is not known.
    nonisolated func structure(ofDevice id: String) -> String? {
        let structureOf = places.withLock { $0 }
        return structureOf(id)
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

    /// All records, by their ids: also those of tokens that do not work any more.
    nonisolated var records: [String: Stored] { index.withLock { $0.records } }

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
    /// - Parameter caller: who makes it. Its own token must still permit that now, whenever the request began.
    /// - Throws: `alreadyExists` when a token of this name works, so that a repeated request makes no second one.
    @discardableResult
    func add(_ record: TokenRecord, by caller: Authorization? = nil) async throws(HomeError) -> Stored {
        if let caller { try requireStill(caller, toGive: record.access, until: record.expiresAt) }
        let others = all
        guard others.count < Self.maximumCount else {
            throw .resourceExhausted("there are \(Self.maximumCount) tokens already; revoke one first")
        }
        guard !file.holders.contains(where: { $0.name == record.name }),
            !others.contains(where: { $0.record.name == record.name })
        else { throw .alreadyExists("there is a token with this name; choose another name, or revoke that one") }
        let mayBeBack = isUnknown(record.name)
        let written = try write(Stored(record: record, version: 0))
        // Somebody else may have had the name, and ended while the gateway was stopped. What a token has left that cannot
        // be read continues.
        if !mayBeBack {
            // That is their end. Noticed later, it would end what the new holder has.
            let now = self.now()
            for (id, former) in records where id != record.id && former.record.name == record.name {
                if !former.record.works(at: now) { expired.insert(id) }
            }
            await onChange(record.name, .nothing)
        }
        await onChange(record.name, record.access)
        return written
    }

    /// Changes a token that works. The tokens that were made with it lose what it loses.
    /// - Parameters:
    ///   - version: the version that the caller has seen; nil for any.
    ///   - body: changes the record.
    /// - Throws: `aborted` when the token has changed since then.
    @discardableResult
    func change(
        _ id: String, expecting version: Int64? = nil, _ body: @Sendable (inout TokenRecord) throws(HomeError) -> Void
    ) async throws(HomeError) -> Stored {
        let stored = try token(id)
        guard version == nil || version == stored.version else {
            throw .aborted("the token has been changed; read it again")
        }
        var record = stored.record
        try body(&record)
        guard record != stored.record else { return stored }
        try await perform(consequences(of: Change(before: stored, after: record)))
        return index.withLock { $0.records[id] } ?? stored
    }

    /// Writes changes, and ends what the holders of the tokens may no longer have.
    ///
    /// The tokens that were made come before the one that made them, and nothing runs in between. If the disk takes only
    /// some of it, the first token is as it was: the change can be repeated, and no token has more than its maker.
    private func perform(_ changes: [Change]) async throws(HomeError) {
        var written: [Change] = []
        var failure: HomeError?
        for change in changes.reversed() {
            do throws(HomeError) {
                _ = try write(Stored(record: change.after, version: change.before.version))
                written.append(change)
            } catch {
                failure = error
                break
            }
        }
        for change in written {
            let (before, after) = (change.before.record, change.after)
            // Somebody who knew the old password may hold something.
            let stays = after.works(at: now()) && before.password == after.password
            if before.access != after.access || !stays {
                await onChange(after.name, stays ? after.access : .nothing)
            }
        }
        if let failure { throw failure }
    }

    /// Revokes a token: what it holds ends. The tokens that were made with it go with it, because they may be why it is
    /// revoked.
    /// - Parameter version: the version that the caller has seen; nil for any.
    func revoke(_ id: String, expecting version: Int64? = nil) async throws(HomeError) {
        if let unreadable = index.withLock({ $0.unreadable.records[id] }) {
            return try await revoke(unreadable, id, expecting: version)
        }
        let now = self.now()
        try await change(id, expecting: version) { $0.revoke(at: now) }
    }

    /// Ends what the holders of tokens have whose time is over.
    func endExpired() async {
        let now = self.now()
        let over = index.withLock { index in index.records.values.filter { !$0.record.works(at: now) } }
        // The clock may have been ahead. A token that works again ends once more when its time is really over.
        expired.formIntersection(over.map(\.record.id))
        for stored in over where expired.insert(stored.record.id).inserted {
            let name = stored.record.name
            await onChange(name, .nothing)
            // If the clock was ahead, another token of the name may work, maybe another person's. Nobody knows which of
            // the two has begun what, so all of it ends, as with a revocation.
            let rest = access(of: name)
            if rest != .nothing { await onChange(name, rest) }
        }
    }

    func write(_ stored: Stored) throws(HomeError) -> Stored {
        var written = stored
        if let store {
            do {
                let version = try store.write(
                    TokenRecord.kind, stored.record.id, try stored.record.json(), expecting: stored.version)
                guard let version else { throw HomeError.aborted("the token has been changed; read it again") }
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

    /// Removes the record of a token that has ended.
    func remove(_ stored: Stored) throws(HomeError) {
        let id = stored.record.id
        do throws(StoreFailure) {
            // A record that somebody else has changed is not the one that ended.
            if let store, try store.delete(TokenRecord.kind, id, expecting: stored.version) == nil { return }
        } catch {
            throw .unavailable("the token cannot be removed: \(error)")
        }
        index.withLock { index in
            for secret in stored.record.secrets { index.byDigest[secret.digest] = nil }
            index.records[id] = nil
            index.lastUses[id] = nil
        }
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
