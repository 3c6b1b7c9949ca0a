import HomeTypes
import Testing
import Transport

@testable import PushAvStreamTransport

/// While the disk takes nothing.
extension TransportServiceTests {
    @Test("A change that the disk does not take changes nothing")
    func fullDisk() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        let before = service.table(of: "door")
        rig.state.withLock { $0.fails = true }
        let fault = TransportFault.notKept(.storage(path: "shared.sqlite", .database("full")))
        await #expect(throws: fault) {
            try await service.change("door") { table, _, _ throws(TransportFault) in
                try table.setStatus(nil, .inactive, for: "phone")
            }
        }
        #expect(service.table(of: "door") == before)
        await #expect(throws: TransportFault.unknownDevice("attic")) {
            try await service.change("attic") { table, _, _ throws(TransportFault) in
                try table.setStatus(nil, .inactive, for: "phone")
            }
        }
    }

    @Test("Where what was kept is lost, the first cameras begin switched off, and later ones on")
    func lostState() async throws {
        let rig = TransportServiceRig()
        let service = try TransportService(storage: rig, startsOff: true, recorder: rig)
        // A camera's station begins before the home has it.
        #expect(service.kept(of: "door")?.isOn == false)
        service.setCameras(["door": OwnConnection()])
        #expect(service.table(of: "door")?.isOn == false)
        #expect(rig.load()["door"]?.isOn == false)
        try await service.change("door") { table, _, _ throws(TransportFault) in
            try table.setStatus(nil, .active, for: "phone")
        }
        service.setCameras(["door": OwnConnection(), "yard": OwnConnection()])
        #expect(service.table(of: "door")?.isOn == true)
        #expect(service.table(of: "yard")?.isOn == true)
        #expect(service.kept(of: "attic") == nil)
        service.stop()
    }

    /// What the disk is about among the reports.
    private func storageReports(_ rig: TransportServiceRig) -> [String] {
        rig.state.withLock { $0.changes }.compactMap { change in
            switch change {
            case .notKept(let device, _): "\(device) not kept"
            case .kept(let device): "\(device) kept"
            case .connections, .rightsEnded, .began, .ended: nil
            }
        }
    }

    @Test("A connection whose time is over goes even if the disk takes nothing, and the disk gets it later")
    func expiryOnAFullDisk() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection(trigger: .command)])
        service.describe("door", Fixture.streams)
        let made = try await service.change("door") { table, camera, now throws(TransportFault) in
            var options = Fixture.options(.continuous)
            options.expiryTime = 5
            return try table.allocate(options, for: "phone", of: camera, at: now)
        }
        try await service.change("door") { table, _, _ throws(TransportFault) in
            try table.setStatus(made.id, .active, for: "phone")
        }
        let saves = rig.state.withLock { state in
            state.fails = true
            return state.saves
        }
        rig.pass(5)
        #expect(rig.log.contains("end door 2 removed"))
        #expect(service.table(of: "door")?.connections.map(\.id) == [1])
        #expect(rig.load()["door"]?.connections.map(\.id) == [1, 2])
        #expect(!service.usesEndpoint(1))
        // Each wait is twice as long as the one before, up to a minute.
        rig.pass(300)
        let attempts = rig.state.withLock { $0.saves } - saves
        #expect((7...12).contains(attempts), "\(attempts) attempts in five minutes")
        #expect(storageReports(rig) == ["door not kept"])
        rig.state.withLock { $0.fails = false }
        rig.pass(60)
        #expect(rig.load()["door"]?.connections.map(\.id) == [1])
        #expect(storageReports(rig) == ["door not kept", "door kept"])
        let all = rig.state.withLock { $0.saves }
        rig.pass(300)
        #expect(rig.state.withLock { $0.saves } == all)
    }

    @Test("A command that the disk does not take changes nothing, and the alarm about it ends")
    func refusedCommand() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        rig.state.withLock { $0.fails = true }
        for _ in 0..<3 {
            await #expect(throws: TransportFault.self) {
                try await service.change("door") { table, _, _ throws(TransportFault) in
                    try table.setStatus(nil, .inactive, for: "phone")
                }
            }
        }
        #expect(storageReports(rig) == ["door not kept"])
        rig.state.withLock { $0.fails = false }
        rig.pass(5)
        #expect(storageReports(rig) == ["door not kept", "door kept"])
        #expect(rig.load()["door"]?.isOn == true)
    }

    @Test("A camera that comes back while the disk takes nothing is there as a whole")
    func returnOnAFullDisk() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection()])
        service.describe("door", Fixture.streams)
        try await service.change("door") { table, camera, now throws(TransportFault) in
            _ = try table.allocate(Fixture.options(), for: "phone", of: camera, at: now)
        }
        service.setCameras([:])
        rig.state.withLock { $0.fails = true }
        service.setCameras(["door": OwnConnection(trigger: .command), "yard": OwnConnection()])
        #expect(service.usesEndpoint(1))
        #expect(service.table(of: "door")?.connections.first?.options.triggerOptions.triggerType == .command)
        #expect(service.table(of: "yard")?.isOn == true)
        rig.state.withLock { $0.fails = false }
        rig.pass(2)
        #expect(rig.load()["door"]?.removedAt == nil && rig.load()["yard"] != nil)
    }
}
