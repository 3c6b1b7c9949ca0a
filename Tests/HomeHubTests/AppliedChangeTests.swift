import Foundation
import HomeFakes
import HomeTypes
import Signalling
import Synchronization
import Testing
import Transport

@testable import HomeHub

/// The sender of a command or a write learns that it was applied after the home has reported what it changed, and before the home
/// reports what comes later.
@Suite struct AppliedChangeTests {
    private typealias OnOff = Matter.OnOffTrait
    private let owner = Caller(principal: "owner")
    private let camera = FakeCamera("door")
    private let liveView = FakeLiveView()

    /// A lamp that calls something while it is written to.
    private struct WrittenLamp: DeviceBackend {
        let lamp = FakeBackend("lamp")
        let whileWriting = Locked<(@Sendable () -> Void)?>(nil)

        var deviceID: String { lamp.deviceID }

        func updates() -> AsyncStream<DeviceUpdate> { lamp.updates() }

        func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> CommandOutcome {
            try await lamp.execute(call, body: body)
        }

        func write(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome {
            let called = whileWriting.withLock { body in
                defer { body = nil }
                return body
            }
            called?()
            return try await lamp.write(write)
        }
    }

    /// Keeps a picture at the time that it names.
    private struct Pictures: PictureKeeping {
        func keep(_ jpeg: [UInt8], of deviceID: String, at time: Date) async throws(HomeError) -> KeptPicture {
            KeptPicture(milliseconds: Int64(time.timeIntervalSince1970) * 1_000)
        }
    }

    /// Writes down what the home reports, and what was applied, in order.
    private final class Order: HomeObserver {
        private let all = Locked<[String]>([])

        func watches(deviceID: String) -> Bool { true }

        func take(_ observation: HomeObservation) {
            switch observation {
            case .device(let device):
                let streams = device.traits[Google.CameraAvStreamManagementTrait.self]
                add("\(device.id) \(device.traits[OnOff.self]?.onTime ?? UInt16(streams?.speakerVolumeLevel ?? 0))")
            case .event(let id, _, _, let name, _): add("\(id) \(name)")
            case .deviceRemoved, .structure, .structureRemoved: break
            }
        }

        func add(_ word: String) { all.withLock { $0.append(word) } }

        /// What has come since the last call.
        func news() -> [String] {
            all.withLock { all in
                defer { all = [] }
                return all
            }
        }
    }

    private func makeHub(_ lamp: WrittenLamp = WrittenLamp()) async -> (HomeHub, Order) {
        let hub = HomeHub(
            devices: [.init(id: "door", name: "Door", kind: .doorbell)], drivers: [camera],
            signalling: liveView.services, pictures: Pictures(), now: { Date(timeIntervalSince1970: 1_000) })
        var device = DeviceDescription(id: "lamp", name: "Lamp")
        device.endpoints = [
            EndpointDescription(
                id: 1, types: [OnOffLightDeviceType.self],
                traits: TraitCollection([OnOff(attributes: .init(onOff: true, onTime: 1))]), connectivity: .online)
        ]
        await hub.setDevices([device], drivers: [lamp], of: .mqtt)
        await hub.apply(.settings(.init(speakerVolumeLevel: 5)), deviceID: "door")
        let order = Order()
        await hub.add(order)
        _ = order.news()
        return (hub, order)
    }

    @Test func `a write has been applied after it was reported, and before the next one is reported`() async throws {
        let lamp = WrittenLamp()
        let (hub, order) = await makeHub(lamp)
        let owner = self.owner
        @Sendable func write(_ time: Int) async throws {
            let body = Data(#"{"onTime":\#(time)}"#.utf8)
            _ = try await hub.update("OnOff", of: "lamp", body: body, by: owner) { order.add("applied \(time)") }
        }
        // While the lamp is written to, another write waits for its turn.
        let others = Locked<[Task<Void, any Error>]>([])
        lamp.whileWriting.withLock {
            $0 = {
                let other = Task { try await write(3) }
                others.withLock { $0.append(other) }
            }
        }
        try await write(2)
        for other in others.withLock({ $0 }) { try await other.value }
        #expect(order.news() == ["lamp 2", "applied 2", "lamp 3", "applied 3"])
    }

    @Test func `a write to a camera has been applied after it was reported, and only if it succeeded`() async throws {
        let (hub, order) = await makeHub()
        func write(_ name: String, _ body: String) async throws {
            _ = try await hub.update(name, of: "door", body: Data(body.utf8), by: owner) { order.add("applied") }
        }
        try await write("CameraAvStreamManagement", #"{"speakerVolumeLevel":9}"#)
        #expect(order.news() == ["door 9", "applied"])
        try await write("Chime", #"{"selectedChime":3}"#)
        #expect(order.news() == ["door 9", "applied"])
        camera.refusal.withLock { $0 = HomeError.failedPrecondition("not now") }
        await #expect(throws: HomeError.self) {
            try await write("CameraAvStreamManagement", #"{"speakerVolumeLevel":7}"#)
        }
        await #expect(throws: HomeError.self) { try await write("Chime", #"{"selectedChime":7}"#) }
        #expect(order.news().isEmpty)
    }

    @Test func `a camera's command has been applied once, after the home has reported what it did`() async throws {
        let (hub, order) = await makeHub()
        func takeSnapshot(_ key: String?) async throws {
            let call = CommandCall(
                deviceID: "door", trait: "CameraSnapshot", command: "takeSnapshot",
                caller: Caller(principal: "owner", idempotencyKey: key))
            _ = try await hub.send(call, body: Data("{}".utf8)) { order.add("applied") }
        }
        try await takeSnapshot(nil)
        #expect(order.news() == ["door SnapshotTaken", "applied"])
        try await takeSnapshot("k")
        #expect(order.news() == ["door SnapshotTaken", "applied"])
        // The repetition gets the first result.
        try await takeSnapshot("k")
        #expect(order.news().isEmpty)
        await liveView.setSnapshotError(.noMicrophone)
        await #expect(throws: HomeError.self) { try await takeSnapshot(nil) }
        #expect(order.news().isEmpty)
    }
}
