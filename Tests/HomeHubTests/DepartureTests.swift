import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

/// A device that moves to another structure leaves the view of those who see only the first.
@Suite struct DepartureTests {
    @Test func `a watcher of one structure hears that a device has left it, and nobody else does`() async throws {
        let hub = HomeHub(
            devices: [.init(id: "door", name: "Door", kind: .doorbell)], drivers: [FakeCamera("door")],
            signalling: FakeLiveView().services)
        let home = try #require(hub.directory.structures.first?.record.id)
        var place = PlaceUpdate()
        place.name = "Cabin"
        let cabin = try await hub.addStructure(place).value.id
        func watch(_ grant: Access.Grant) async throws -> HomeEvents.Iterator {
            var events = try await hub.changes(principal: "p", access: Access([grant])).makeAsyncIterator()
            // The present state ends with the device, where the watcher sees it.
            while let event = await events.next()?.change {
                if case .device = event { break }
            }
            return events
        }
        var limited = try await watch(.init([.read], structureID: home))
        var owner = try await watch(.init([.read]))
        var both = try await hub.changes(
            principal: "p", access: Access([.init([.read], structureID: home), .init([.read], structureID: cabin)])
        ).makeAsyncIterator()
        _ = try await hub.moveDevice("door", structure: cabin)
        await hub.apply(.doorbellPressed(.init()), deviceID: "door")
        await hub.finishChanges()
        #expect(await limited.next()?.change == .deviceRemoved(deviceID: "door"))
        #expect(await limited.next() == nil)
        var names: [String] = []
        while let event = await owner.next() { names.append(event.name) }
        #expect(names == ["device", "DoorbellPressed"])
        names = []
        while let event = await both.next() { names.append(event.name) }
        #expect(!names.contains("deviceRemoved"))
    }
}
