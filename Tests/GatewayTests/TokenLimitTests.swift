import Foundation
import HomeHub
import HomeTypes
import Testing
import Transport

@testable import Gateway

/// A token leaves behind no more than it has: what it has made loses what it loses.
@Suite struct TokenLimitTests {
    private static let hashes = (1...2).compactMap { PasswordHash("correct horse battery \($0)") }
    private static let everywhere = Access([.init([.read, .media, .admin])])

    /// A registry with a clock, in a home with a device in each of two structures.
    private struct Home {
        let clock = Locked(Date(timeIntervalSince1970: 1_000))
        let places = Locked(["door": "s1", "yard": "s2"])
        /// Who was informed that rights have changed, in order.
        let told = Locked<[String]>([])
        let registry: TokenRegistry

        init(store: (any SharedStore)? = nil, holders: [String] = ["owner"]) async {
            let clock = clock
            let places = places
            let told = told
            registry = TokenRegistry(
                file: TokenStore(tokens: holders.map { (principal: $0, token: "gatehouse_\($0)") }), store: store,
                now: { clock.withLock { $0 } })
            registry.use { device in places.withLock { $0[device] } }
            await registry.observe { name, access in
                told.withLock { $0.append(access == .nothing ? "\(name) ends" : name) }
            }
        }

        /// Adds a token, whose secret is its name.
        @discardableResult
        func add(
            _ name: String, by maker: String = "owner", _ access: Access, endsAfter seconds: Double? = nil,
            password: PasswordHash? = nil
        ) async throws -> String {
            let now = clock.withLock { $0 }
            try await registry.add(
                TokenRecord(
                    id: "id-\(name)", name: name, access: access, createdAt: now, createdBy: maker,
                    expiresAt: seconds.map { now + $0 }, password: password,
                    secrets: [.init(kind: .access, digest: TokenRegistry.digest(of: name))]))
            told.withLock { $0 = [] }
            return "id-\(name)"
        }

        /// What a token permits by its own; nil for one that does not work.
        func grants(_ name: String) -> [Access.Grant]? {
            registry.authorization(holding: name)?.access.grants
        }

        func end(_ name: String) -> Double? {
            registry.all.first { $0.record.name == name }?.record.expiresAt.map { $0.timeIntervalSince1970 - 1_000 }
        }
    }

    /// A store whose writes to some objects fail.
    private final class FailingStore: SharedStore {
        let memory = MemorySharedStore()
        let failing = Locked<Set<String>>([])

        var home: String { memory.home }
        func object(_ kind: String, _ id: String) throws(StoreFailure) -> SharedObject? { memory.object(kind, id) }
        func objects(_ kind: String) throws(StoreFailure) -> [SharedObject] { memory.objects(kind) }
        func write(
            _ kind: String, _ id: String, _ body: String, expecting version: Int64
        ) throws(StoreFailure) -> Int64? {
            let fails = failing.withLock { $0.contains(id) }
            if fails { throw StoreFailure(path: "store", reason: "the disk is full") }
            return memory.write(kind, id, body, expecting: version)
        }
        func delete(_ kind: String, _ id: String, expecting version: Int64) throws(StoreFailure) -> Int64? {
            memory.delete(kind, id, expecting: version)
        }
        func watch(_ kind: String) -> AsyncStream<Void> { memory.watch(kind) }
    }

    @Test func `what a token has made loses what it loses, and what that has made, too`() async throws {
        let home = await Home()
        let maker = try await home.add("maker", Self.everywhere)
        try await home.add("link", by: "maker", Access([.init([.view], deviceID: "door")]))
        try await home.add("lost", by: "maker", Access([.init([.view], deviceID: "yard")]))
        try await home.add("phone", by: "maker", Access([.init([.read, .media])]))
        try await home.add("tablet", by: "phone", Access([.init([.read, .media], structureID: "s2")]))
        try await home.add("other", Access([.init([.view], deviceID: "yard")]))
        try await home.registry.change(maker) { record in
            record.access = Access([.init([.read], structureID: "s1"), .init([.media], deviceID: "door")])
        }
        #expect(home.grants("link") == [.init([.view], deviceID: "door")])
        #expect(home.grants("lost") == nil)
        #expect(home.grants("phone") == [.init([.read], structureID: "s1"), .init([.media], deviceID: "door")])
        #expect(home.grants("tablet") == nil)
        #expect(home.grants("other") == [.init([.view], deviceID: "yard")])
        // What they hold ends as well, and nobody else notices.
        #expect(home.told.withLock { $0.sorted() } == ["lost ends", "maker", "phone", "tablet ends"])
        // More rights for the maker bring nothing back.
        try await home.registry.change(maker) { $0.access = Self.everywhere }
        #expect(home.grants("phone")?.count == 2 && home.grants("lost") == nil)
    }

    @Test func `what a token has made ends no later than it`() async throws {
        let home = await Home()
        let maker = try await home.add("maker", Self.everywhere, endsAfter: 3_600)
        try await home.add("long", by: "maker", Self.everywhere, endsAfter: 3_600)
        try await home.add("short", by: "maker", Self.everywhere, endsAfter: 60)
        // The owner has given it more time than its maker has.
        try await home.add("extended", by: "maker", Self.everywhere, endsAfter: 7_200)
        try await home.registry.change(maker) { $0.expiresAt = Date(timeIntervalSince1970: 1_600) }
        #expect(home.end("long") == 600 && home.end("short") == 60 && home.end("extended") == 7_200)
        let free = try await home.add("free", Self.everywhere)
        try await home.add("endless", by: "free", Self.everywhere)
        try await home.registry.change(free) { $0.expiresAt = Date(timeIntervalSince1970: 1_600) }
        #expect(home.end("endless") == 600)
    }

    @Test func `what was made under a password ends with it`() async throws {
        let home = await Home()
        let ana = try await home.add("ana", Self.everywhere, password: Self.hashes[0])
        try await home.add("link", by: "ana", Access([.init([.view], deviceID: "door")]))
        try await home.add("other", Self.everywhere)
        try await home.registry.change(ana) { $0.password = Self.hashes[1] }
        #expect(home.grants("link") == nil && home.grants("other") != nil)
        #expect(home.told.withLock { $0.sorted() } == ["ana ends", "link ends"])
    }

    @Test func `what the owner gave beyond its maker's rights stays`() async throws {
        let home = await Home()
        let maker = try await home.add("maker", Access([.init([.read, .media], structureID: "s1")]))
        let phone = try await home.add("phone", by: "maker", Access([.init([.media], structureID: "s1")]))
        try await home.registry.change(phone) { $0.access.grants.append(.init([.media], structureID: "s2")) }
        try await home.registry.change(maker) { $0.access = Access([.init([.read], structureID: "s1")]) }
        #expect(home.grants("phone") == [.init([.media], structureID: "s2")])
    }

    @Test func `two tokens that have made each other lose rights once`() async throws {
        let home = await Home()
        let one = try await home.add("one", by: "two", Self.everywhere)
        try await home.add("two", by: "one", Self.everywhere)
        try await home.registry.change(one) { $0.access = Access([.init([.read])]) }
        #expect(home.grants("one") == [.init([.read])] && home.grants("two") == [.init([.read])])
        try await home.registry.revoke(one)
        #expect(home.registry.all.isEmpty)
    }

    @Test(arguments: ["id-maker", "id-link"])
    func `a change that the disk does not take can be repeated, and nobody has more than their maker`(
        id: String
    ) async throws {
        let store = FailingStore()
        let home = await Home(store: store)
        let maker = try await home.add("maker", Self.everywhere)
        try await home.add("link", by: "maker", Access([.init([.view], deviceID: "door")]))
        store.failing.withLock { $0 = [id] }
        let error = await #expect(throws: HomeError.self) { try await home.registry.revoke(maker) }
        #expect(error?.code == .unavailable)
        #expect(home.grants("maker") != nil)
        #expect((home.grants("link") == nil) == (id == "id-maker"))
        store.failing.withLock { $0 = [] }
        try await home.registry.revoke(maker)
        #expect(home.registry.all.isEmpty)
        #expect(await Home(store: store).registry.all.isEmpty)
    }

    @Test func `what a token of the file has made ends when it is taken out of the file`() async throws {
        let store = MemorySharedStore()
        let home = await Home(store: store, holders: ["owner", "guest"])
        try await home.add("phone", by: "guest", Self.everywhere)
        try await home.add("link", by: "phone", Access([.init([.view], deviceID: "door")]))
        try await home.add("other", Self.everywhere)
        let same = await Home(store: store, holders: ["owner", "guest"])
        #expect(same.registry.all.count == 3)
        let later = await Home(store: store)
        #expect(later.registry.all.map(\.record.name) == ["other"])
        // It does not come back with the line.
        let back = await Home(store: store, holders: ["owner", "guest"])
        #expect(back.registry.all.map(\.record.name) == ["other"])
    }

    @Test func `a device that moves concerns those who lose or gain it, and what they have made`() async throws {
        let home = await Home()
        for place in ["s1", "s2", "s3"] {
            try await home.add(place, Access([.init([.read, .media], structureID: place)]))
        }
        try await home.add("all", Self.everywhere)
        try await home.add("alone", Access([.init([.media], deviceID: "door")]))
        try await home.add(
            "both", Access([.init([.read], structureID: "s1"), .init([.read], structureID: "s2")]))
        try await home.add("link", by: "s1", Access([.init([.view], deviceID: "door")]))
        try await home.add("kept", by: "all", Access([.init([.view], deviceID: "door")]))
        home.places.withLock { $0["door"] = "s2" }
        try await home.registry.follow(DeviceMove("door", from: "s1", to: "s2"), heldBefore: [])
        #expect(home.told.withLock { $0 } == ["link ends", "s1", "s2"])
        #expect(home.grants("link") == nil && home.grants("kept") != nil && home.grants("alone") != nil)
    }

    @Test(arguments: [false, true])
    func `two moves of a device at once concern all whom either of them concerns`(isReversed: Bool) async throws {
        let home = await Home()
        for place in ["s1", "s2", "s3"] {
            try await home.add(place, Access([.init([.read, .media], structureID: place)]))
        }
        try await home.add("link", by: "s2", Access([.init([.view], deviceID: "door")]))
        // Both have happened before anybody follows the first one.
        home.places.withLock { $0["door"] = "s3" }
        let moves = [DeviceMove("door", from: "s1", to: "s2"), DeviceMove("door", from: "s2", to: "s3")]
        for move in isReversed ? moves.reversed() : moves { try await home.registry.follow(move, heldBefore: []) }
        let (first, second) = (["s1", "s2"], ["link ends", "s2", "s3"])
        #expect(home.told.withLock { $0 } == (isReversed ? second + first : first + second))
        #expect(home.grants("link") == nil)
    }

    @Test(arguments: [false, true])
    func `a link that is made when the device has come back outlives its departure`(isReversed: Bool) async throws {
        let home = await Home()
        try await home.add("s1", Access([.init([.read, .media], structureID: "s1")]))
        // The device has left and come back before anybody follows it.
        try await home.add("link", by: "s1", Access([.init([.view], deviceID: "door")]))
        let moves = [DeviceMove("door", from: "s1", to: "s2"), DeviceMove("door", from: "s2", to: "s1")]
        for move in isReversed ? moves.reversed() : moves { try await home.registry.follow(move, heldBefore: []) }
        #expect(home.grants("link") == [.init([.view], deviceID: "door")])
        // The next departure ends it.
        home.places.withLock { $0["door"] = "s2" }
        try await home.registry.follow(DeviceMove("door", from: "s1", to: "s2"), heldBefore: [])
        #expect(home.grants("link") == nil)
    }

    @Test func `links keep nothing of a device that comes back to a structure their maker has lost`() async throws {
        let home = await Home()
        let maker = try await home.add("maker", Access([.init([.media], structureID: "s1")]))
        for name in ["a", "b"] {
            try await home.add(name, by: "maker", Access([.init([.view], deviceID: "door")]))
        }
        home.places.withLock { $0["door"] = "s2" }
        let (registry, places) = (home.registry, home.places)
        // Between the ends of the two links, the maker loses the structure, and then the device comes back to it.
        await registry.observe { name, _ in
            guard name == "a" else { return }
            _ = try? await registry.change(maker) { $0.access = Access([.init([.read], structureID: "s2")]) }
            places.withLock { $0["door"] = "s1" }
        }
        try await registry.follow(DeviceMove("door", from: "s1", to: "s2"), heldBefore: [])
        #expect(home.grants("maker") == [.init([.read], structureID: "s2")])
        #expect(home.grants("a") == nil && home.grants("b") == nil)
        await registry.observe { _, _ in }
    }

    @Test func `links keep nothing of a device that has left just before their maker loses the structure`() async throws
    {
        let home = await Home()
        let maker = try await home.add("maker", Access([.init([.media], structureID: "s1")]))
        try await home.add("link", by: "maker", Access([.init([.view], deviceID: "door")]))
        try await home.add(
            "phone", by: "maker", Access([.init([.media], structureID: "s1"), .init([.view], deviceID: "yard")]))
        try await home.add("tablet", by: "phone", Access([.init([.view], deviceID: "door")]))
        let holders = home.registry.all
        home.places.withLock { $0["door"] = "s2" }
        // The move is not followed yet.
        try await home.registry.change(maker) { $0.access = Access([.init([.read], structureID: "s3")]) }
        try await home.registry.follow(DeviceMove("door", from: "s1", to: "s2"), heldBefore: holders)
        #expect(home.grants("link") == nil && home.grants("tablet") == nil)
        #expect(home.grants("phone") == [.init([.view], deviceID: "yard")])
    }

    @Test func `a token that lost rights after its request came gives them to nobody`() async throws {
        let home = await Home()
        let maker = try await home.add("maker", Self.everywhere, endsAfter: 3_600)
        let request = try #require(home.registry.authorization(holding: "maker"))
        try home.registry.requireStill(request)
        try await home.registry.change(maker) { record in
            record.access = Access([.init([.read, .admin])])
            record.expiresAt = Date(timeIntervalSince1970: 1_600)
        }
        #expect(throws: HomeError.self) { try home.registry.requireStill(request) }
        func make(_ access: Access, endsAfter seconds: Double) async -> HomeError.Code? {
            let now = home.clock.withLock { $0 }
            let record = TokenRecord(
                id: "id-made", name: "made", access: access, createdAt: now, createdBy: "maker",
                expiresAt: now + seconds, secrets: [])
            do throws(HomeError) {
                try await home.registry.add(record, by: request)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await make(Access([.init([.media])]), endsAfter: 60) == .permissionDenied)
        #expect(await make(Access([.init([.read])]), endsAfter: 3_600) == .permissionDenied)
        #expect(await make(Access([.init([.read])]), endsAfter: 60) == nil)
        try await home.registry.revoke(maker)
        let refused = #expect(throws: HomeError.self) { try home.registry.requireStill(request) }
        #expect(refused?.code == .unauthenticated)
    }

    @Test func `a name that is given again begins with nothing`() async throws {
        let home = await Home()
        try await home.registry.add(
            TokenRecord(
                id: "id-phone", name: "phone", access: Self.everywhere, createdAt: Date(timeIntervalSince1970: 5),
                createdBy: "owner", secrets: []))
        // The first holder may have ended while the gateway was stopped, with browsers that are still notified.
        #expect(home.told.withLock { $0 } == ["phone ends", "phone"])
    }
}
