import HomeTypes
import Testing
import Transport

@testable import PushAvStreamTransport

/// Cameras that leave, and endpoints that are given up.
extension TransportServiceTests {
    @Test("A camera that is removed ends its recordings, and comes back as it was, also after a restart")
    func removal() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .continuous), "yard": OwnConnection()])
        try await service.change("door") { table, _, _ throws(TransportFault) in
            table.setPrivacy(softLivestream: true)
            try table.setStatus(nil, .inactive, for: "phone")
        }
        try await service.change("yard") { table, _, _ throws(TransportFault) in
            try table.setStatus(nil, .inactive, for: "phone")
        }
        try await service.change("door") { table, _, _ throws(TransportFault) in
            try table.setStatus(nil, .active, for: "phone")
        }
        _ = rig.log
        service.setCameras([:])
        #expect(rig.log == ["end door 1 removed", "pre-roll door 1 none", "pre-roll yard 1 none"])
        #expect(service.table(of: "door") == nil)
        await #expect(throws: TransportFault.unknownDevice("yard")) {
            try await service.change("yard") { table, _, _ throws(TransportFault) in
                try table.setStatus(nil, .active, for: "phone")
            }
        }
        for service in [service, try rig.service()] {
            service.setCameras(["door": OwnConnection(trigger: .continuous), "yard": OwnConnection()])
            #expect(service.table(of: "door")?.privacy.softLivestream == true)
            #expect(service.table(of: "door")?.isOn == true)
            #expect(service.table(of: "yard")?.isOn == false)
            // Uploads never get a number again that they had before.
            #expect(rig.log.contains { $0.hasPrefix("begin door 1 number") && !$0.contains("number 1 ") })
            service.setCameras([:])
            _ = rig.log
        }
    }

    @Test("A camera that is away keeps no endpoint, and loses its connections to one that is deleted")
    func removalAndEndpoints() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection()])
        service.describe("door", Fixture.streams)
        try await service.change("door") { table, camera, now throws(TransportFault) in
            _ = try table.allocate(Fixture.options(), for: "phone", of: camera, at: now)
        }
        #expect(service.usesEndpoint(1))
        service.setCameras([:])
        #expect(!service.usesEndpoint(1))
        service.setEndpoints([1, 2])
        #expect(rig.load()["door"]?.connections.map(\.id) == [1, 2])
        service.setEndpoints([2])
        #expect(rig.load()["door"]?.connections.map(\.id) == [1])
    }

    @Test("While not every endpoint is known, a camera that is away loses no connection")
    func removalAndUnknownEndpoints() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection()])
        service.describe("door", Fixture.streams)
        try await service.change("door") { table, camera, now throws(TransportFault) in
            _ = try table.allocate(Fixture.options(), for: "phone", of: camera, at: now)
        }
        service.setCameras([:])
        // The next start cannot use the file of the endpoints.
        let next = try rig.service()
        next.setEndpoints([], areAllKnown: false)
        #expect(next.uses(1) && !next.uses(2))
        next.setCameras(["door": OwnConnection()])
        #expect(next.table(of: "door")?.connections.map(\.options.tlsEndpointID) == [0, 1])
        #expect(next.allConnections["door"]?.map(\.owner) == [nil, "phone"])
    }

    @Test("Of many cameras that are away, those that left first are forgotten")
    func manyRemovals() throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        for number in 0..<(TransportService.maximumAway + 10) {
            service.setCameras(["camera-\(number)": OwnConnection()])
            rig.state.withLock { $0.wall += 1_000 }
        }
        service.setCameras([:])
        let kept = rig.load()
        #expect(kept.count == TransportService.maximumAway)
        #expect(kept["camera-9"] == nil && kept["camera-10"] != nil)
    }

    @Test("A camera that left while the gateway was stopped keeps no endpoint")
    func leftWhileStopped() async throws {
        let rig = TransportServiceRig()
        var service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection(), "yard": OwnConnection()])
        service.describe("door", Fixture.streams)
        try await service.change("door") { table, camera, now throws(TransportFault) in
            _ = try table.allocate(Fixture.options(), for: "phone", of: camera, at: now)
        }
        service = try rig.service()
        service.setEndpoints([1])
        // Until the home has said which cameras there are, nothing is given up.
        #expect(service.usesEndpoint(1))
        service.setCameras(["yard": OwnConnection()])
        #expect(!service.usesEndpoint(1))
        #expect(rig.load()["door"]?.removedAt != nil && rig.load()["yard"]?.removedAt == nil)
        service.setEndpoints([])
        service.setCameras(["door": OwnConnection(), "yard": OwnConnection()])
        #expect(service.table(of: "door")?.connections.map(\.id) == [1])
    }

    @Test("An endpoint that is given up cannot be named, until it is taken back")
    func endpointsThatAreGivenUp() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setEndpoints([1, 2])
        service.setCameras(["door": OwnConnection()])
        service.describe("door", Fixture.streams)
        @Sendable func allocate() async throws(TransportFault) {
            try await service.change("door") { table, camera, now throws(TransportFault) in
                _ = try table.allocate(Fixture.options(), for: "phone", of: camera, at: now)
            }
        }
        #expect(service.giveUp(1))
        await #expect(throws: TransportFault.unknownEndpoint(1)) { try await allocate() }
        // Another endpoint was made meanwhile.
        service.setEndpoints([1, 2, 3])
        await #expect(throws: TransportFault.unknownEndpoint(1)) { try await allocate() }
        service.takeBack(1)
        try await allocate()
        #expect(!service.giveUp(1))
        #expect(service.giveUp(2))
    }
}
