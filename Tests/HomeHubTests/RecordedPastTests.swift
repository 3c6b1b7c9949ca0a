import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

@Suite struct RecordedPastTests {
    @Test func `what a device became after the end is not its state before`() async throws {
        let lamp = try VirtualDevice(
            id: "lamp", name: "Lamp", types: [OnOffLightDeviceType.self], store: MemorySharedStore())
        let hub = HomeHub(
            devices: [.init(id: "door", name: "Front door", kind: .doorbell)], drivers: [],
            signalling: FakeLiveView().services, now: { Date(timeIntervalSince1970: 1_000) })
        await hub.setDevices([lamp.description()], drivers: [lamp], of: .virtual)
        func before(_ from: Double, _ to: Double) async throws -> [String] {
            try await hub.past(
                ofDevices: ["lamp", "door"], structures: [], from: Date(timeIntervalSince1970: from),
                to: Date(timeIntervalSince1970: to)
            ).before.compactMap { if case .device(let device) = $0 { device.id } else { nil } }.sorted()
        }
        // Nothing is recorded of the door: it has always been as it is.
        #expect(try await before(0, 500) == ["door"])
        #expect(try await before(1_500, 2_000) == ["door", "lamp"])
    }
}
