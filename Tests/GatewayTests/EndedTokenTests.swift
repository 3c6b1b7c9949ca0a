import Foundation
import HomeHub
import HomeTypes
import Testing
import Transport

@testable import Gateway

/// The records of tokens that have ended are kept for a while, then removed.
@Suite struct EndedTokenTests {
    private static let day: TimeInterval = 86_400
    private static let lifetime = TokenRegistry.endedLifetime

    private let store = MemorySharedStore()
    private let clock = Locked(Date(timeIntervalSince1970: 1_000))

    private func registry() -> TokenRegistry {
        TokenRegistry(
            file: TokenStore(tokens: [("owner", TestGateway.token)]), store: store,
            now: { [clock] in clock.withLock { $0 } })
    }

    private func add(
        _ name: String, by maker: String = "owner", endsAfter seconds: TimeInterval? = nil, to registry: TokenRegistry
    ) async throws {
        let now = clock.withLock { $0 }
        try await registry.add(
            TokenRecord(
                id: "id-\(name)", name: name, access: Access([.init([.read])]), createdAt: now, createdBy: maker,
                expiresAt: seconds.map { now + $0 },
                secrets: [.init(kind: .access, digest: TokenRegistry.digest(of: name))]))
    }

    /// Some minutes of the gateway's life, in which its clock stands still.
    private func pass(_ minutes: Int, in registry: TokenRegistry) async {
        for _ in 0..<minutes {
            await registry.endExpired()
            await registry.removeEnded()
        }
    }

    private var kept: Set<String> { Set(store.objects(TokenRecord.kind).map(\.id)) }

    @Test func `a record goes 30 days after the end of its token, in memory and on the disk`() async throws {
        let registry = registry()
        try await add("revoked", to: registry)
        try await add("expired", endsAfter: Self.day, to: registry)
        try await add("works", to: registry)
        try await registry.revoke("id-revoked")
        clock.withLock { $0 += Self.lifetime - 1 }
        await pass(2 * TokenRegistry.endedChecks, in: registry)
        #expect(kept == ["id-revoked", "id-expired", "id-works"])
        clock.withLock { $0 += 1 }
        await pass(TokenRegistry.endedChecks, in: registry)
        #expect(kept == ["id-expired", "id-works"])
        clock.withLock { $0 += Self.day }
        // Also after a restart.
        let later = self.registry()
        await pass(TokenRegistry.endedChecks, in: later)
        #expect(kept == ["id-works"] && Set(later.records.keys) == ["id-works"])
        #expect(later.authorization(holding: "works") != nil)
    }

    @Test func `a clock that is ahead for less than an hour takes no token away`() async throws {
        let registry = registry()
        try await add("guest", endsAfter: Self.day, to: registry)
        clock.withLock { $0 += 2 * Self.lifetime }
        await pass(TokenRegistry.endedChecks - 1, in: registry)
        clock.withLock { $0 -= 2 * Self.lifetime }
        await pass(1, in: registry)
        #expect(registry.authorization(holding: "guest") != nil)
        // The minutes before do not count.
        clock.withLock { $0 += 2 * Self.lifetime }
        await pass(TokenRegistry.endedChecks - 1, in: registry)
        #expect(kept == ["id-guest"])
        await pass(1, in: registry)
        #expect(kept.isEmpty)
    }

    @Test func `a clock that is ahead does not take away the maker of a token`() async throws {
        let registry = registry()
        try await add("maker", endsAfter: Self.day, to: registry)
        try await add("guest", by: "maker", endsAfter: 3 * Self.lifetime, to: registry)
        clock.withLock { $0 += 2 * Self.lifetime }
        await pass(TokenRegistry.endedChecks, in: registry)
        clock.withLock { $0 += 3 * Self.lifetime }
        await pass(1, in: registry)
        clock.withLock { $0 -= 3 * Self.lifetime }
        #expect(kept == ["id-maker", "id-guest"])
        #expect(self.registry().authorization(holding: "guest") != nil)
    }

    @Test func `a record stays while a token works that was made with it`() async throws {
        let registry = registry()
        try await add("first", endsAfter: Self.day, to: registry)
        try await add("second", by: "first", endsAfter: Self.day, to: registry)
        try await add("other", by: "first", endsAfter: Self.day, to: registry)
        // The owner has given it more time than its makers have.
        try await add("third", by: "second", to: registry)
        clock.withLock { $0 += 2 * Self.lifetime }
        await pass(TokenRegistry.endedChecks, in: registry)
        #expect(kept == ["id-first", "id-second", "id-third"])
        // The next start does not take it for one whose maker was taken out of the file.
        let later = self.registry()
        #expect(later.authorization(holding: "third") != nil)
        try await later.revoke("id-third")
        await pass(TokenRegistry.endedChecks, in: later)
        #expect(kept == ["id-third"])
    }

    @Test func `nothing goes while a record cannot be read`() async throws {
        let registry = registry()
        try await add("guest", endsAfter: Self.day, to: registry)
        clock.withLock { $0 += 2 * Self.lifetime }
        let damaged = store.write(TokenRecord.kind, "t9", "{", expecting: 0)
        #expect(damaged != nil)
        let later = self.registry()
        await pass(TokenRegistry.endedChecks, in: later)
        #expect(kept == ["id-guest", "t9"])
        try await later.revoke("t9")
        await pass(1, in: later)
        #expect(kept == ["t9"])
    }
}
