import HomeTypes
import Testing
import Transport

@testable import PushAvStreamTransport

/// The service with clocks that a test sets, a recorder that only remembers, and a storage that can fail.
@Suite("The recording connections of all cameras")
struct TransportServiceTests {
    final class Rig: ConnectionStorage, RecordingDriving {
        struct State {
            var kept: [String: ConnectionTable] = [:]
            var fails = false
            var log: [String] = []
            var changes: [TransportChange] = []
            var now = Instant.zero + .seconds(1_000)
            var wall = Fixture.now
            var timers: [(at: Instant, body: @Sendable () -> Void)] = []
            /// Whether recordings begin only when the test says so.
            var delaysBegins = false
            var begins: [@Sendable () -> Void] = []
            var saves = 0
        }

        let state = Locked(State())

        func load() -> [String: ConnectionTable] { self.state.withLock { $0.kept } }

        func save(_ table: ConnectionTable, of device: String) throws(RecordingFault) {
            self.state.withLock { $0.saves += 1 }
            guard !self.state.withLock({ $0.fails }) else { throw .storage(path: "shared.sqlite", reason: "full") }
            self.state.withLock { $0.kept[device] = table }
        }

        func remove(_ device: String) { self.state.withLock { $0.kept[device] = nil } }

        private func note(_ text: String) { self.state.withLock { $0.log.append(text) } }

        func begin(_ order: RecordingOrder, began: @escaping @Sendable () -> Void) {
            self.note("begin \(order.device) \(order.connection.id) number \(order.number) \(order.trigger.reason)")
            let delays = self.state.withLock { state in
                if state.delaysBegins { state.begins.append(began) }
                return state.delaysBegins
            }
            if !delays { began() }
        }

        func add(_ trigger: RecordingSession.Trigger, to connection: UInt16, of device: String) {
            self.note("add \(device) \(connection)")
        }

        func end(_ connection: UInt16, of device: String, reason: RecordingEnd.Reason) {
            self.note("end \(device) \(connection) \(reason)")
        }

        func setPreRoll(_ preRoll: Duration?, of connection: UInt16, of device: String) {
            self.note("pre-roll \(device) \(connection) \(preRoll.map { "\($0.components.seconds)" } ?? "none")")
        }

        /// What was noted since the last call.
        var log: [String] {
            self.state.withLock { state in
                defer { state.log = [] }
                return state.log
            }
        }

        func service() throws -> TransportService {
            var clocks = TransportService.Clocks()
            clocks.now = { self.state.withLock { $0.now } }
            clocks.wall = { self.state.withLock { $0.wall } }
            clocks.after = { _, time, body in
                self.state.withLock { $0.timers.append(($0.now + time, body)) }
            }
            let service = try TransportService(storage: self, recorder: self, clocks: clocks)
            service.observe { change in self.state.withLock { $0.changes.append(change) } }
            return service
        }

        /// Lets time pass, and calls what was set for it.
        func pass(_ seconds: Int) {
            for _ in 0..<seconds {
                let due = self.state.withLock { state in
                    state.now = state.now + .seconds(1)
                    state.wall += 1_000
                    let due = state.timers.filter { $0.at <= state.now }
                    state.timers.removeAll { $0.at <= state.now }
                    return due
                }
                for timer in due { timer.body() }
            }
        }
    }

    private func motion(_ event: String) -> TriggerMachine.Input {
        .motion(MotionSignal(), RecordingTrigger(kind: .motion, words: "motion", events: [event]))
    }

    /// Returns when what was handed to the service's queue has been done.
    private func settle(_ service: TransportService) { service.setEndpoints([1]) }

    @Test("A new camera has its own connection, which is kept, and motion begins recordings")
    func ownConnection() async throws {
        let rig = Rig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        #expect(service.table(of: "door")?.isOn == true)
        #expect(rig.load()["door"]?.connections.map(\.id) == [1])
        #expect(rig.log == ["pre-roll door 1 4"])
        service.take(self.motion("e1"), of: "door")
        service.take(self.motion("e2"), of: "door")
        self.settle(service)
        #expect(rig.log == ["begin door 1 number 1 motion", "add door 1"])
        rig.pass(19)
        #expect(rig.log.isEmpty)
        rig.pass(1)
        #expect(rig.log == ["end door 1 lengthReached"])
        service.take(self.motion("e3"), of: "attic")
        self.settle(service)
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

    @Test("A session that follows a cut one has its own number, even after a restart")
    func numbersOfCutSessions() throws {
        let rig = Rig()
        var service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .continuous)])
        #expect(rig.log == ["begin door 1 number 1 continuous recording"])
        #expect(service.nextSessionNumber(on: 1, of: "door") == 2)
        #expect(service.nextSessionNumber(on: 1, of: "door") == 3)
        #expect(service.nextSessionNumber(on: 1, of: "attic") == nil)
        service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .continuous)])
        #expect(rig.log == ["begin door 1 number 4 continuous recording"])
    }

    @Test("Off ends the recording, survives a restart, and on goes on")
    func offAndRestart() async throws {
        let rig = Rig()
        var service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .continuous)])
        #expect(rig.log == ["begin door 1 number 1 continuous recording"])
        try await service.change("door") { table, _, _ in try table.setStatus(nil, .inactive, for: "phone") }
        #expect(rig.log == ["end door 1 inactive"])
        // As after kill -9: nothing was said to the service.
        service = try rig.service()
        #expect(service.table(of: "door") == nil)
        service.setCameras(["door": OwnConnection(trigger: .continuous)])
        #expect(service.table(of: "door")?.isOn == false)
        #expect(rig.log.isEmpty)
        try await service.change("door") { table, _, _ in try table.setStatus(1, .active, for: "phone") }
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
        let rig = Rig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        service.setEndpoints([1])
        service.describe("door", Fixture.streams)
        let made = try await service.change("door") { table, camera, now in
            var options = Fixture.options(.continuous)
            options.expiryTime = 5
            return try table.allocate(options, for: "phone", of: camera, at: now)
        }
        try await service.change("door") { table, _, _ in try table.setStatus(made.id, .active, for: "phone") }
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

    @Test("A change that the disk does not take changes nothing")
    func fullDisk() async throws {
        let rig = Rig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        let before = service.table(of: "door")
        rig.state.withLock { $0.fails = true }
        await #expect(throws: TransportFault.self) {
            try await service.change("door") { table, _, _ in try table.setStatus(nil, .inactive, for: "phone") }
        }
        #expect(service.table(of: "door") == before)
        await #expect(throws: TransportFault.self) {
            try await service.change("attic") { table, _, _ in try table.setStatus(nil, .inactive, for: "phone") }
        }
    }

    @Test("A camera that is removed ends its recordings, and comes back as it was, also after a restart")
    func removal() async throws {
        let rig = Rig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .continuous), "yard": OwnConnection()])
        try await service.change("door") { table, _, _ in
            table.setPrivacy(softLivestream: true)
            try table.setStatus(nil, .inactive, for: "phone")
        }
        try await service.change("yard") { table, _, _ in try table.setStatus(nil, .inactive, for: "phone") }
        try await service.change("door") { table, _, _ in try table.setStatus(nil, .active, for: "phone") }
        _ = rig.log
        service.setCameras([:])
        #expect(rig.log == ["end door 1 removed", "pre-roll door 1 none", "pre-roll yard 1 none"])
        #expect(service.table(of: "door") == nil)
        await #expect(throws: TransportFault.self) {
            try await service.change("yard") { table, _, _ in try table.setStatus(nil, .active, for: "phone") }
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
        let rig = Rig()
        let service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection()])
        service.describe("door", Fixture.streams)
        try await service.change("door") { table, camera, now in
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

    @Test("Of many cameras that are away, those that left first are forgotten")
    func manyRemovals() throws {
        let rig = Rig()
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

    @Test("Other options cut what is always recorded, and wait for the next recording otherwise")
    func optionsOfARunningRecording() async throws {
        let rig = Rig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .continuous), "yard": OwnConnection()])
        service.take(self.motion("e1"), of: "yard")
        self.settle(service)
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
        let rig = Rig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        var streams = Fixture.streams
        streams.video[0].keyFrameInterval = nil
        service.describe("door", streams)
        service.noteKeyFrameInterval(2_000, of: 1, of: "door")
        service.noteKeyFrameInterval(2_000, of: 9, of: "door")
        service.describe("door", streams)
        self.settle(service)
        #expect(rig.load()["door"]?.streams.video.map(\.keyFrameInterval) == [2_000, nil])
        streams.video[0].codec = "H265"
        service.describe("door", streams)
        self.settle(service)
        #expect(service.table(of: "door")?.streams.video[0].keyFrameInterval == nil)
    }

    @Test("A manual trigger takes the durations of its command")
    func manualTrigger() async throws {
        let rig = Rig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection(trigger: .command)])
        let trigger = RecordingTrigger(kind: .command, reason: .emergency, words: "command")
        await #expect(throws: TransportFault.self) {
            try await service.trigger(1, of: "door", trigger, nil, for: "phone")
        }
        let time = TransportTimeControl(
            initialDuration: 3, augmentationDuration: 1, maxDuration: 3, blindDuration: 0)
        _ = rig.log
        try await service.trigger(1, of: "door", trigger, time, for: "phone")
        self.settle(service)
        #expect(rig.log == ["begin door 1 number 1 command"])
        rig.pass(3)
        #expect(rig.log == ["end door 1 lengthReached"])
        let silent = try TransportService()
        silent.setCameras(["door": OwnConnection()])
        await #expect(throws: TransportFault.self) {
            try await silent.trigger(1, of: "door", trigger, time, for: "phone")
        }
        #expect(silent.table(of: "door")?.isOn == true)
    }

    // MARK: A disk that takes nothing

    /// What the disk is about among the reports.
    private func storageReports(_ rig: Rig) -> [String] {
        rig.state.withLock { $0.changes }.compactMap { change in
            switch change {
            case .notKept(let device, _): "\(device) not kept"
            case .kept(let device): "\(device) kept"
            case .connections, .began, .ended: nil
            }
        }
    }

    @Test("A connection whose time is over goes even if the disk takes nothing, and the disk gets it later")
    func expiryOnAFullDisk() async throws {
        let rig = Rig()
        let service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection(trigger: .command)])
        service.describe("door", Fixture.streams)
        let made = try await service.change("door") { table, camera, now in
            var options = Fixture.options(.continuous)
            options.expiryTime = 5
            return try table.allocate(options, for: "phone", of: camera, at: now)
        }
        try await service.change("door") { table, _, _ in try table.setStatus(made.id, .active, for: "phone") }
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
        #expect(self.storageReports(rig) == ["door not kept"])
        rig.state.withLock { $0.fails = false }
        rig.pass(60)
        #expect(rig.load()["door"]?.connections.map(\.id) == [1])
        #expect(self.storageReports(rig) == ["door not kept", "door kept"])
        let all = rig.state.withLock { $0.saves }
        rig.pass(300)
        #expect(rig.state.withLock { $0.saves } == all)
    }

    @Test("A command that the disk does not take changes nothing, and the alarm about it ends")
    func refusedCommand() async throws {
        let rig = Rig()
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        rig.state.withLock { $0.fails = true }
        for _ in 0..<3 {
            await #expect(throws: TransportFault.self) {
                try await service.change("door") { table, _, _ in try table.setStatus(nil, .inactive, for: "phone") }
            }
        }
        #expect(self.storageReports(rig) == ["door not kept"])
        rig.state.withLock { $0.fails = false }
        rig.pass(5)
        #expect(self.storageReports(rig) == ["door not kept", "door kept"])
        #expect(rig.load()["door"]?.isOn == true)
    }

    @Test("A camera that comes back while the disk takes nothing is there as a whole")
    func returnOnAFullDisk() async throws {
        let rig = Rig()
        let service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection()])
        service.describe("door", Fixture.streams)
        try await service.change("door") { table, camera, now in
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

    // MARK: Cameras that leave, and endpoints

    @Test("A camera that left while the gateway was stopped keeps no endpoint")
    func leftWhileStopped() async throws {
        let rig = Rig()
        var service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection(), "yard": OwnConnection()])
        service.describe("door", Fixture.streams)
        try await service.change("door") { table, camera, now in
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
        let rig = Rig()
        let service = try rig.service()
        service.setEndpoints([1, 2])
        service.setCameras(["door": OwnConnection()])
        service.describe("door", Fixture.streams)
        @Sendable func allocate() async throws(TransportFault) {
            try await service.change("door") { table, camera, now in
                _ = try table.allocate(Fixture.options(), for: "phone", of: camera, at: now)
            }
        }
        #expect(service.giveUp(1))
        await #expect(throws: TransportFault.self) { try await allocate() }
        // Another endpoint was made meanwhile.
        service.setEndpoints([1, 2, 3])
        await #expect(throws: TransportFault.self) { try await allocate() }
        service.takeBack(1)
        try await allocate()
        #expect(!service.giveUp(1))
        #expect(service.giveUp(2))
    }

    // MARK: Numbers

    /// A camera with two connections of one principal, which are active.
    private func service(
        _ rig: Rig, _ first: TransportOptions, _ second: TransportOptions
    ) async throws -> TransportService {
        let service = try rig.service()
        service.setEndpoints([1])
        service.setCameras(["door": OwnConnection(trigger: .command)])
        service.describe("door", Fixture.streams)
        for (options, id) in [(first, UInt16(2)), (second, UInt16(3))] {
            try await service.change("door") { table, camera, now in
                _ = try table.allocate(options, for: Fixture.me, of: camera, at: now)
                try table.setStatus(id, .active, for: Fixture.me)
            }
        }
        return service
    }

    private static func options(
        _ type: TransportTriggerType, _ picture: String, at url: String = "https://ingest.example/in/",
        _ interface: Google.PushAvStreamTransportTrait.CMAFInterfaceEnum = .interface1
    ) -> TransportOptions {
        var options = Fixture.options(type)
        (options.videoStreamID, options.audioStreamID) = (nil, nil)
        options.videoStreams = [.init(videoStreamName: picture, videoStreamID: 1)]
        options.url = url
        options.containerOptions.cmafContainerOptions?.cmafInterface = interface
        if type == .motion { options.triggerOptions.motionTimeControl?.blindDuration = 0 }
        return options
    }

    @Test("A connection that has used a number beside another one takes a new one for its next recording")
    func numbersBesideAContinuousRecording() async throws {
        let rig = Rig()
        let service = try await self.service(
            rig, Self.options(.continuous, "all"), Self.options(.motion, "event"))
        for _ in 0..<3 {
            service.take(self.motion("e"), of: "door")
            self.settle(service)
            rig.pass(40)
        }
        let log = rig.log.filter { $0.hasPrefix("begin") }
        #expect(
            log == [
                "begin door 2 number 1 continuous recording", "begin door 3 number 1 motion",
                "begin door 3 number 2 motion", "begin door 3 number 3 motion",
            ])
        #expect(service.nextSessionNumber(on: 2, of: "door") == 4)
    }

    private static let shared: [(first: TransportOptions, second: TransportOptions, isShared: Bool)] = [
        (options(.continuous, "a"), options(.continuous, "b"), true),
        (options(.continuous, "a"), options(.continuous, "a"), false),
        (options(.continuous, "a"), options(.continuous, "A"), false),
        (options(.continuous, "a"), options(.continuous, "a", at: "https://ingest.example/other/"), true),
        (options(.continuous, "a"), options(.continuous, "a", at: "https://INGEST.example/in/"), false),
        // A manifest is at one place for all tracks.
        (
            options(.continuous, "a", at: "https://ingest.example/in/", .interface2DASH),
            options(.continuous, "b", at: "https://ingest.example/in/", .interface2DASH), false
        ),
    ]

    @Test("Connections share a number unless their objects would have the same address", arguments: shared.indices)
    func sharedNumbers(_ index: Int) async throws {
        let (first, second, isShared) = Self.shared[index]
        let rig = Rig()
        _ = try await self.service(rig, first, second)
        let log = rig.log.filter { $0.hasPrefix("begin") }
        #expect(
            log == [
                "begin door 2 number 1 continuous recording",
                "begin door 3 number \(isShared ? 1 : 2) continuous recording",
            ])
    }

    // MARK: Reports

    @Test("A recording is reported when it has begun, and one that comes to nothing is not")
    func reports() async throws {
        let rig = Rig()
        rig.state.withLock { $0.delaysBegins = true }
        let service = try rig.service()
        service.setCameras(["door": OwnConnection()])
        func reports() -> [String] {
            self.settle(service)
            return rig.state.withLock { state in
                defer { state.changes = [] }
                return state.changes.compactMap { change in
                    switch change {
                    case .began(_, _, let trigger, let number): "\(trigger.events[0]) begins, \(number)"
                    case .ended(_, _, let number, let reason): "ends, \(number), \(reason)"
                    case .connections, .notKept, .kept: nil
                    }
                }
            }
        }
        func begin(_ index: Int) throws {
            let begins = rig.state.withLock { $0.begins }
            try #require(begins.indices.contains(index))
            begins[index]()
        }
        service.take(self.motion("e1"), of: "door")
        #expect(reports() == [])
        try begin(0)
        try begin(0)
        #expect(reports() == ["e1 begins, 1"])
        rig.pass(10)
        #expect(reports() == ["ends, 1, lengthReached"])
        // The camera sends nothing.
        service.take(self.motion("e2"), of: "door")
        self.settle(service)
        rig.pass(10)
        #expect(reports() == [])
        // The last pictures of a recording begin its session when it ends.
        service.take(self.motion("e3"), of: "door")
        self.settle(service)
        rig.pass(10)
        #expect(reports() == [])
        try begin(2)
        #expect(reports() == ["e3 begins, 3", "ends, 3, lengthReached"])
        try begin(1)
        #expect(reports() == [])
    }
}
