import Foundation
import HomeFakes
import HomeTypes
import PushAvStreamTransport
import Stations
import Synchronization
import Testing
import Transport

@testable import HomeHub

/// Recording connections as clients of the home use them.
@Suite struct TransportTests {
    /// Remembers which outputs were permitted, and what was recorded.
    final class Outputs: RecordingDriving {
        let states = Locked<[Bool]>([])
        let policies = Locked<[OutputPolicy]>([])
        let orders = Locked<[String]>([])

        func begin(_ order: RecordingOrder, began: @escaping @Sendable () -> Void) {
            orders.withLock { $0.append("begin \(order.trigger.reason)") }
            began()
        }
        func add(_ trigger: RecordingSession.Trigger, to connection: UInt16, of device: String) {}
        func end(_ connection: UInt16, of device: String, reason: RecordingEnd.Reason) {
            orders.withLock { $0.append("end \(reason.rawValue)") }
        }
        func setPreRoll(_ preRoll: Duration?, of connection: UInt16, of device: String) {}
    }

    typealias Push = Google.PushAvStreamTransportTrait
    let outputs = Outputs()
    let camera = FakeCamera("door")

    func hub(_ storage: any ConnectionStorage = ForgetfulConnectionStorage()) async throws -> HomeHub {
        let service = try TransportService(storage: storage, recorder: self.outputs)
        let hub = HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services,
            transports: HomeTransports(service: service) { [outputs] _, permitted in
                outputs.states.withLock { $0.append(permitted.isOn) }
                outputs.policies.withLock { $0.append(permitted) }
            })
        await hub.setDevices([DeviceDescription(id: "door", name: "Door", kind: .doorbell)], drivers: [camera])
        return hub
    }

    @discardableResult
    func send(
        _ command: String, _ body: String, to hub: HomeHub, as principal: String = "phone", trait: String = Push.name
    ) async throws -> String {
        let call = CommandCall(
            deviceID: "door", trait: trait, command: command, caller: Caller(principal: principal))
        return String(decoding: try await hub.send(call, body: Data(body.utf8)), as: UTF8.self)
    }

    private func statuses(_ hub: HomeHub) async throws -> [Push.TransportStatusEnum] {
        try #require(try await hub.device("door").traits[Push.self]?.currentConnections).map(\.transportStatus)
    }

    private static let options = """
        {"streamUsage":"recording","videoStreamID":null,"tlsEndpointID":0,"url":"https://ingest.example/",\
        "triggerOptions":{"triggerType":"continuous"},"ingestMethod":"cmafIngest",\
        "containerOptions":{"containerType":"cmaf","cmafContainerOptions":\
        {"cmafInterface":"interface1","segmentDuration":4000,"chunkDuration":1000}}}
        """

    @Test func aCameraIsSwitchedOffAndOnAsAppsDoIt() async throws {
        let hub = try await self.hub()
        #expect(try await statuses(hub) == [.active])
        try await send("setTransportStatus", #"{"transportStatus":"inactive"}"#, to: hub)
        #expect(try await statuses(hub) == [.inactive])
        // The outputs were switched before the command was answered.
        #expect(outputs.states.withLock { $0.last } == false)
        try await send("setTransportStatus", #"{"transportStatus":"active","connectionID":null}"#, to: hub)
        #expect(outputs.states.withLock { $0.last } == true)
        #expect(try await statuses(hub) == [.active])
    }

    @Test func manySwitchesAtOnceEndAsTheConnectionsSay() async throws {
        let hub = try await self.hub()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    let status = index.isMultiple(of: 2) ? "active" : "inactive"
                    _ = try? await send("setTransportStatus", #"{"transportStatus":"\#(status)"}"#, to: hub)
                }
            }
        }
        let isOn = try await statuses(hub) == [.active]
        #expect(outputs.states.withLock { $0.last ?? true } == isOn)
    }

    @Test("TC-PAVST-2.1: formats and connections can be read before a camera describes itself, and while it is off")
    func formatsAndConnections() async throws {
        let hub = try await self.hub()
        func check(_ status: Push.TransportStatusEnum) async throws {
            let trait = try #require(try await hub.trait(Push.name, of: "door", for: "phone") as? Push)
            #expect(trait.supportedFormats == [.init(containerFormat: .cmaf, ingestMethod: .cmafIngest)])
            #expect(trait.featureMap == 0)
            let connections = try #require(trait.currentConnections)
            #expect(connections.map(\.connectionID) == [1])
            #expect(connections.map(\.transportStatus) == [status])
        }
        // A camera that has not described itself yet.
        try await check(.active)
        camera.send(FakeCamera.flowing)
        camera.finish()
        await hub.run()
        try await check(.active)
        try await send("setTransportStatus", #"{"transportStatus":"inactive"}"#, to: hub)
        try await check(.inactive)
    }

    @Test func optionsComeWithARequestOfOnesOwnAndNotWithChanges() async throws {
        let hub = try await self.hub()
        camera.send(FakeCamera.flowing)
        camera.finish()
        await hub.run()
        let made = try await send(
            "allocatePushTransport", #"{"transportOptions":\#(Self.options)}"#, to: hub)
        #expect(made.contains(#""videoStreams":[{"videoStreamID":1,"videoStreamName":"video"}]"#))
        let device = try await hub.device("door")
        #expect(device.traits[Push.self]?.currentConnections?.count == 2)
        #expect(device.traits[Push.self]?.currentConnections?.allSatisfy { $0.transportOptions == nil } == true)
        func options(_ principal: String) async throws -> [Bool] {
            let trait = try await hub.trait(Push.name, of: "door", for: principal)
            return try #require((trait as? Push)?.currentConnections).map { $0.transportOptions != nil }
        }
        #expect(try await options("phone") == [true, true])
        #expect(try await options("tablet") == [true, false])
        #expect(try await send("findTransport", "{}", to: hub).contains("ingest.example"))
        #expect(try await !send("findTransport", "{}", to: hub, as: "tablet").contains("ingest.example"))
        let streams = device.traits[Google.CameraAvStreamManagementTrait.self]
        #expect(streams?.allocatedVideoStreams?.map(\.referenceCount) == [2])
        #expect(streams?.allocatedAudioStreams?.map(\.referenceCount) == [1])
        try await send("deallocatePushTransport", #"{"connectionID":2}"#, to: hub)
        #expect(try await statuses(hub).count == 1)
    }

    @Test func refusalsCarryMattersStatuses() async throws {
        let hub = try await self.hub()
        func refusal(_ command: String, _ body: String) async -> HomeError? {
            do { try await send(command, body, to: hub) } catch { return error as? HomeError }
            return nil
        }
        func expect(
            _ error: HomeError?, _ code: HomeError.Code, _ matter: HomeError.MatterError,
            location: SourceLocation = #_sourceLocation
        ) {
            #expect(error?.code == code, sourceLocation: location)
            #expect(error?.subtype == .matter(matter), "\(String(describing: error))", sourceLocation: location)
        }
        let status = "setTransportStatus"
        expect(await refusal(status, #"{"transportStatus":"asleep"}"#), .invalidArgument, .init(code: 0x87))
        expect(await refusal(status, #"{"transportStatus":7}"#), .invalidArgument, .init(code: 0x87))
        expect(await refusal(status, "{}"), .invalidArgument, .init(code: 0x85))
        expect(
            await refusal(status, #"{"transportStatus":"active","connectionID":9}"#), .notFound, .init(code: 0x8B))
        expect(
            await refusal(status, #"{"transportStatus":"active","connectionID":65536}"#), .invalidArgument,
            .init(code: 0x87))
        expect(
            await refusal(status, #"{"transportStatus":"active","connectionID":"1"}"#), .invalidArgument,
            .init(code: 0x8D))
        expect(
            await refusal("deallocatePushTransport", #"{"connectionID":1}"#), .failedPrecondition, .init(code: 0xCB))
        let http = Self.options.replacingOccurrences(of: "https:", with: "http:")
        expect(
            await refusal("allocatePushTransport", #"{"transportOptions":\#(http)}"#), .invalidArgument,
            .init(code: 1, clusterCode: 4))
        expect(
            await refusal("allocatePushTransport", #"{"transportOptions":\#(Self.options)}"#), .failedPrecondition,
            .init(code: 0xCB))
        #expect(try await statuses(hub) == [.active])
    }

    @Test func connectionsSurviveARestart() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/shared-\(UUID().uuidString).sqlite"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        do {
            let hub = try await self.hub(SharedConnectionStorage(try SQLiteSharedStore(path: path)))
            try await send("setTransportStatus", #"{"transportStatus":"inactive"}"#, to: hub)
            try await send(
                "modifyPushTransport",
                #"{"connectionID":1,"transportOptions":{"triggerOptions":{"motionSensitivity":1}}}"#, to: hub)
        }
        let store = try SQLiteSharedStore(path: path)
        let hub = try await self.hub(SharedConnectionStorage(store))
        #expect(try await statuses(hub) == [.inactive])
        let found = try await send("findTransport", "{}", to: hub)
        #expect(found.contains(#""motionSensitivity":1"#))
        // What cannot be read leaves the camera off.
        let object = try #require(try store.object(SharedConnectionStorage.kind, "door"))
        _ = try store.write(
            SharedConnectionStorage.kind, "door", #"{"version":9}"#, expecting: object.version)
        #expect(try await statuses(self.hub(SharedConnectionStorage(store))) == [.inactive])
    }

    @Test func epochsRiseWithEachStartAndAfterDamage() throws {
        let path = FileManager.default.temporaryDirectory.path + "/shared-\(UUID().uuidString).sqlite"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        for epoch in 1...3 as ClosedRange<UInt64> {
            #expect(try RecordingTenure.begin(in: SQLiteSharedStore(path: path)) == epoch)
        }
        let store = try SQLiteSharedStore(path: path)
        let object = try #require(try store.object(RecordingTenure.kind, RecordingTenure.id))
        _ = try store.write(RecordingTenure.kind, RecordingTenure.id, "damaged", expecting: object.version)
        #expect(try RecordingTenure.begin(in: store) > 3)
        #expect(try RecordingTenure.begin(in: store) > 4)
    }

    @Test func aPressAndMotionAreTriggersAndTheirRecordingsAreEvents() async throws {
        let hub = try await self.hub()
        camera.send(.doorbellPressed(.init()))
        camera.send(.detection(DetectionEvent(kind: .sound, phase: .momentary, eventSessionId: "s")))
        camera.finish()
        await hub.run()
        try await send("setTransportStatus", #"{"transportStatus":"inactive"}"#, to: hub)
        #expect(outputs.orders.withLock { $0 } == ["begin press of the button", "end inactive"])
        // The events follow on their own way.
        var names: [String] = []
        for _ in 0..<1_000_000 where names.count < 4 {
            names = try await hub.events(of: "door").map(\.event).reversed()
            await Task.yield()
        }
        #expect(names.contains("PushTransportBegin"))
        #expect(names.last == "PushTransportEnd")
    }

    @Test func changesCarryNumbersAndStatusesOnly() async throws {
        let hub = try await self.hub()
        self.camera.send(FakeCamera.flowing)
        self.camera.finish()
        await hub.run()
        try await send("allocatePushTransport", #"{"transportOptions":\#(Self.options)}"#, to: hub)
        var events = try await hub.changes(principal: "phone").makeAsyncIterator()
        // The present state of the one structure, and of the one device, which is the same kind of event.
        _ = await events.next()
        let state = try #require(await events.next())
        try await send("setTransportStatus", #"{"transportStatus":"inactive"}"#, to: hub)
        var change = try #require(await events.next())
        while change.name != "device" { change = try #require(await events.next()) }
        for (event, status) in [(state, "active"), (change, "inactive")] {
            #expect(event.name == "device")
            let device = try JSONSerialization.jsonObject(with: Data(event.data.utf8)) as? [String: Any]
            let endpoints = try #require(device?["endpoints"] as? [[String: Any]])
            let camera = try #require(endpoints.first { $0["id"] as? Int == 1 })
            let traits = try #require(camera["traits"] as? [String: Any])
            let push = try #require(traits["PushAvStreamTransport"] as? [String: Any])
            let connections = try #require(push["currentConnections"] as? [[String: Any]])
            #expect(
                connections.map { Set($0.keys) } == [
                    ["connectionID", "transportStatus"], ["connectionID", "transportStatus"],
                ])
            #expect(connections.first?["transportStatus"] as? String == status)
            #expect(!event.data.contains("ingest.example"))
        }
    }

    @Test func theCamerasOwnSwitchRefusesEverythingAndIsKept() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/shared-\(UUID().uuidString).sqlite"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let name = Google.CameraAvStreamManagementTrait.name
        func isOn(_ hub: HomeHub) async throws -> Bool? {
            try await hub.device("door").traits[Google.CameraAvStreamManagementTrait.self]?.hardPrivacyModeOn
        }
        do {
            let hub = try await self.hub(SharedConnectionStorage(try SQLiteSharedStore(path: path)))
            #expect(try await isOn(hub) == false)
            #expect(try await hub.setPrivacySwitch(true, of: "door"))
            #expect(try await !hub.setPrivacySwitch(true, of: "door"))
            #expect(outputs.policies.withLock { $0.last }?.hardPrivacy == true)
        }
        let hub = try await self.hub(SharedConnectionStorage(try SQLiteSharedStore(path: path)))
        #expect(try await isOn(hub) == true)
        await #expect(throws: HomeError.self) {
            try await send("setTransportStatus", #"{"transportStatus":"active"}"#, to: hub)
        }
        // An app cannot lift it, alone or together with a switch of its own.
        for body in [
            #"{"hardPrivacyModeOn":false}"#, #"{"softRecordingPrivacyModeEnabled":true,"hardPrivacyModeOn":true}"#,
            #"{"streamUsagePriorities":[]}"#,
        ] {
            let refusal = await #expect(throws: HomeError.self, "\(body)") {
                _ = try await hub.update(name, of: "door", body: Data(body.utf8), by: Caller(principal: "phone"))
            }
            #expect(refusal?.code == .invalidArgument)
            #expect(refusal?.subtype == .matter(.init(code: 0x88)))
        }
        // Nor can it set what the camera does not have.
        let missing = await #expect(throws: HomeError.self) {
            let body = Data(#"{"softRecordingPrivacyModeEnabled":true,"nightVision":"on"}"#.utf8)
            _ = try await hub.update(name, of: "door", body: body, by: Caller(principal: "phone"))
        }
        #expect(missing?.message == "this camera does not have nightVision; nothing was changed")
        #expect(missing?.subtype == .matter(.init(code: 0x86)))
        #expect(try await isOn(hub) == true)
        let traits = try await hub.device("door").traits[Google.CameraAvStreamManagementTrait.self]
        #expect(traits?.softRecordingPrivacyModeEnabled == false)
        #expect(try await hub.setPrivacySwitch(false, of: "door"))
        #expect(outputs.policies.withLock { $0.last }?.hardPrivacy == false)
        try await send("setTransportStatus", #"{"transportStatus":"active"}"#, to: hub)
        await #expect(throws: HomeError.self) { _ = try await hub.setPrivacySwitch(true, of: "attic") }
    }

    @Test func `the microphone is muted, in all that leaves or in recordings, and stays so`() async throws {
        let folder = TestFolder()
        let path = folder.path + "/shared.sqlite"
        let name = Google.CameraAvStreamManagementTrait.name
        func streams(_ hub: HomeHub) async throws -> Google.CameraAvStreamManagementTrait? {
            try await hub.trait(name, of: "door") as? Google.CameraAvStreamManagementTrait
        }
        func write(_ body: String, _ hub: HomeHub) async throws {
            _ = try await hub.update(name, of: "door", body: Data(body.utf8), by: Caller(principal: "phone"))
        }
        do {
            let hub = try await self.hub(SharedConnectionStorage(try SQLiteSharedStore(path: path)))
            // A camera of which no sound is known has no microphone to mute.
            #expect(try await streams(hub)?.microphoneMuted == nil)
            await hub.apply(FakeCamera.flowing, deviceID: "door")
            for _ in 0..<1_000_000 {
                if try await streams(hub)?.microphoneMuted != nil { break }
                await Task.yield()
            }
            #expect(try await streams(hub)?.microphoneMuted == false)
            try await write(#"{"recordingMicrophoneMuted":true}"#, hub)
            var policy = try #require(outputs.policies.withLock { $0.last })
            #expect(policy.mutesRecordings && !policy.mutesSound && policy.refusal(of: .recording) == nil)
            try await write(#"{"microphoneMuted":true,"recordingMicrophoneMuted":false}"#, hub)
            policy = try #require(outputs.policies.withLock { $0.last })
            #expect(!policy.mutesRecordings && policy.mutesSound && !policy.recordsSound)
        }
        let hub = try await self.hub(SharedConnectionStorage(try SQLiteSharedStore(path: path)))
        #expect(try await streams(hub)?.microphoneMuted == true)
        #expect(try await streams(hub)?.recordingMicrophoneMuted == false)
    }

    @Test func `the camera's own settings are written to the camera, and its refusal changes nothing`() async throws {
        let hub = try await self.hub()
        let name = Google.CameraAvStreamManagementTrait.name
        func streams() async throws -> Google.CameraAvStreamManagementTrait {
            try #require(try await hub.trait(name, of: "door") as? Google.CameraAvStreamManagementTrait)
        }
        func write(_ body: String) async throws {
            _ = try await hub.update(name, of: "door", body: Data(body.utf8), by: Caller(principal: "phone"))
        }
        // Nothing is known before the camera has answered.
        #expect(try await !streams().attributes.$nightVision.isSupported)
        camera.settings.withLock { $0 = .init(nightVision: .auto, speakerVolumeLevel: 5, imageRotation: 0) }
        await hub.apply(
            .settings(.init(nightVision: .auto, speakerVolumeLevel: 5, imageRotation: 0)), deviceID: "door")
        #expect(try await streams().nightVision == .auto)
        #expect(try await !streams().attributes.$hdrModeEnabled.isSupported)
        try await write(#"{"nightVision":"off","softRecordingPrivacyModeEnabled":true}"#)
        var now = try await streams()
        #expect(now.nightVision == .off && now.imageRotation == 0 && now.softRecordingPrivacyModeEnabled == true)
        #expect(now.hardPrivacyModeOn == false)
        try await write(#"{"speakerVolumeLevel":9}"#)
        #expect(try await streams().speakerVolumeLevel == 9)
        // What the connections report later leaves them as they are.
        await hub.apply(FakeCamera.flowing, deviceID: "door")
        for _ in 0..<1_000_000 {
            if try await streams().microphoneMuted != nil { break }
            await Task.yield()
        }
        #expect(try await streams().microphoneMuted != nil)
        #expect(try await streams().nightVision == .off)

        camera.refusal.withLock { $0 = HomeError.failedPrecondition("not now") }
        let refused = await #expect(throws: HomeError.self) {
            try await write(#"{"imageRotation":180,"softRecordingPrivacyModeEnabled":false}"#)
        }
        #expect(refused?.code == .failedPrecondition)
        now = try await streams()
        #expect(now.imageRotation == 0 && now.softRecordingPrivacyModeEnabled == true)
        // A switch of the gateway does not need the camera.
        try await write(#"{"softRecordingPrivacyModeEnabled":false}"#)
        for body in [#"{"imageRotation":360}"#, #"{"nightVision":"dusk"}"#, #"{"hdrModeEnabled":true}"#] {
            let invalid = await #expect(throws: HomeError.self, "\(body)") { try await write(body) }
            #expect(invalid?.code == .invalidArgument, "\(body)")
        }
        // A setting that the camera has lost is no longer there.
        await hub.apply(.settings(.init(nightVision: .on)), deviceID: "door")
        #expect(try await !streams().attributes.$imageRotation.isSupported)
    }

    @Test func `the switches of an earlier version of the gateway are read`() throws {
        let kept = #"{"softRecording":true,"softLivestream":false,"hard":false}"#
        let switches = try JSONDecoder().decode(PrivacySwitches.self, from: Data(kept.utf8))
        #expect(switches.softRecording && !switches.microphoneMuted && !switches.recordingMicrophoneMuted)
    }

    @Test func privacyIsWrittenAndRefuses() async throws {
        let hub = try await self.hub()
        let name = Google.CameraAvStreamManagementTrait.name
        let caller = Caller(principal: "phone")
        let written = try await hub.update(
            name, of: "door", body: Data(#"{"softRecordingPrivacyModeEnabled":true}"#.utf8), by: caller)
        #expect((written as? Google.CameraAvStreamManagementTrait)?.softRecordingPrivacyModeEnabled == true)
        await #expect(throws: HomeError.self) {
            try await send("setTransportStatus", #"{"transportStatus":"active"}"#, to: hub)
        }
        for body in [#"{"softRecordingPrivacyModeEnabled":"yes"}"#, "[]"] {
            await #expect(throws: HomeError.self) {
                _ = try await hub.update(name, of: "door", body: Data(body.utf8), by: caller)
            }
        }
        await #expect(throws: HomeError.self) {
            _ = try await hub.update(Push.name, of: "door", body: Data("{}".utf8), by: caller)
        }
        try await send(
            "setStreamPriorities", #"{"streamPriorities":["liveView"]}"#, to: hub, trait: name)
        let trait = try await hub.trait(name, of: "door", for: "phone") as? Google.CameraAvStreamManagementTrait
        #expect(trait?.streamUsagePriorities == [.liveView])
    }
}
