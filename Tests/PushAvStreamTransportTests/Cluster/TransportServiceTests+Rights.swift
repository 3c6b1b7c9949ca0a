import HomeTypes
import Testing
import Transport

@testable import PushAvStreamTransport

/// Connections of principals that lose the right to a camera's footage.
extension TransportServiceTests {
    /// A service with two cameras. Two principals have a connection to each, which records all the time.
    private func service(_ rig: TransportServiceRig) async throws -> TransportService {
        let service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection(trigger: .command), "yard": OwnConnection(trigger: .command)])
        for device in ["door", "yard"] {
            service.describe(device, Fixture.streams)
            for principal in ["phone", "tablet"] {
                let made = try await service.change(device) { table, camera, now throws(TransportFault) in
                    try table.allocate(Fixture.options(.continuous), for: principal, of: camera, at: now)
                }
                try await service.change(device) { table, _, _ throws(TransportFault) in
                    try table.setStatus(made.id, .active, for: principal)
                }
            }
        }
        _ = rig.log
        rig.state.withLock { $0.changes = [] }
        return service
    }

    /// The connections that were reported as ended with their right.
    private func ended(_ rig: TransportServiceRig) -> [String] {
        rig.state.withLock { $0.changes }.flatMap { change -> [String] in
            guard case .rightsEnded(let device, let connections) = change else { return [] }
            return connections.map { "\(device) \($0.id) of \($0.owner ?? "everybody")" }
        }
    }

    @Test("A principal that loses a right loses its connections there, and their recordings end")
    func lostRight() async throws {
        let rig = TransportServiceRig()
        let service = try await self.service(rig)
        let changed = await service.endConnections(of: "phone") { $0 == "yard" }
        #expect(changed == ["door"])
        #expect(service.table(of: "door")?.connections.map(\.id) == [1, 3])
        #expect(service.table(of: "yard")?.connections.map(\.id) == [1, 2, 3])
        #expect(rig.load()["door"]?.connections.map(\.id) == [1, 3])
        #expect(rig.log == ["end door 2 removed", "pre-roll door 2 none"])
        #expect(ended(rig) == ["door 2 of phone"])
        let again = await service.endConnections(of: "phone") { $0 == "yard" }
        #expect(again.isEmpty)
    }

    @Test("A right is taken away even if the disk takes nothing, and from cameras that are away")
    func lostRightOnAFullDisk() async throws {
        let rig = TransportServiceRig()
        let service = try await self.service(rig)
        service.setCameras(["door": OwnConnection(trigger: .command)])
        rig.state.withLock { $0.fails = true }
        let changed = await service.endConnections(of: "phone") { _ in false }
        #expect(changed == ["door", "yard"])
        #expect(service.table(of: "door")?.connections.map(\.id) == [1, 3])
        #expect(service.kept(of: "yard")?.connections.map(\.id) == [1, 3])
        #expect(ended(rig) == ["door 2 of phone", "yard 2 of phone"])
        rig.state.withLock { $0.fails = false }
        rig.pass(60)
        #expect(rig.load()["yard"]?.connections.map(\.id) == [1, 3])
    }

    @Test("A right that ended while the gateway was stopped, or while the camera was away, is noticed")
    func lostRightWhileStopped() async throws {
        let rig = TransportServiceRig()
        _ = try await self.service(rig)
        // As after kill -9: nothing was said to the service.
        let service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .command)]) { principal, _ in principal != "phone" }
        #expect(service.table(of: "door")?.connections.map(\.id) == [1, 3])
        #expect(rig.log.allSatisfy { !$0.hasPrefix("begin door 2") })
        #expect(ended(rig) == ["door 2 of phone"])
        service.setCameras(["door": OwnConnection(trigger: .command), "yard": OwnConnection(trigger: .command)]) {
            $0 == "phone" && $1 == "yard"
        }
        // What is there was asked about when it came.
        #expect(service.table(of: "door")?.connections.map(\.id) == [1, 3])
        #expect(service.table(of: "yard")?.connections.map(\.id) == [1, 2])
    }
}
