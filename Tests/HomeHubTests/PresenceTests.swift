import Foundation
import HomeFakes
import HomeTypes
import Testing

@testable import HomeHub

@Suite struct PresenceTests {
    let store = MemorySharedStore()

    func makeHub() throws -> HomeHub {
        HomeHub(
            devices: [], drivers: [], signalling: FakeLiveView().services,
            directory: try HomeDirectory(store, timeZone: "Europe/London"),
            now: { Date(timeIntervalSince1970: 1_718_884_800) })
    }

    private func states(_ structure: StructureSnapshot) -> [String] {
        [
            structure.traits[Google.AreaPresenceStateTrait.self]?.presenceState?.rawValue,
            structure.traits[Google.AreaAttendanceStateTrait.self]?.attendanceState?.rawValue,
        ].compactMap { $0 }
    }

    @Test func theStructureSaysWhoIsAtHomeAndOnlyChangesAreReported() async throws {
        let hub = try makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        let home = try #require(await events.next()?.change)
        guard case .structure(let first) = home else { throw Unexpected() }
        #expect(states(first) == ["presenceStateUnspecified", "attendanceStateUnknown"])
        for (person, isHome, expected) in [
            ("Ana", true, ["presenceStateOccupied", "attendanceStateAllHouseholdMembers"]),
            ("Ben", false, ["presenceStateOccupied", "attendanceStateSomeHouseholdMembers"]),
            ("Ana", false, ["presenceStateVacant", "attendanceStateNoHouseholdMembers"]),
        ] {
            // A retained message is repeated; it is one change.
            for _ in 0..<3 { try await hub.reportPresence(of: person, isHome: isHome, in: first.id) }
            guard case .structure(let changed)? = await events.next()?.change else { throw Unexpected() }
            #expect(states(changed) == expected)
            #expect(changed.traits[Google.TimeTrait.self] == nil, "the time is read, not reported")
        }
        // Somebody else leaves, and nothing that watchers see changes; forgetting everybody does.
        try await hub.reportPresence(of: "Cem", isHome: false, in: first.id)
        for person in ["Ana", "Ben", "Cem"] { try await hub.reportPresence(of: person, isHome: nil, in: first.id) }
        guard case .structure(let last)? = await events.next()?.change else { throw Unexpected() }
        #expect(states(last) == ["presenceStateUnspecified", "attendanceStateUnknown"])
    }

    @Test func presenceSurvivesARestartAndLeavesWithItsStructure() async throws {
        let hub = try makeHub()
        var cabin = PlaceUpdate()
        cabin.name = "Cabin"
        let id = try await hub.addStructure(cabin).value.id
        try await hub.reportPresence(of: "Ana", isHome: true, in: id)
        let next = try makeHub()
        #expect(try await next.presence(in: id).map(\.person) == ["Ana"])
        try await next.removeStructure(id)
        #expect(store.objects(HomeDirectory.Kind.presence).isEmpty)
        await #expect(throws: HomeError.self) { try await next.reportPresence(of: "Ana", isHome: true, in: id) }
    }

    @Test(arguments: ["", "a\u{1B}[2J", "\u{202E}x", String(repeating: "x", count: 61)])
    func namesThatDoNotBelongInAHomeAreRefused(person: String) async throws {
        let hub = try makeHub()
        let id = try #require(await hub.structures().first?.id)
        let failure = await #expect(throws: HomeError.self) {
            try await hub.reportPresence(of: person, isHome: true, in: id)
        }
        #expect(failure?.code == .invalidArgument)
        #expect(try await hub.presence(in: id).isEmpty)
    }

    @Test func aStructureHasATimeAndWithCoordinatesASun() async throws {
        let hub = try makeHub()
        let id = try #require(await hub.structures().first?.id)
        // 20 June 2024, 12:00 UTC.
        let time = try #require(try await hub.structure(id).value.traits[Google.TimeTrait.self])
        #expect(time.currentTime == .init(hours: 13, minutes: 0, seconds: 0))
        #expect(time.currentDate == .init(year: 2024, month: 6, day: 20))
        #expect(time.dayOfWeek == .thursday)
        #expect(!time.attributes.$sunriseTime.isSupported)
        var place = PlaceUpdate()
        (place.latitude, place.longitude) = (.value(51.5074), .value(-0.1278))
        let london = try await hub.changeStructure(id, place).value.traits[Google.TimeTrait.self]
        #expect(london?.sunriseTime?.hours == 4 && london?.sunriseTime?.minutes == 42)
        #expect(london?.sunsetTime?.hours == 21 && london?.sunsetTime?.minutes == 21)
        (place.latitude, place.longitude) = (.value(78.2), .value(15.6))
        let arctic = try #require(try await hub.changeStructure(id, place).value.traits[Google.TimeTrait.self])
        #expect(arctic.attributes.$sunsetTime.isSupported && arctic.sunsetTime == nil)
    }

    private struct Unexpected: Error {}
}
