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
        let held = HeldUploads(["door": table.connections], lost: ["door"]) { _ in false }
        #expect(held.reason(connection: 2, device: "door")?.contains("recordingConnectionsLost") == true)
        #expect(held.reason(connection: 1, device: "door") == nil)
        #expect(held.reason(connection: table.nextID, device: "door") == nil)
        #expect(held.reason(connection: 2, device: "yard") == nil)
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
