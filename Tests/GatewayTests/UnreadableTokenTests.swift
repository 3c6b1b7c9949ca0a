import Foundation
import HomeTypes
import Testing
import Transport

@testable import Gateway
@testable import HomeHub
@testable import PushAvStreamTransport

/// Records of tokens that cannot be read: their holders' recordings go on, and nothing of them is uploaded.
@Suite struct UnreadableTokenTests {
    private let folder: TemporaryFolder
    private var path: String { folder.directory.file(SQLiteSharedStore.fileName) }

    init() throws {
        folder = try TemporaryFolder()
        try folder.directory.create()
    }

    private func record(_ id: String, _ name: String, expiresAt: Date? = nil) -> TokenRecord {
        TokenRecord(
            id: id, name: name, access: Access([.init([.read, .control, .media])]),
            createdAt: Date(timeIntervalSince1970: 5), createdBy: "owner", expiresAt: expiresAt,
            secrets: [.init(kind: .access, digest: TokenRegistry.digest(of: "gatehouse_\(id)"))])
    }

    /// A registry after a start with these damaged records beside those of `phone`, and of `visitor`, which has ended.
    private func registry(damaged: [String: String]) throws -> TokenRegistry {
        let store = try SQLiteSharedStore(path: path)
        for one in [record("t1", "phone"), record("t2", "visitor", expiresAt: Date(timeIntervalSince1970: 6))] {
            _ = try store.write(TokenRecord.kind, one.id, try one.json(), expecting: 0)
        }
        for (id, body) in damaged { _ = try store.write(TokenRecord.kind, id, body, expecting: 0) }
        return TokenRegistry(
            file: TokenStore(tokens: [("owner", TestGateway.token)]), store: store,
            now: { Date(timeIntervalSince1970: 1_000) })
    }

    @Test func `of a principal without a record of its own nothing is known`() throws {
        let registry = try self.registry(damaged: ["t9": "{"])
        #expect(registry.isUnknown("tablet"))
        // Those whose records can be read are known: with a right, and without one.
        #expect(!registry.isUnknown("phone") && !registry.isUnknown("visitor") && !registry.isUnknown("owner"))
        #expect(registry.isUnreadable("t9") && !registry.isUnreadable("t1"))
    }

    @Test func `a record whose holder can be read leaves the others known`() throws {
        // As of a newer version: it has what this one does not know.
        let registry = try self.registry(damaged: ["t9": #"{"id":"t9","name":"tablet","access":"all"}"#])
        #expect(registry.isUnknown("tablet"))
        #expect(!registry.isUnknown("watch") && !registry.isUnknown("phone"))
        #expect(registry.access(of: "tablet") == .nothing)
    }

    @Test func `with every record in order, whoever has none is known to have no right`() throws {
        let registry = try self.registry(damaged: [:])
        #expect(!registry.isUnknown("tablet"))
    }

    @Test func `when nothing can be read, only the holders in the file are known`() {
        let registry = TokenRegistry(
            file: TokenStore(tokens: [("owner", TestGateway.token)]), store: UnreadableStore())
        #expect(registry.isUnknown("tablet") && !registry.isUnknown("owner"))
    }

    @Test func `what is kept of a holder ends when the token is revoked, and the alarm with it`() async throws {
        let registry = try self.registry(damaged: ["t8": "{", "t9": "not JSON"])
        let ended = Locked<[String]>([])
        await registry.observe { principal, access in
            ended.withLock { $0.append("\(principal) \(access.grants.count)") }
        }
        let gateway = try TestGateway()
        await registry.reportUnreadable(to: gateway.hub)
        let raised = await gateway.hub.lastingAlarms
        #expect(raised.map(\.kind) == [.tokensUnreadable])
        #expect(raised.first?.reason.contains("t8, t9") == true)
        #expect(registry.isUnknown("tablet"))
        // It may still be the other one.
        try await registry.revoke("t8")
        #expect(registry.isUnknown("tablet"))
        #expect(ended.withLock { $0 } == [])
        try await registry.revoke("t9")
        #expect(!registry.isUnknown("tablet"))
        #expect(ended.withLock { $0 } == ["tablet 0"])
        let left = await gateway.hub.lastingAlarms
        #expect(left.isEmpty)
        // The next start knows it, too.
        let again = TokenRegistry(
            file: TokenStore(tokens: [("owner", TestGateway.token)]), store: try SQLiteSharedStore(path: path),
            now: { Date(timeIntervalSince1970: 1_000) })
        #expect(!again.isUnknown("tablet") && !again.isUnreadable("t9"))
        #expect(again.all.map(\.record.name) == ["phone"])
    }

    /// A registry in which `tablet`, whose record cannot be read, has made `phone`, which has made `watch`; and the
    /// changes that it reports.
    private func makers(_ store: RefusingStore) async throws -> (registry: TokenRegistry, told: Locked<[String]>) {
        var (phone, watch) = (record("t1", "phone"), record("t2", "watch"))
        (phone.createdBy, watch.createdBy) = ("tablet", "phone")
        for one in [phone, watch, record("t3", "other")] {
            let written = store.memory.write(TokenRecord.kind, one.id, try one.json(), expecting: 0)
            #expect(written != nil)
        }
        let damaged = store.memory.write(
            TokenRecord.kind, "t9", #"{"id":"t9","name":"tablet","access":"all"}"#, expecting: 0)
        #expect(damaged != nil)
        let registry = TokenRegistry(
            file: TokenStore(tokens: [("owner", TestGateway.token)]), store: store,
            now: { Date(timeIntervalSince1970: 1_000) })
        let told = Locked<[String]>([])
        await registry.observe { principal, access in
            told.withLock { $0.append("\(principal) \(access.grants.count)") }
        }
        #expect(registry.isUnknown("tablet") && registry.all.count == 3)
        return (registry, told)
    }

    @Test func `what was made with a token that cannot be read ends before it`() async throws {
        let (registry, told) = try await makers(RefusingStore())
        try await registry.revoke("t9")
        #expect(told.withLock { $0.last } == "tablet 0")
        #expect(told.withLock { Set($0.dropLast()) } == ["phone 0", "watch 0"])
        #expect(registry.all.map(\.record.name) == ["other"])
        #expect(!registry.isUnknown("tablet") && !registry.isUnreadable("t9"))
    }

    /// The disk refuses the record of the token itself, or of one that was made with it.
    @Test(arguments: ["t9", "t1", "t2"])
    func `a revocation of an unreadable token that the disk refuses can be repeated`(id: String) async throws {
        let store = RefusingStore()
        let (registry, told) = try await makers(store)
        store.refused.withLock { $0 = [id] }
        let refusal = await #expect(throws: HomeError.self) { try await registry.revoke("t9") }
        #expect(refusal?.code == .unavailable)
        // Nothing is known of the token yet, so nothing that its holder has started has ended.
        #expect(registry.isUnreadable("t9") && registry.isUnknown("tablet"))
        #expect(told.withLock { !$0.contains("tablet 0") })
        // No token outlives the one that it was made with.
        let left = Set(registry.all.map(\.record.name))
        #expect(left.contains("other") && (!left.contains("watch") || left.contains("phone")))
        store.refused.withLock { $0 = [] }
        try await registry.revoke("t9")
        #expect(registry.all.map(\.record.name) == ["other"])
        #expect(told.withLock { $0.last } == "tablet 0")
        #expect(told.withLock { $0.count { $0 == "phone 0" } } == 1)
        // The next start knows it, too.
        let again = TokenRegistry(
            file: TokenStore(tokens: [("owner", TestGateway.token)]), store: store,
            now: { Date(timeIntervalSince1970: 1_000) })
        #expect(again.all.map(\.record.name) == ["other"] && !again.isUnreadable("t9"))
    }

    @Test func `a revocation of another version of an unreadable token ends nothing`() async throws {
        let (registry, told) = try await makers(RefusingStore())
        let refusal = await #expect(throws: HomeError.self) { try await registry.revoke("t9", expecting: 77) }
        #expect(refusal?.code == .aborted)
        #expect(registry.all.count == 3 && registry.isUnreadable("t9"))
        #expect(told.withLock { $0.isEmpty })
    }

    @Test func `what a holder has made with another token, which works, does not end`() async throws {
        let store = RefusingStore()
        let (registry, told) = try await makers(store)
        try await registry.add(record("t4", "tablet"))
        told.withLock { $0 = [] }
        try await registry.revoke("t9")
        #expect(Set(registry.all.map(\.record.name)) == ["other", "phone", "tablet", "watch"])
        #expect(told.withLock { $0.allSatisfy { !$0.hasSuffix(" 0") } })
    }

    @Test func `uploads are held while the right is unknown, also after the connection has gone`() {
        let connection = TransportConnection(
            id: 2, status: .active, options: OwnConnection().options, owner: "tablet", expiry: nil)
        var other = connection
        (other.id, other.owner) = (3, "phone")
        let unknown = Locked<Set<String>>(["tablet"])
        let held = HeldUploads(["door": [connection, other]]) { principal in
            unknown.withLock { $0.contains(principal) }
        }
        let outputs = CameraOutputs()
        #expect(outputs.reasonToHold(uploadsOf: 2, on: "door") == nil)
        outputs.use(held)
        #expect(outputs.reasonToHold(uploadsOf: 2, on: "door")?.contains("tablet") == true)
        #expect(outputs.reasonToHold(uploadsOf: 3, on: "door") == nil)
        #expect(outputs.reasonToHold(uploadsOf: 2, on: "yard") == nil)
        unknown.withLock { $0 = [] }
        #expect(outputs.reasonToHold(uploadsOf: 2, on: "door") == nil)
    }

    @Test func `uploads for connections that cannot be read are held, and those of later ones are not`() throws {
        let table = ConnectionTable.replacement(at: 1_763_900_000_000)
        let held = HeldUploads(["door": table.connections], lost: ["door": table]) { _ in false }
        #expect(held.reason(connection: 2, device: "door")?.contains("recordingConnectionsLost") == true)
        #expect(held.reason(connection: 1, device: "door") == nil)
        #expect(held.reason(connection: table.nextID, device: "door") == nil)
        #expect(held.reason(connection: 2, device: "yard") == nil)
    }

    @Test func `after a second loss, uploads for connections made after the first are held, too`() {
        let first = ConnectionTable.replacement(at: 1_763_900_000_000)
        let second = ConnectionTable.replacement(at: 1_763_900_000_000, next: first.nextID + 1)
        let held = HeldUploads(["door": second.connections], lost: ["door": second]) { _ in false }
        #expect(held.reason(connection: first.nextID, device: "door")?.contains("recordingConnectionsLost") == true)
        #expect(held.reason(connection: 2, device: "door") != nil)
        #expect(held.reason(connection: second.nextID, device: "door") == nil)
    }

    @Test func `an alarm names each camera whose connections cannot be read`() async throws {
        let gateway = try TestGateway()
        await gateway.hub.report([ConnectionLoss(device: "door", reason: "they are in a file")])
        let raised = await gateway.hub.lastingAlarms
        #expect(raised.map(\.kind) == [.recordingConnectionsLost])
        #expect(raised.map(\.deviceID) == ["door"] && raised.map(\.reason) == ["they are in a file"])
    }
}

/// A store that cannot be read.
private struct UnreadableStore: SharedStore {
    let home = "home"

    private var failure: StoreFailure { StoreFailure(path: "shared.sqlite", reason: "is damaged") }

    func object(_ kind: String, _ id: String) throws(StoreFailure) -> SharedObject? { throw failure }
    func objects(_ kind: String) throws(StoreFailure) -> [SharedObject] { throw failure }
    func write(
        _ kind: String, _ id: String, _ body: String, expecting version: Int64
    ) throws(StoreFailure) -> Int64? { throw failure }
    func delete(_ kind: String, _ id: String, expecting version: Int64) throws(StoreFailure) -> Int64? {
        throw failure
    }
    func watch(_ kind: String) -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}

/// A store that refuses some objects.
private final class RefusingStore: SharedStore {
    let memory = MemorySharedStore()
    let refused = Locked<Set<String>>([])

    var home: String { memory.home }
    func object(_ kind: String, _ id: String) throws(StoreFailure) -> SharedObject? { memory.object(kind, id) }
    func objects(_ kind: String) throws(StoreFailure) -> [SharedObject] { memory.objects(kind) }
    func write(
        _ kind: String, _ id: String, _ body: String, expecting version: Int64
    ) throws(StoreFailure) -> Int64? {
        let isRefused = refused.withLock { $0.contains(id) }
        if isRefused { throw StoreFailure(path: "store", reason: "the disk is full") }
        return memory.write(kind, id, body, expecting: version)
    }
    func delete(_ kind: String, _ id: String, expecting version: Int64) throws(StoreFailure) -> Int64? {
        memory.delete(kind, id, expecting: version)
    }
    func watch(_ kind: String) -> AsyncStream<Void> { memory.watch(kind) }
}
