import Foundation
import HomeHub
import HomeTypes
import Logging
import Signalling
import Testing
import Transport

@testable import Gateway

/// The browsers of tokens that have ended. One whose time is over may work again, because the clock may have been
/// ahead.
@Suite struct EndedBrowserTests {
    private static let day: TimeInterval = 86_400
    private static let lifetime = TokenRegistry.endedLifetime
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private let store = MemorySharedStore()
    private let clock = Locked(Date(timeIntervalSince1970: 1_000))

    /// What a start of the gateway makes.
    private struct Run {
        let registry: TokenRegistry
        let push: PushService

        var principals: [String] {
            get async { await push.subscriptions.all.map(\.principal).sorted() }
        }

        func revoke(_ name: String) async throws { try await registry.revoke("id-\(name)") }
    }

    /// Starts the gateway.
    /// - Parameter holders: who has a token of the file, besides the owner.
    private func start(file holders: [String] = []) async throws -> Run {
        let registry = TokenRegistry(
            file: TokenStore(
                tokens: [(principal: "owner", token: TestGateway.token)]
                    + holders.map { (principal: $0, token: "gatehouse_file_\($0)") }),
            store: store,
            now: { [clock] in clock.withLock { $0 } })
        let push = PushService(
            hub: try TestGateway().hub,
            subscriptions: PushSubscriptions(
                store: store, isRightless: { registry.access(of: $0) == .nothing }, logger: Self.logger),
            vapid: VAPID(key: try P256Key.make()), settings: .init(), accessOf: { registry.access(of: $0) },
            isUnknown: { registry.isUnknown($0) }, mayReturn: { await registry.mayReturn($0) },
            formerEnd: { registry.formerEnd(of: $0) }, logger: Self.logger)
        await registry.observe { [weak push] principal, access in
            if access == .nothing { await push?.endBrowsers(of: principal) }
        }
        push.stop()
        await push.run()
        return Run(registry: registry, push: push)
    }

    private func add(
        _ name: String, id: String? = nil, for seconds: TimeInterval? = nil, to run: Run
    ) async throws {
        let now = clock.withLock { $0 }
        try await run.registry.add(
            TokenRecord(
                id: id ?? "id-\(name)", name: name, access: Access([.init([.read])]), createdAt: now,
                createdBy: "owner", expiresAt: seconds.map { now + $0 },
                secrets: [.init(kind: .access, digest: TokenRegistry.digest(of: id ?? name))]))
    }

    /// Lets a browser of a principal subscribe.
    private func subscribe(_ name: String, _ number: Int = 0, to run: Run) async throws {
        try await subscribe(
            name, browser: "\(name)-\(number)", at: Date(timeIntervalSince1970: 1_000 + Double(number)), to: run)
    }

    private func subscribe(_ name: String, browser: String, at date: Date, to run: Run) async throws {
        _ = try await run.push.subscriptions.put(
            PushEndpoint("https://push.example/\(browser)", services: []), .init(publicKey: [4], secret: [1]), .init(),
            page: "https://home.example", for: name, at: date)
    }

    /// Some minutes of the gateway's life, in which its clock stands still.
    private func pass(_ minutes: Int, in run: Run) async {
        for _ in 0..<minutes {
            await run.registry.endExpired()
            await run.registry.removeEnded()
            await run.push.endRightless()
        }
    }

    @Test func `a start whose clock is ahead forgets no browser of a token that works again later`() async throws {
        let before = try await start()
        for name in ["guest", "revoked"] {
            try await add(name, for: Self.day, to: before)
            try await subscribe(name, to: before)
        }
        clock.withLock { $0 += 2 * Self.lifetime }
        let ahead = try await start()
        await pass(TokenRegistry.endedChecks - 1, in: ahead)
        #expect(await ahead.principals == ["guest", "revoked"])
        // Nothing is sent to them meanwhile.
        #expect(ahead.registry.access(of: "guest") == .nothing)
        clock.withLock { $0 -= 2 * Self.lifetime }
        await pass(1, in: ahead)
        #expect(await ahead.principals == ["guest", "revoked"])
        #expect(ahead.registry.access(of: "guest") != .nothing)
        // A revocation is certain.
        try await ahead.revoke("revoked")
        #expect(await ahead.principals == ["guest"])
        #expect(try await start().principals == ["guest"])
    }

    @Test func `the browsers of an expired token stay as long as its record`() async throws {
        let run = try await start()
        try await add("guest", for: Self.day, to: run)
        try await subscribe("guest", to: run)
        clock.withLock { $0 += Self.day + Self.lifetime - 1 }
        await pass(2 * TokenRegistry.endedChecks, in: run)
        #expect(await run.principals == ["guest"])
        clock.withLock { $0 += 1 }
        await pass(TokenRegistry.endedChecks, in: run)
        #expect(await run.principals.isEmpty)
        #expect(run.registry.records.isEmpty)
    }

    @Test func `browsers go although the record of their token is still needed`() async throws {
        let run = try await start()
        try await add("maker", for: Self.day, to: run)
        try await run.registry.add(
            TokenRecord(
                id: "id-made", name: "made", access: Access([.init([.read])]),
                createdAt: clock.withLock { $0 }, createdBy: "maker",
                secrets: [.init(kind: .access, digest: TokenRegistry.digest(of: "made"))]))
        try await subscribe("maker", to: run)
        clock.withLock { $0 += 2 * Self.lifetime }
        await pass(TokenRegistry.endedChecks, in: run)
        #expect(await run.principals.isEmpty)
        #expect(Set(run.registry.records.keys) == ["id-maker", "id-made"])
    }

    @Test func `a token with the name of an expired one does not get its browsers`() async throws {
        let run = try await start()
        try await add("guest", for: Self.day, to: run)
        try await subscribe("guest", to: run)
        clock.withLock { $0 += 2 * Self.day }
        await pass(1, in: run)
        #expect(await run.principals == ["guest"])
        try await add("guest", id: "id-second", to: run)
        #expect(await run.principals.isEmpty)
    }

    @Test func `a token of the file with the name of an expired one does not get its browsers`() async throws {
        let run = try await start()
        try await add("guest", for: Self.day, to: run)
        try await subscribe("guest", to: run)
        try await subscribe("owner", to: run)
        clock.withLock { $0 += 2 * Self.day }
        await pass(1, in: run)
        #expect(await run.principals == ["guest", "owner"])
        let second = try await start(file: ["guest"])
        #expect(await second.principals == ["owner"])
        // What the new holder registers stays: a new browser, and one that somebody else had before.
        let now = clock.withLock { $0 }
        try await subscribe("guest", browser: "new", at: now, to: second)
        try await subscribe("guest", browser: "owner-0", at: now, to: second)
        await pass(1, in: second)
        #expect(await second.principals == ["guest", "guest"])
        #expect(try await start(file: ["guest"]).principals == ["guest", "guest"])
    }

    @Test func `a browser of an expired token goes although another token has its name`() async throws {
        let run = try await start()
        try await add("guest", for: Self.day, to: run)
        let ahead = 2 * Self.day
        clock.withLock { $0 += ahead }
        await pass(1, in: run)
        try await add("guest", id: "id-second", to: run)
        // The clock was ahead, so both work until the first one expires.
        clock.withLock { $0 -= ahead }
        await pass(1, in: run)
        try await subscribe("guest", to: run)
        clock.withLock { $0 += ahead }
        await pass(1, in: run)
        #expect(await run.principals.isEmpty)
        #expect(run.registry.access(of: "guest") != .nothing)
    }

    @Test func `only as many browsers of expired tokens give way to others as are needed`() async throws {
        let run = try await start()
        let shares = PushSubscriptions.shares
        let names = (0..<(shares.total - shares.reserve) / shares.share).map { "guest-\($0)" }
        for name in names {
            try await add(name, for: name == names[0] ? Self.day : nil, to: run)
            for number in 0..<shares.share { try await subscribe(name, number, to: run) }
        }
        try await add("ana", to: run)
        await #expect(throws: HomeError.self) { try await subscribe("ana", to: run) }
        clock.withLock { $0 += 2 * Self.day }
        await pass(1, in: run)
        try await subscribe("ana", to: run)
        #expect(await run.principals.count { $0 == names[0] } == shares.share - 1)
        #expect(await run.principals.count == names.count * shares.share)
        // One that works gives way to nobody.
        for number in 1..<shares.share { try await subscribe("ana", number, to: run) }
        #expect(await run.principals.count { $0 == names[0] } == 0)
        try await add("bea", to: run)
        await #expect(throws: HomeError.self) { try await subscribe("bea", to: run) }
    }
}
