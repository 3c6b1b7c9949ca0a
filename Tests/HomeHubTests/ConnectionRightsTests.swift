import Foundation
import HomeFakes
import HomeTypes
import PushAvStreamTransport
import Testing
import Transport

@testable import HomeHub

/// Recording connections belong to principals with the right to the camera's footage.
extension TransportTests {
    private static let continuous = """
        {"transportOptions":{"streamUsage":"recording","videoStreamID":null,"tlsEndpointID":0,\
        "url":"https://ingest.example/","triggerOptions":{"triggerType":"continuous"},"ingestMethod":"cmafIngest",\
        "containerOptions":{"containerType":"cmaf","cmafContainerOptions":\
        {"cmafInterface":"interface1","segmentDuration":4000,"chunkDuration":1000}}}}
        """

    /// A home whose camera has described itself.
    private func describedHub() async throws -> HomeHub {
        let hub = try await self.hub()
        camera.send(FakeCamera.flowing)
        camera.finish()
        await hub.run()
        return hub
    }

    private func connections(_ hub: HomeHub) async throws -> [UInt16] {
        try #require(try await hub.device("door").traits[Push.self]?.currentConnections).map(\.connectionID)
    }

    @Test func `a connection that sends footage needs the scopes control and media`() async throws {
        let hub = try await describedHub()
        func code(_ command: String, _ body: String, _ scopes: Set<Caller.Scope>) async -> HomeError.Code? {
            let caller = Caller(principal: "phone", access: Access([.init(scopes, deviceID: "door")]))
            let call = CommandCall(deviceID: "door", trait: Push.name, command: command, caller: caller)
            do { _ = try await hub.send(call, body: Data(body.utf8)) } catch { return error.code }
            return nil
        }
        let modification = #"{"connectionID":1,"transportOptions":{"url":"https://attacker.example/"}}"#
        for (command, body) in [
            ("allocatePushTransport", Self.continuous), ("modifyPushTransport", modification),
        ] {
            for scopes: Set<Caller.Scope> in [[.control], [.media], [.control, .view, .read, .admin, .automate]] {
                #expect(await code(command, body, scopes) == .permissionDenied, "\(command) with \(scopes)")
            }
            #expect(await code(command, body, [.control, .media]) == nil, "\(command)")
        }
        #expect(await code("findTransport", "{}", [.control]) == nil)
        #expect(await code("setTransportStatus", #"{"transportStatus":"inactive"}"#, [.control]) == nil)
    }

    @Test func `connections end with the right of their principal, and nobody else's do`() async throws {
        let hub = try await describedHub()
        for (id, principal) in [(2, "phone"), (3, "tablet")] {
            try await send("allocatePushTransport", Self.continuous, to: hub, as: principal)
            try await send(
                "setTransportStatus", #"{"transportStatus":"active","connectionID":\#(id)}"#, to: hub, as: principal)
        }
        #expect(outputs.orders.withLock { $0 } == Array(repeating: "begin continuous recording", count: 2))
        await hub.enforce(Access([.init([.read, .control, .media], deviceID: "door")]), on: "phone")
        #expect(try await connections(hub) == [1, 2, 3])
        // What permits watching, and media elsewhere, does not permit recording.
        await hub.enforce(
            Access([.init([.read, .control, .view]), .init([.media], deviceID: "yard")]), on: "phone")
        #expect(try await connections(hub) == [1, 3])
        #expect(outputs.orders.withLock { $0.last } == "end removed")
        await hub.enforce(.nothing, on: "tablet")
        #expect(try await connections(hub) == [1])
        #expect(outputs.orders.withLock { $0.count } == 4)
    }

    @Test func `the owner finds the connections of others and removes them`() async throws {
        let hub = try await describedHub()
        try await send("allocatePushTransport", Self.continuous, to: hub)
        await #expect(throws: HomeError.self) {
            try await send("deallocatePushTransport", #"{"connectionID":2}"#, to: hub, as: "tablet")
        }
        let found = try await send("findTransport", #"{"connectionID":2}"#, to: hub, as: "owner")
        #expect(found.contains("ingest.example"))
        let trait = try await hub.trait(Push.name, of: "door", for: "owner") as? Push
        #expect(trait?.currentConnections?.allSatisfy { $0.transportOptions != nil } == true)
        try await send("deallocatePushTransport", #"{"connectionID":2}"#, to: hub, as: "owner")
        #expect(try await connections(hub) == [1])
    }

    @Test func `a connection records on while it is not known whether its principal has the right`() async throws {
        let folder = TestFolder()
        let path = folder.path + "/shared.sqlite"
        let isUnknown = Locked(false)
        let access = Locked(Access.everything)
        func home() async throws -> HomeHub {
            let service = try TransportService(
                storage: SharedConnectionStorage(try SQLiteSharedStore(path: path)), recorder: outputs)
            let hub = HomeHub(
                devices: [], drivers: [], signalling: FakeLiveView().services,
                transports: HomeTransports(service: service), accessOf: { _ in access.withLock { $0 } },
                isUnknown: { _ in isUnknown.withLock { $0 } })
            await hub.setDevices([DeviceDescription(id: "door", name: "Door", kind: .doorbell)], drivers: [camera])
            await hub.apply(FakeCamera.flowing, deviceID: "door")
            return hub
        }
        do {
            let hub = try await home()
            try await send("allocatePushTransport", Self.continuous, to: hub)
            try await send("setTransportStatus", #"{"transportStatus":"active","connectionID":2}"#, to: hub)
        }
        outputs.orders.withLock { $0 = [] }
        // The token cannot be read at the next start.
        access.withLock { $0 = .nothing }
        isUnknown.withLock { $0 = true }
        do {
            let hub = try await home()
            #expect(try await connections(hub) == [1, 2])
            #expect(outputs.orders.withLock { $0 } == ["begin continuous recording"])
        }
        // The principal is known to have no right.
        isUnknown.withLock { $0 = false }
        let hub = try await home()
        #expect(try await connections(hub) == [1])
    }

    @Test func `rights are asked for at the start, and after a command that was on its way`() async throws {
        let folder = TestFolder()
        let path = folder.path + "/shared.sqlite"
        let rights = Locked(Access.everything)
        func home() async throws -> HomeHub {
            let service = try TransportService(
                storage: SharedConnectionStorage(try SQLiteSharedStore(path: path)), recorder: outputs)
            let hub = HomeHub(
                devices: [], drivers: [], signalling: FakeLiveView().services,
                transports: HomeTransports(service: service), accessOf: { _ in rights.withLock { $0 } })
            await hub.setDevices([DeviceDescription(id: "door", name: "Door", kind: .doorbell)], drivers: [camera])
            await hub.apply(FakeCamera.flowing, deviceID: "door")
            return hub
        }
        do {
            let hub = try await home()
            try await send("allocatePushTransport", Self.continuous, to: hub)
            try await send(
                "setTransportStatus", #"{"transportStatus":"active","connectionID":2}"#, to: hub)
            // The token was checked, and revoked before the connection was there.
            rights.withLock { $0 = Access([.init([.media], deviceID: "yard")]) }
            let refusal = await #expect(throws: HomeError.self) {
                try await send("allocatePushTransport", Self.continuous, to: hub, as: "tablet")
            }
            #expect(refusal?.code == .permissionDenied)
            #expect(try await connections(hub) == [1, 2])
        }
        outputs.orders.withLock { $0 = [] }
        let hub = try await home()
        #expect(try await connections(hub) == [1])
        #expect(outputs.orders.withLock { $0.isEmpty })
    }
}
