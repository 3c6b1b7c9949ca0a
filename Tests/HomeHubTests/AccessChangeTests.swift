import Foundation
import HomeFakes
import HomeTypes
import Signalling
import Testing

@testable import HomeHub

/// Watchers that return after a change of what they may read.
@Suite struct AccessChangeTests {
    let folder = TestFolder()

    private func makeHub(
        log: ChangeLog = ChangeLog(MemoryStore(log: "r")), directory: HomeDirectory = HomeDirectory()
    ) -> HomeHub {
        HomeHub(
            devices: ["door", "yard"].map { .init(id: $0, name: $0, kind: .doorbell) }, drivers: [],
            signalling: FakeLiveView().services, directory: directory, log: log,
            now: { Date(timeIntervalSince1970: 1_000) })
    }

    private static func reading(_ devices: String...) -> Access {
        Access(devices.map { Access.Grant([.read], deviceID: $0) })
    }

    /// Reads the present state, and returns the cursor behind it.
    private func readState(_ hub: HomeHub, _ access: Access) async throws -> String {
        var events = try await hub.changes(principal: "guest", access: access).makeAsyncIterator()
        while let event = await events.next() { if !event.id.isEmpty { return event.id } }
        return ""
    }

    private func press(_ hub: HomeHub, _ number: Int64) async {
        await hub.apply(.doorbellPressed(.init(priority: number)), deviceID: "door")
    }

    private func collect(_ stream: HomeEvents) async -> [HomeEvent] {
        var events: [HomeEvent] = []
        for await event in stream { events.append(event) }
        return events
    }

    /// An event in a word: what it is and what it is about.
    private func word(_ event: HomeEvent) -> String {
        switch event.change {
        case .device(let device)?: "device \(device.id)"
        case .doorbellPressed(_, _, let press)?: "press \(press.priority ?? 0)"
        case .deviceRemoved(let id)?: "removed \(id)"
        case .missed(_, let eventsFollow)?: eventsFollow ? "missed states" : "missed"
        default: event.name
        }
    }

    private static let changes: [(Access, Access, [String])] = [
        (reading("door"), reading("door", "yard"), ["device door", "device yard", "missed states", "press 1"]),
        (reading("door", "yard"), reading("door"), ["device door", "missed states", "", "press 1"]),
        (reading("door"), reading("yard"), ["device yard", "missed states", ""]),
        (reading("door"), .nothing, ["missed states", ""]),
        (.everything, reading("yard"), ["device yard", "missed states", ""]),
        (reading("yard"), .everything, ["structure", "device door", "device yard", "missed states", "press 1"]),
    ]

    /// A comment follows a state of at most one object. Without the comment, a client would not know yet that it is a state.
    @Test(arguments: changes)
    func `a watcher that may read something else gets the state, and then the events that it has not read`(
        before: Access, after: Access, expected: [String]
    ) async throws {
        let hub = makeHub()
        let cursor = try await readState(hub, before)
        await press(hub, 1)
        // Both states are older than the state that the watcher gets.
        for device in ["door", "yard"] {
            await hub.apply(.eventSource(.init(state: .subscribed)), deviceID: device)
        }
        let stream = try await hub.changes(principal: "guest", access: after, after: cursor)
        await hub.finishChanges()
        #expect(await collect(stream).map(word) == expected)
    }

    private static let removals: [(Access, [String], [String])] = [
        (.everything, ["structure", "device door", "missed states"], ["press 1", "removed yard"]),
        (reading("door", "yard", "shed"), ["device door", "missed states", ""], ["press 1", "removed yard"]),
        // It may not know whether there is a yard.
        (reading("door"), ["device door", "missed states", ""], ["press 1"]),
    ]

    /// Without that, a client could not tell a device that has left the home from one that it may not read for a while.
    @Test(arguments: removals)
    func `a watcher that may read something else learns which devices have left the home, and not come back`(
        access: Access, state: [String], expected: [String]
    ) async throws {
        let hub = makeHub()
        let cursor = try await readState(hub, Self.reading("door", "yard"))
        await press(hub, 1)
        await hub.setDevices([], drivers: [])
        await hub.setDevices([.init(id: "door", name: "door", kind: .doorbell)], drivers: [])
        func watch(after cursor: String) async throws -> HomeEvents {
            try await hub.changes(principal: "guest", access: access, after: cursor)
        }
        // A watcher that leaves behind the state learns it later.
        var events = try await watch(after: cursor).makeAsyncIterator()
        var place = ""
        while place.isEmpty, let event = await events.next() { place = event.id }
        let (first, again) = (try await watch(after: cursor), try await watch(after: place))
        await hub.finishChanges()
        #expect(await collect(first).map(word) == state + expected)
        #expect(await collect(again).map(word) == expected)
    }

    @Test func `a watcher that may read the same gets no state again`() async throws {
        let hub = makeHub()
        let cursor = try await readState(hub, Self.reading("door", "yard"))
        await press(hub, 1)
        // In another order, once too often, and with a scope on which it does not depend what can be read.
        let yard = Access.Grant([.read, .control], deviceID: "yard")
        let same = Access([yard] + Self.reading("door", "door").grants)
        let stream = try await hub.changes(principal: "guest", access: same, after: cursor)
        await hub.finishChanges()
        #expect(await collect(stream).map(word) == ["press 1"])
    }

    @Test func `a watcher that leaves among the events behind the state continues after the one that it has read`()
        async throws
    {
        let hub = makeHub()
        let cursor = try await readState(hub, Self.reading("door"))
        for number in 1...3 { await press(hub, Int64(number)) }
        let both = Self.reading("door", "yard")
        var events = try await hub.changes(principal: "guest", access: both, after: cursor).makeAsyncIterator()
        var place = ""
        while let event = await events.next() {
            if !event.id.isEmpty { place = event.id }
            if word(event) == "press 1" { break }
        }
        let again = try await hub.changes(principal: "guest", access: both, after: place)
        await hub.finishChanges()
        #expect(await collect(again).map(word) == ["press 2", "press 3"])
    }

    private static let leaving: [(Access, String, [String])] = [
        (reading("door", "yard"), "missed states", ["press 1", "press 2", "device yard"]),
        (reading("door", "yard"), "press 1", ["press 2", "device yard"]),
        (.everything, "missed states", ["press 1", "press 2", "device yard"]),
        (.everything, "press 1", ["press 2", "device yard"]),
    ]

    /// The state contains the change of the door, which is older.
    @Test(arguments: leaving)
    func `a watcher that leaves behind the state does not get later what the state contains`(
        access: Access, last: String, expected: [String]
    ) async throws {
        let hub = makeHub()
        let cursor = try await readState(hub, Self.reading("door"))
        await press(hub, 1)
        await hub.apply(.eventSource(.init(state: .subscribed)), deviceID: "door")
        await press(hub, 2)
        var events = try await hub.changes(principal: "guest", access: access, after: cursor).makeAsyncIterator()
        var place = ""
        while let event = await events.next() {
            if !event.id.isEmpty { place = event.id }
            if word(event) == last { break }
        }
        let again = try await hub.changes(principal: "guest", access: access, after: place)
        let passing = try await hub.changes(principal: "guest", access: access, after: place, keepsState: false)
        await hub.apply(.eventSource(.init(state: .subscribed)), deviceID: "yard")
        await hub.finishChanges()
        let later = await collect(again)
        #expect(later.map(word) == expected)
        // Past the state, the cursor is an ordinary one.
        let end = LogCursor(later.last?.id ?? "")
        #expect(end?.state == 0 && end?.mark == AccessMark.text(of: access))
        // A watcher that keeps no state has none that could contain a change.
        let passed = await collect(passing)
        #expect(passed.map(word).contains("device door"))
        #expect(passed.allSatisfy { LogCursor($0.id)?.state == 0 })
    }

    /// The disk has not taken the change yet when the right is taken away.
    @Test func `a rename on its way to two watchers does not reach the one that has just lost the device`() async throws
    {
        let store = FailingStore()
        let hub = makeHub(log: ChangeLog(store))
        let cursor = try await readState(hub, Self.reading("door", "yard"))
        let owner = try await hub.changes(principal: "owner")
        let guest = try await hub.changes(
            principal: "guest", access: Self.reading("door", "yard"), after: cursor)
        store.hold()
        try await hub.moveDevice("door", name: .value("Front door"))
        store.waitUntilHeld()
        await hub.enforce(Self.reading("yard"), on: "guest")
        store.release()
        #expect(await collect(guest).map(word) == ["missed"])
        let again = try await hub.changes(principal: "guest", access: Self.reading("yard"), after: cursor)
        await hub.finishChanges()
        #expect(await collect(again).map(word) == ["device yard", "missed states", ""])
        let names = await collect(owner).compactMap { event -> String? in
            guard case .device(let device)? = event.change, device.id == "door" else { return nil }
            return device.name
        }
        #expect(names == ["door", "Front door"])
    }

    /// The stream ends before the session does.
    @Test func `a watcher whose session ended with its rights gets the end of the session`() async throws {
        let hub = makeHub()
        let session = SessionSnapshot(
            LiveViewSnapshot(
                mediaSessionId: "1", deviceID: "door", principal: "guest", state: .connected, expiresInSeconds: 300,
                isTalking: false, codecs: ["VP8"], steps: [], statistics: .init(), notes: []),
            now: Date(timeIntervalSince1970: 1_000))
        let cursor = try await readState(hub, Self.reading("door"))
        await hub.publish(.session(.ended, session.ended))
        let stream = try await hub.changes(principal: "guest", access: Self.reading("yard"), after: cursor)
        await hub.finishChanges()
        let events = await collect(stream)
        #expect(events.map(word) == ["device yard", "missed states", "", "session"])
    }

    /// Starts a gateway of a home whose log is on the disk.
    private func open(_ home: MemorySharedStore) throws -> HomeHub {
        let store = try SQLiteLocalStore(
            path: folder.path + "/local.sqlite", retention: LogRetention(), now: { Date(timeIntervalSince1970: 1_000) })
        return makeHub(log: ChangeLog(store), directory: try HomeDirectory(home))
    }

    @Test func `a change of the rights is noticed after a restart, and the same rights are recognized`() async throws {
        let home = MemorySharedStore()
        let first = try open(home)
        let cursor = try await readState(first, Self.reading("door"))
        first.log.flush()
        let second = try open(home)
        let same = try await second.changes(principal: "guest", access: Self.reading("door"), after: cursor)
        let more = try await second.changes(principal: "guest", access: Self.reading("door", "yard"), after: cursor)
        await press(second, 1)
        await second.finishChanges()
        let continued = await collect(same).map(word)
        #expect(!continued.contains("missed states") && continued.last == "press 1")
        let state = await collect(more).map(word)
        #expect(Array(state.prefix(3)) == ["device door", "device yard", "missed states"] && state.last == "press 1")
    }

    /// The next run may use the numbers of the state's entries for others, if a power cut has taken those.
    @Test func `a watcher that leaves behind the state of an earlier run gets the state again`() async throws {
        let home = MemorySharedStore()
        let access = Self.reading("door", "yard")
        let first = try open(home)
        let cursor = try await readState(first, Self.reading("door"))
        await first.apply(.eventSource(.init(state: .subscribed)), deviceID: "door")
        var events = try await first.changes(principal: "guest", access: access, after: cursor).makeAsyncIterator()
        var place = ""
        while place.isEmpty, let event = await events.next() { place = event.id }
        #expect(LogCursor(place).map { $0.state > $0.sequence } == true)
        first.log.flush()
        let second = try open(home)
        let again = try await second.changes(principal: "guest", access: access, after: place)
        await second.finishChanges()
        #expect(await collect(again).map(word).starts(with: ["device door", "device yard", "missed states"]))
    }

    @Test func `a cursor of an earlier version gets the state once`() async throws {
        let hub = makeHub()
        await press(hub, 1)
        let old = hub.log.newest.text
        let access = Self.reading("door", "yard")
        var events = try await hub.changes(principal: "guest", access: access, after: old).makeAsyncIterator()
        var words: [String] = []
        var cursor = ""
        while words.last != "missed states", let event = await events.next() {
            words.append(word(event))
            if !event.id.isEmpty { cursor = event.id }
        }
        #expect(words == ["device door", "device yard", "missed states"])
        let again = try await hub.changes(principal: "guest", access: access, after: cursor)
        await hub.finishChanges()
        #expect(await collect(again).isEmpty)
    }

    @Test func `a watcher that keeps no state continues after its cursor, and gets the ids of the events`() async throws
    {
        let hub = makeHub()
        let cursor = try await readState(hub, .everything)
        await press(hub, 1)
        let stream = try await hub.changes(
            principal: "guest", access: Self.reading("door"), after: cursor, keepsState: false)
        await hub.finishChanges()
        let events = await collect(stream)
        #expect(events.map(word) == ["press 1"])
        let ids = try await hub.events(of: "door").map(\.id)
        #expect(events.map(\.id) == ids)
    }

    @Test func `the id of an event in a stream of a part of the home begins with that of the event`() async throws {
        let hub = makeHub()
        let stream = try await hub.changes(principal: "guest", access: Self.reading("door"))
        await press(hub, 1)
        await press(hub, 2)
        await hub.finishChanges()
        let events = await collect(stream).filter { $0.name == "DoorbellPressed" }
        let known = try await hub.events(of: "door").map(\.id)
        #expect(events.count == 2 && known.count == 2)
        for (event, id) in zip(events, known.reversed()) { #expect(event.id.hasPrefix(id + "-")) }
        // Both list what followed.
        let later = try await hub.events(of: "door", after: events.first?.id).map(\.id)
        #expect(later == [known[0]])
    }

    @Test func `all watchers of the whole home share an event`() async throws {
        let hub = makeHub()
        let streams = [
            try await hub.changes(principal: "owner"),
            try await hub.changes(principal: "reader", access: Access([.init([.read])])),
        ]
        await press(hub, 1)
        await hub.finishChanges()
        var forms: [Int] = []
        for (number, stream) in streams.enumerated() {
            for event in await collect(stream) where event.name == "DoorbellPressed" {
                forms.append(event.form { _ in number })
            }
        }
        // The second gets what was made for the first.
        #expect(forms == [0, 0])
    }

    @Test func `a mark is the same in every run, and differs with what can be read`() {
        let mark = AccessMark.text(of: Self.reading("door"))
        #expect(mark == "57d5c0b96cc35e42")
        let others: [Access] = [
            Self.reading("yard"), Self.reading("door", "yard"), .nothing, .everything,
            Access([.init([.read], structureID: "door")]), Access([.init([.control], deviceID: "door")]),
            Access(Self.reading("door").grants + [Access.Grant([.automate], structureID: "home")]),
        ]
        #expect(Set(others.map { AccessMark.text(of: $0) } + [mark]).count == 7)
        #expect(AccessMark.text(of: Access([.init([.control], deviceID: "door")])) == AccessMark.text(of: .nothing))
        #expect(AccessMark.text(of: .everything).isEmpty)
    }

    @Test(arguments: ["", "cbf29ce484222325"]) func `the longest cursor can be read`(mark: String) {
        for state in [0, Int64.max] {
            let cursor = LogCursor(
                log: "0123456789abcdef", incarnation: .max, sequence: .max - 1, mark: mark, state: state)
            #expect(LogCursor(cursor.text) == cursor)
            #expect(LogCursor(cursor.text + "-") == nil)
            #expect(LogCursor(cursor.text)?.state == state)
        }
    }
}
