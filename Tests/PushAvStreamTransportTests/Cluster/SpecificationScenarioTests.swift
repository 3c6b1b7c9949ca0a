import HomeTypes
import Testing
import Transport

@testable import PushAvStreamTransport

/// The specification's own tests of what a connection does in time, TC-PAVST 2.6, 2.7, 2.9, 2.12 and 2.13: commands, triggers
/// and events of the whole service, second by second in virtual time.
@Suite("A connection's life, as the specification tests it")
struct SpecificationScenarioTests {
    /// A camera with a connection of this principal, number 2, and one of another, number 3. Both are inactive.
    private final class Scenario {
        let rig = TransportServiceRig()
        let service: TransportService
        private var second = 0
        private var changes = 0
        /// The events `PushTransportBegin` and `PushTransportEnd`, with the second of each.
        private(set) var events: [String] = []

        init(_ type: TransportTriggerType = .motion, _ time: TransportTimeControl = Fixture.time) async throws {
            service = try rig.service()
            service.setEndpoints([1])
            service.setCameras(["door": OwnConnection(trigger: .command)])
            service.describe("door", Fixture.streams)
            var options = Fixture.options(type)
            if type == .motion { options.triggerOptions.motionTimeControl = time }
            for principal in [Fixture.me, Fixture.other] {
                try await change { [options] table, camera, now throws(TransportFault) in
                    _ = try table.allocate(options, for: principal, of: camera, at: now)
                }
            }
        }

        /// Reads the events that the service has sent by now.
        private func look() {
            // When this returns, the service's queue has done what it was given.
            service.setEndpoints([1])
            let all = rig.state.withLock { $0.changes }
            for change in all[changes...] {
                switch change {
                case .began(_, let connection, let trigger, _):
                    let reason = trigger.reason.map { " (\($0))" } ?? ""
                    events.append("\(second): \(connection) begins by \(trigger.kind)\(reason)")
                case .ended(_, let connection, _, let reason):
                    events.append("\(second): \(connection) ends, \(reason)")
                case .connections, .rightsEnded, .notKept, .kept: break
                }
            }
            changes = all.count
        }

        func run(to end: Int) {
            while second < end {
                second += 1
                rig.pass(1)
                look()
            }
        }

        func motion(at second: Int) {
            run(to: second)
            service.take(.motion(MotionSignal(), RecordingTrigger(kind: .motion, words: "motion")), of: "door")
            look()
        }

        func change(
            _ body:
                @escaping @Sendable (inout ConnectionTable, CameraCapabilities, Int64) throws(TransportFault) -> Void
        ) async throws {
            try await service.change("door", body)
            look()
        }

        func setStatus(_ id: UInt16?, _ status: TransportStatus) async throws {
            try await change { table, _, _ throws(TransportFault) in try table.setStatus(id, status, for: Fixture.me) }
        }

        func setPrivacy(_ isOn: Bool) async throws {
            try await change { table, _, _ in table.setPrivacy(softRecording: isOn) }
        }

        func trigger(_ id: UInt16, _ time: TransportTimeControl? = nil) async throws {
            try await service.trigger(
                id, of: "door", RecordingTrigger(kind: .command, reason: .userInitiated, words: "command"), time,
                for: Fixture.me)
            look()
        }

        var statuses: [TransportStatus] { service.table(of: "door")?.connections.map(\.status) ?? [] }

        /// Expects that a command is refused, and that nothing has changed then.
        func expectRefusal(
            _ kind: TransportFault.Kind, location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
        ) async {
            let before = (service.table(of: "door"), events)
            do {
                try await body()
                Issue.record("it was not refused", sourceLocation: location)
            } catch {
                #expect((error as? TransportFault)?.kind == kind, "\(error)", sourceLocation: location)
            }
            look()
            #expect(service.table(of: "door") == before.0, sourceLocation: location)
            #expect(events == before.1, sourceLocation: location)
        }
    }

    private static func time(
        initial: UInt16 = 5, augmentation: UInt16 = 5, maximum: UInt32 = 30, blind: UInt16 = 10
    ) -> TransportTimeControl {
        TransportTimeControl(
            initialDuration: initial, augmentationDuration: augmentation, maxDuration: maximum, blindDuration: blind)
    }

    @Test("The status of one connection and of all, and what is always recorded (2.6)")
    func setTransportStatus() async throws {
        let scenario = try await Scenario(.continuous)
        for id: UInt16 in [3, 9] {
            await scenario.expectRefusal(.notFound) { try await scenario.setStatus(id, .active) }
        }
        try await scenario.setPrivacy(true)
        await scenario.expectRefusal(.invalidInState) { try await scenario.setStatus(2, .active) }
        try await scenario.setPrivacy(false)
        scenario.run(to: 3)
        #expect(scenario.events.isEmpty)
        try await scenario.setStatus(2, .active)
        scenario.run(to: 600)
        #expect(scenario.events == ["3: 2 begins by continuous"])
        try await scenario.setStatus(nil, .inactive)
        #expect(scenario.statuses == [.inactive, .inactive, .inactive])
        scenario.run(to: 660)
        try await scenario.setStatus(nil, .active)
        #expect(scenario.statuses == [.active, .active, .inactive])
        #expect(scenario.events.dropFirst() == ["600: 2 ends, inactive", "660: 2 begins by continuous"])
        // What waits for its upload refuses no command.
        try await scenario.setStatus(2, .inactive)
        try await scenario.change { table, camera, now throws(TransportFault) in
            try table.modify(2, PartialTransportOptions(expiryTime: 60), for: Fixture.me, of: camera, at: now)
        }
        let found = try scenario.service.table(of: "door")?.find(2, for: Fixture.me)
        #expect(found?.map(\.transportStatus) == [.inactive])
        #expect(found?.first?.transportOptions?.expiryTime == 60)
    }

    @Test("A command begins a recording of the connection's length or of its own (2.7)")
    func manualTrigger() async throws {
        let scenario = try await Scenario(.motion, Self.time(initial: 4, augmentation: 2, maximum: 8))
        for id: UInt16 in [3, 9] { await scenario.expectRefusal(.notFound) { try await scenario.trigger(id) } }
        await scenario.expectRefusal(.invalidTransportStatus) { try await scenario.trigger(2) }
        try await scenario.setStatus(2, .active)
        try await scenario.setPrivacy(true)
        await scenario.expectRefusal(.invalidInState) { try await scenario.trigger(2) }
        try await scenario.setPrivacy(false)
        scenario.run(to: 10)
        try await scenario.trigger(2)
        scenario.run(to: 20)
        #expect(scenario.events == ["10: 2 begins by command (userInitiated)", "14: 2 ends, lengthReached"])
        try await scenario.trigger(2, Self.time(initial: 7, augmentation: 1, maximum: 9))
        scenario.run(to: 25)
        try await scenario.trigger(2)
        scenario.run(to: 40)
        #expect(
            scenario.events.dropFirst(2) == ["20: 2 begins by command (userInitiated)", "28: 2 ends, lengthReached"])

        let continuous = try await Scenario(.continuous)
        try await continuous.setStatus(2, .active)
        await continuous.expectRefusal(.invalidTriggerType) { try await continuous.trigger(2) }
        let command = try await Scenario(.command)
        try await command.setStatus(2, .active)
        await command.expectRefusal(.dynamicConstraintError) { try await command.trigger(2) }
        await command.expectRefusal(.constraintError) { try await command.trigger(2, Self.time(initial: 0)) }
        await command.expectRefusal(.constraintError) { try await command.trigger(2, Self.time(maximum: 0)) }
    }

    @Test("A connection with a lifetime is there until its last second, and gone after it (2.9)")
    func lifetime() async throws {
        let scenario = try await Scenario()
        try await scenario.change { table, camera, now throws(TransportFault) in
            var options = Fixture.options()
            options.expiryTime = 5
            _ = try table.allocate(options, for: Fixture.me, of: camera, at: now)
        }
        for second in 1...4 {
            scenario.run(to: second)
            #expect(scenario.statuses == [.active, .inactive, .inactive, .inactive])
        }
        scenario.run(to: 6)
        #expect(scenario.service.table(of: "door")?.connections.map(\.id) == [1, 2, 3])
        #expect(scenario.rig.load()["door"]?.connections.map(\.id) == [1, 2, 3])
    }

    @Test("Motion begins a recording while the connection is active, or shortly before it is (2.12)")
    func motion() async throws {
        let scenario = try await Scenario(.motion, Self.time(blind: 0))
        try await scenario.setStatus(2, .active)
        scenario.motion(at: 1)
        scenario.run(to: 20)
        #expect(scenario.events == ["1: 2 begins by motion", "6: 2 ends, lengthReached"])
        try await scenario.setStatus(2, .inactive)
        scenario.motion(at: 21)
        scenario.run(to: 24)
        #expect(scenario.events.count == 2)
        try await scenario.setStatus(2, .active)
        scenario.run(to: 40)
        #expect(scenario.events.dropFirst(2) == ["24: 2 begins by motion", "26: 2 ends, lengthReached"])
        try await scenario.setStatus(2, .inactive)
        scenario.motion(at: 41)
        scenario.run(to: 46)
        try await scenario.setStatus(2, .active)
        scenario.run(to: 60)
        #expect(scenario.events.count == 4)
    }

    @Test("Motion extends a recording, and waits for the end of the blind time of what motion began (2.13)")
    func augmentation() async throws {
        let scenario = try await Scenario(.motion, Self.time())
        try await scenario.setStatus(2, .active)
        scenario.run(to: 1)
        try await scenario.trigger(2)
        scenario.motion(at: 3)
        scenario.run(to: 11)
        #expect(scenario.events == ["1: 2 begins by command (userInitiated)", "11: 2 ends, lengthReached"])
        // Within the blind time, but a command began that recording.
        scenario.motion(at: 12)
        scenario.motion(at: 27)
        #expect(
            scenario.events.dropFirst(2) == [
                "12: 2 begins by motion", "17: 2 ends, lengthReached", "27: 2 begins by motion",
            ])
        scenario.run(to: 32)
        scenario.motion(at: 41)
        #expect(scenario.events.last == "32: 2 ends, lengthReached")
        scenario.motion(at: 42)
        #expect(scenario.events.last == "42: 2 begins by motion")

        let bounded = try await Scenario(.motion, Self.time(augmentation: 15, maximum: 10))
        try await bounded.setStatus(2, .active)
        bounded.motion(at: 1)
        bounded.motion(at: 3)
        bounded.motion(at: 9)
        bounded.run(to: 60)
        #expect(bounded.events == ["1: 2 begins by motion", "11: 2 ends, lengthReached"])
    }
}
