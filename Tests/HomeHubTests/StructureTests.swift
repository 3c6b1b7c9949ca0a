import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

@Suite struct StructureTests {
    let store = MemorySharedStore()
    let log = MemoryStore()
    let door = DeviceDescription(id: "door", name: "Front door", kind: .doorbell)

    func makeHub() throws -> HomeHub {
        HomeHub(
            devices: [door], drivers: [], signalling: FakeLiveView().services,
            directory: try HomeDirectory(store, timeZone: "Europe/Berlin"), log: ChangeLog(log))
    }

    func update(_ name: String? = nil, _ change: (inout PlaceUpdate) -> Void = { _ in }) -> PlaceUpdate {
        var update = PlaceUpdate()
        update.name = name
        change(&update)
        return update
    }

    @Test func aHomeBeginsWithOneStructureAndKeepsItsIdentifier() async throws {
        let (hub, next) = (try makeHub(), try makeHub())
        let first = try #require(await hub.structures().first)
        #expect(first.name == "Home" && first.timeZone == "Europe/Berlin")
        #expect(await next.structures().map(\.id) == [first.id])
    }

    @Test func structuresAndRoomsKeepTheirOrderOverARestart() async throws {
        let hub = try makeHub()
        let names = ["Cabin", "Barn", "Attic", "Loft", "Boat", "Shed"]
        for name in names { _ = try await hub.addStructure(update(name)) }
        let home = try #require(await hub.structures().first?.id)
        for name in names { _ = try await hub.addRoom(name, in: home) }
        for each in [hub, try makeHub()] {
            #expect(await each.structures().map(\.name) == ["Home"] + names)
            #expect(await each.rooms().map(\.name) == names)
        }
    }

    @Test func everyMillisecondIsKept() throws {
        for millisecond in 0..<2_000 {
            let time = Date(timeIntervalSince1970: (1_795_430_000_000 + Double(millisecond)) / 1_000)
            let read = try JSONDecoder.home.decode([Date].self, from: JSONEncoder.home.encode([time]))
            #expect(abs(read[0].timeIntervalSince(time)) < 0.000_4)
        }
    }

    @Test func structuresAreChangedAndRemoved() async throws {
        let hub = try makeHub()
        let made = try await hub.addStructure(
            update("Cabin") {
                $0.address = .value("  1 Lake Road ")
                $0.latitude = .value(60.17)
                $0.longitude = .value(24.94)
                $0.timeZone = "Europe/Helsinki"
            })
        #expect(made.version == 1 && made.value.address == "1 Lake Road" && made.value.latitude == 60.17)
        let renamed = try await hub.changeStructure(
            made.value.id, update("Lake house") { $0.address = .cleared }, ifVersion: 1)
        #expect(renamed.version == 2 && renamed.value.address == nil && renamed.value.longitude == 24.94)
        // A change that changes nothing is not a change.
        #expect(try await hub.changeStructure(made.value.id, update("Lake house")).version == 2)
        try await hub.removeStructure(made.value.id, ifVersion: 2)
        #expect(try await makeHub().structures().map(\.name) == ["Home"])
        await #expect(throws: HomeError.self) { try await hub.structure(made.value.id) }
    }

    @Test func aStaleWriteChangesNothing() async throws {
        let hub = try makeHub()
        let id = try #require(await hub.structures().first?.id)
        _ = try await hub.changeStructure(id, update("House"), ifVersion: 1)
        let failure = await #expect(throws: HomeError.self) {
            try await hub.changeStructure(id, update("Barn"), ifVersion: 1)
        }
        #expect(failure?.code == .aborted)
        // Another gateway of the home has written.
        let object = try #require(store.object(HomeDirectory.Kind.structure, id))
        _ = store.write(HomeDirectory.Kind.structure, id, object.body, expecting: object.version)
        let late = await #expect(throws: HomeError.self) { try await hub.changeStructure(id, update("Barn")) }
        #expect(late?.code == .aborted)
        #expect(try await hub.structure(id).value.name == "House")
    }

    @Test(arguments: [
        ("name", #"a\u{7}b"#), ("name", "\u{202E}evil"), ("name", "  "), ("latitude", "91"), ("latitude", "nan"),
        ("longitude", "-180.5"), ("timeZone", "Mars/Olympus"), ("timeZone", "GMT+2"), ("timeZone", ""),
        ("address", "line\nbreak"), ("address", String(repeating: "x", count: 501)),
    ])
    func whatDoesNotBelongInAStructureIsRefused(field: String, text: String) async throws {
        let hub = try makeHub()
        let id = try #require(await hub.structures().first?.id)
        var update = PlaceUpdate()
        switch field {
        case "name": update.name = text == #"a\u{7}b"# ? "a\u{7}b" : text
        case "latitude": (update.latitude, update.longitude) = (.value(Double(text) ?? 0), .value(0))
        case "longitude": (update.latitude, update.longitude) = (.value(0), .value(Double(text) ?? 0))
        case "timeZone": update.timeZone = text
        default: update.address = .value(text)
        }
        let wrong = update
        let failure = await #expect(throws: HomeError.self) { try await hub.changeStructure(id, wrong) }
        #expect(failure?.code == .invalidArgument && failure?.message.hasPrefix("\(field): ") == true)
        #expect(try await hub.structure(id).version == 1)
    }

    @Test func onlyBothCoordinatesNameAPlace() async throws {
        let hub = try makeHub()
        let id = try #require(await hub.structures().first?.id)
        let half = update { $0.latitude = .value(1) }
        await #expect(throws: HomeError.self) { try await hub.changeStructure(id, half) }
    }

    @Test func namesAreCutAtSixtyScalars() async throws {
        let hub = try makeHub()
        let id = try #require(await hub.structures().first?.id)
        let long = String(repeating: "é", count: 59) + "👩‍👧"
        let name = try await hub.changeStructure(id, update(long)).value.name
        #expect(name.unicodeScalars.count == 60 && long.hasPrefix(String(repeating: "é", count: 59)))
        try await hub.moveDevice("door", name: .value(long))
        #expect(try await hub.device("door").name == name)
    }

    @Test func theOnlyStructureAndOneWithDevicesStay() async throws {
        let hub = try makeHub()
        let id = try #require(await hub.structures().first?.id)
        let only = await #expect(throws: HomeError.self) { try await hub.removeStructure(id) }
        #expect(only?.code == .failedPrecondition)
        let cabin = try await hub.addStructure(update("Cabin")).value.id
        let used = await #expect(throws: HomeError.self) { try await hub.removeStructure(id) }
        #expect(used?.code == .failedPrecondition && used?.message.contains("door") == true)
        _ = try await hub.moveDevice("door", structure: cabin)
        try await hub.removeStructure(id)
        #expect(await hub.structures().map(\.id) == [cabin])
    }

    @Test func aDeviceThatIsAwayGoesOnInAnotherStructure() async throws {
        let hub = try makeHub()
        let old = try #require(await hub.structures().first?.id)
        let cabin = try await hub.addStructure(update("Cabin")).value.id
        await hub.setDevices([], drivers: [])
        try await hub.removeStructure(old)
        await hub.setDevices([door], drivers: [])
        #expect(try await hub.device("door").structureID == cabin)
    }

    @Test func aDeviceMovesBetweenRooms() async throws {
        let hub = try makeHub()
        let home = try #require(await hub.structures().first?.id)
        let hall = try await hub.addRoom("Hall", in: home).value
        let cabin = try await hub.addStructure(update("Cabin")).value.id
        let porch = try await hub.addRoom("Porch", in: cabin).value
        try await hub.moveDevice("door", room: .value(hall.id))
        #expect(try await hub.device("door").roomID == hall.id)
        let move = try await hub.moveDevice("door", room: .value(porch.id))
        #expect(move == DeviceMove("door", from: home, to: cabin) && move.changesStructure)
        let moved = try await hub.device("door")
        #expect(moved.roomID == porch.id && moved.structureID == cabin)
        await #expect(throws: HomeError.self) {
            try await hub.moveDevice("door", room: .value(hall.id), structure: cabin)
        }
        // Another structure is not another room of the same name.
        try await hub.moveDevice("door", structure: home)
        let back = try await hub.device("door")
        #expect(back.roomID == nil && back.structureID == home)
        _ = try await hub.moveDevice("door", room: .value(hall.id))
        #expect(try await makeHub().device("door").roomID == hall.id)
        try await hub.removeRoom(hall.id)
        #expect(try await hub.device("door").roomID == nil)
        #expect(await hub.rooms() == [porch])
        for bad in ["nowhere", hall.id] {
            let failure = await #expect(throws: HomeError.self) {
                try await hub.moveDevice("door", room: .value(bad))
            }
            #expect(failure?.code == .notFound)
        }
    }

    @Test func `each of two moves at once says where it found the device and where it left it`() async throws {
        let hub = try makeHub()
        let home = try #require(await hub.structures().first?.id)
        let cabin = try await hub.addStructure(update("Cabin")).value.id
        let barn = try await hub.addStructure(update("Barn")).value.id
        async let one = hub.moveDevice("door", structure: cabin)
        async let other = hub.moveDevice("door", structure: barn)
        let moves = try await [one, other]
        let first = try #require(moves.first { $0.former == home })
        let second = try #require(moves.first { $0 != first })
        #expect(second.former == first.structureID)
        #expect(try await hub.device("door").structureID == second.structureID)
        let named = try await hub.moveDevice("door", name: .value("Gate"))
        #expect(!named.changesStructure && named.former == second.structureID)
    }

    @Test func aNameOfTheAPIWinsUntilItIsCleared() async throws {
        let hub = try makeHub()
        try await hub.moveDevice("door", name: .value("Porch"))
        #expect(try await hub.device("door").name == "Porch")
        await hub.setDevices([DeviceDescription(id: "door", name: "Gate", kind: .doorbell)], drivers: [])
        #expect(try await hub.device("door").name == "Porch")
        #expect(try await makeHub().device("door").name == "Porch")
        try await hub.moveDevice("door", name: .cleared)
        #expect(try await hub.device("door").name == "Gate")
    }

    @Test func watchersLearnOfEachChangeOnceAndInOrder() async throws {
        let hub = try makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        guard case .structure(let home)? = await events.next()?.change else { throw Unexpected() }
        guard case .device? = await events.next()?.change else { throw Unexpected() }
        let hall = try await hub.addRoom("Hall", in: home.id).value
        _ = try await hub.moveDevice("door", room: .value(hall.id))
        _ = try await hub.moveDevice("door", room: .value(hall.id))
        _ = try await hub.renameRoom(hall.id, "Hallway")
        try await hub.removeRoom(hall.id)
        #expect(await events.next()?.change == .room(hall))
        guard case .device(let moved)? = await events.next()?.change else { throw Unexpected() }
        #expect(moved.roomID == hall.id)
        guard case .room(let renamed)? = await events.next()?.change else { throw Unexpected() }
        #expect(renamed.name == "Hallway")
        // No device is ever in a room that the watcher knows to be gone.
        guard case .device(let left)? = await events.next()?.change else { throw Unexpected() }
        #expect(left.roomID == nil)
        #expect(await events.next()?.change == .roomRemoved(roomID: hall.id))
    }

    @Test func aWatcherThatReturnsLearnsWhatTheRunBeforeCouldNotReport() async throws {
        let hub = try makeHub()
        await hub.log.settle()
        let cursor = hub.log.newest.text
        let id = try #require(await hub.structures().first?.id)
        // Written, but the process was killed before it reported it.
        _ = try hub.directory.changeStructure(id, update("House"), ifVersion: nil)
        var events = try await makeHub().changes(principal: "owner", after: cursor).makeAsyncIterator()
        guard case .structure(let changed)? = await events.next()?.change else { throw Unexpected() }
        #expect(changed.name == "House")
    }

    @Test func aRepeatedRequestMakesOneStructure() async throws {
        let hub = try makeHub()
        let caller = Caller(principal: "owner", idempotencyKey: "k")
        let body = Data(#"{"name":"Cabin"}"#.utf8)
        let cabin = update("Cabin")
        func make(_ body: Data) async throws -> String {
            try await hub.make("structure", by: caller, parameters: body) { () async throws(HomeError) in
                try await hub.addStructure(cabin).value.id
            }
        }
        let first = try await make(body)
        #expect(try await make(body) == first)
        #expect(await hub.structures().count == 2)
        await #expect(throws: HomeError.self) { try await make(Data("{}".utf8)) }
    }

    private struct Unexpected: Error {}
}
