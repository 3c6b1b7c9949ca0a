import HomeTypes
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("The recording connections of all cameras")
struct TransportServiceTests {
    @Test("A new camera has its own connection, which is kept, and motion begins recordings")
    func ownConnection() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        #expect(service.table(of: "door")?.isOn == true)
        #expect(rig.load()["door"]?.connections.map(\.id) == [1])
        #expect(rig.log == ["pre-roll door 1 4"])
        service.take(.motion("e1"), of: "door")
        service.take(.motion("e2"), of: "door")
        service.settle()
        #expect(rig.log == ["begin door 1 number 1 motion", "add door 1"])
        rig.pass(19)
        #expect(rig.log.isEmpty)
        rig.pass(1)
        #expect(rig.log == ["end door 1 lengthReached"])
        service.take(.motion("e3"), of: "attic")
        service.settle()
        #expect(rig.log.isEmpty)
        let began = rig.state.withLock { $0.changes }.filter {
            if case .connections = $0 { false } else { true }
        }
        #expect(
            began == [
                .began(
                    device: "door", connection: 1,
                    RecordingTrigger(kind: .motion, words: "motion", events: ["e1"]), number: 1),
                .ended(device: "door", connection: 1, number: 1, .lengthReached),
            ])
    }

    @Test("A recording that is resumed contains nothing of the time when its connection was inactive")
    func resumedRecording() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        service.take(.motion("e1"), of: "door")
        service.settle()
        let motion = rig.state.withLock { $0.now }
        rig.pass(1)
        try await service.change("door") { table, _, _ throws(TransportFault) in
            try table.setStatus(nil, .inactive, for: "phone")
        }
        rig.pass(5)
        try await service.change("door") { table, _, _ throws(TransportFault) in
            try table.setStatus(nil, .active, for: "phone")
        }
        let order = try #require(rig.state.withLock { $0.orders.last })
        #expect(rig.state.withLock { $0.orders.count } == 2)
        #expect(order.triggeredAt == motion)
        #expect(order.notBefore == motion + .seconds(6))
    }

    @Test("Off ends the recording, survives a restart, and on goes on")
    func offAndRestart() async throws {
        let rig = TransportServiceRig()
        var service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .continuous)])
        #expect(rig.log == ["begin door 1 number 1 continuous recording"])
        try await service.change("door") { table, _, _ throws(TransportFault) in
            try table.setStatus(nil, .inactive, for: "phone")
        }
        #expect(rig.log == ["end door 1 inactive"])
        // As after kill -9: nothing was said to the service.
        service = try rig.service()
        #expect(service.table(of: "door") == nil)
        service.setCameras(["door": OwnConnection(trigger: .continuous)])
        #expect(service.table(of: "door")?.isOn == false)
        #expect(rig.log.isEmpty)
        try await service.change("door") { table, _, _ throws(TransportFault) in
            try table.setStatus(1, .active, for: "phone")
        }
        #expect(rig.log == ["begin door 1 number 2 continuous recording"])
        try await service.change("door") { table, _, _ in table.setPrivacy(softRecording: true) }
        #expect(rig.log == ["end door 1 privacy"])
        try await service.change("door") { table, _, _ in table.setPrivacy(softRecording: false) }
        #expect(rig.log == ["begin door 1 number 3 continuous recording"])
        service.stop()
        #expect(rig.log == ["end door 1 gatewayStopped"])
    }

    @Test("A connection whose time is over goes, also over a restart, and its recording ends")
    func expiry() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        service.setEndpoints([1])
        service.describe("door", Fixture.streams)
        let made = try await service.change("door") { table, camera, now throws(TransportFault) in
            var options = Fixture.options(.continuous)
            options.expiryTime = 5
            return try table.allocate(options, for: "phone", of: camera, at: now)
        }
        try await service.change("door") { table, _, _ throws(TransportFault) in
            try table.setStatus(made.id, .active, for: "phone")
        }
        #expect(rig.log.contains("begin door 2 number 1 continuous recording"))
        #expect(service.usesEndpoint(1))
        rig.pass(4)
        #expect(service.table(of: "door")?.connections.count == 2)
        rig.pass(1)
        #expect(service.table(of: "door")?.connections.map(\.id) == [1])
        #expect(rig.log.contains("end door 2 removed"))
        #expect(rig.load()["door"]?.connections.count == 1)
        #expect(!service.usesEndpoint(1))
    }

    @Test("Other options cut what is always recorded, and wait for the next recording otherwise")
    func optionsOfARunningRecording() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .continuous), "yard": OwnConnection()])
        service.take(.motion("e1"), of: "yard")
        service.settle()
        _ = rig.log
        for device in ["door", "yard"] {
            for length in [2_000, 2_000] as [UInt16] {
                try await service.change(device) { table, _, _ in
                    table.connections[0].options.containerOptions.cmafContainerOptions?.segmentDuration = length
                }
            }
            try await service.change(device) { table, _, _ in
                table.connections[0].options.triggerOptions.motionSensitivity = .some(3)
            }
        }
        #expect(rig.log == ["end door 1 cut", "begin door 1 number 2 continuous recording"])
    }

    @Test("A measured interval is kept, and a camera that describes itself again keeps it")
    func keyFrameInterval() throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        var streams = Fixture.streams
        streams.video[0].keyFrameInterval = nil
        service.describe("door", streams)
        service.recordKeyFrameInterval(2_000, of: 1, of: "door")
        service.recordKeyFrameInterval(2_000, of: 9, of: "door")
        service.describe("door", streams)
        service.settle()
        #expect(rig.load()["door"]?.streams.video.map(\.keyFrameInterval) == [2_000, nil])
        streams.video[0].codec = "H265"
        service.describe("door", streams)
        service.settle()
        #expect(service.table(of: "door")?.streams.video[0].keyFrameInterval == nil)
    }

    @Test("A manual trigger takes the durations of its command")
    func manualTrigger() async throws {
        let rig = TransportServiceRig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .command)])
        let trigger = RecordingTrigger(kind: .command, reason: .emergency, words: "command")
        await #expect(throws: TransportFault.noDurations(1)) {
            try await service.trigger(1, of: "door", trigger, nil, for: "phone")
        }
        let time = TransportTimeControl(
            initialDuration: 3, augmentationDuration: 1, maxDuration: 3, blindDuration: 0)
        _ = rig.log
        try await service.trigger(1, of: "door", trigger, time, for: "phone")
        service.settle()
        #expect(rig.log == ["begin door 1 number 1 command"])
        rig.pass(3)
        #expect(rig.log == ["end door 1 lengthReached"])
        let silent = try TransportService()
        silent.setCameras(["door": OwnConnection()])
        await #expect(throws: TransportFault.nothingIsRecorded) {
            try await silent.trigger(1, of: "door", trigger, time, for: "phone")
        }
        #expect(silent.table(of: "door")?.isOn == true)
    }

    @Test("A recording is reported when it has begun, and one that comes to nothing is not")
    func reports() async throws {
        let rig = TransportServiceRig()
        rig.state.withLock { $0.delaysBegins = true }
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        func reports() -> [String] {
            service.settle()
            return rig.state.withLock { state in
                defer { state.changes = [] }
                return state.changes.compactMap { change in
                    switch change {
                    case .began(_, _, let trigger, let number): "\(trigger.events[0]) begins, \(number)"
                    case .ended(_, _, let number, let reason): "ends, \(number), \(reason)"
                    case .connections, .rightsEnded, .notKept, .kept: nil
                    }
                }
            }
        }
        func begin(_ index: Int) throws {
            let begins = rig.state.withLock { $0.begins }
            try #require(begins.indices.contains(index))
            begins[index]()
        }
        service.take(.motion("e1"), of: "door")
        #expect(reports() == [])
        try begin(0)
        try begin(0)
        #expect(reports() == ["e1 begins, 1"])
        rig.pass(10)
        #expect(reports() == ["ends, 1, lengthReached"])
        // The camera sends nothing.
        service.take(.motion("e2"), of: "door")
        service.settle()
        rig.pass(10)
        #expect(reports() == [])
        // The last pictures of a recording begin its session when it ends.
        service.take(.motion("e3"), of: "door")
        service.settle()
        rig.pass(10)
        #expect(reports() == [])
        try begin(2)
        #expect(reports() == ["e3 begins, 3", "ends, 3, lengthReached"])
        try begin(1)
        #expect(reports() == [])
    }
}
