import Foundation
import GRDB
import HomeFakes
import HomeTypes
import Testing
import Transport

@testable import HomeHub

@Suite struct RunStoreTests {
    private func withPath<Value>(_ body: (String) throws -> Value) throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.appending(path: SQLiteRunStore.fileName).path)
    }

    private func row(
        _ run: String, _ number: Int, at: Int64 = 0, of automation: String = "a1", isEnd: Bool = false
    ) -> RunRow {
        RunRow(
            automationID: automation, runID: run, number: number, at: at, data: "{\"n\":\(number)}", isEnd: isEnd)
    }

    /// What every store keeps to.
    private func check(_ store: any RunStore) throws {
        try store.append([row("x1", 0), row("x1", 1)], states: ["a1": "{}"])
        try store.append([row("x2", 0), row("x2", 1, isEnd: true), row("x1", 2)], states: ["a2": "[]"])
        #expect(try store.openRuns().map { $0.map(\.number) } == [[0, 1, 2]])
        // A row that comes twice, as after a write whose answer was lost, is there once.
        try store.append([row("x1", 2), row("x1", 3, isEnd: true), row("x3", 0)], states: ["a2": nil])
        #expect(try store.openRuns().map { $0.map(\.runID) } == [["x3"]])
        #expect(try store.states() == ["a1": "{}"])
        #expect(try store.entries(ofRun: "x1").map(\.number) == [0, 1, 2, 3])
        let all = try store.rows(after: 0, limit: 100)
        #expect(all.map(\.row) == all.map(\.row).sorted() && all.count == 7)
        #expect(try store.rows(after: all[4].row, limit: 1).map(\.row) == [all[5].row])
        #expect(try store.newestRow() == all.last?.row)
        let page = try store.runs(of: "a1", before: nil, limit: 2)
        #expect(page.map(\.first.runID) == ["x3", "x2"])
        #expect(page.map { $0.end?.number } == [nil, 1])
        #expect(try store.runs(of: "a1", before: page[1].first.row, limit: 2).map(\.first.runID) == ["x1"])
    }

    @Test func `a store in memory and one in a file keep the same`() throws {
        try check(MemoryRunStore())
        try withPath { try check(SQLiteRunStore(path: $0)) }
    }

    @Test func `old runs and those beyond the count go, and open ones stay`() throws {
        try withPath { path in
            for store in [MemoryRunStore(), try SQLiteRunStore(path: path)] as [any RunStore] {
                try store.append([row("open", 0, at: 1)], states: [:])
                for number in 1...5 {
                    let run = "x\(number)"
                    let time = Int64(number * 10)
                    try store.append([row(run, 0, at: time), row(run, 1, at: time, isEnd: true)], states: [:])
                }
                try store.prune(before: 20, keeping: 2)
                #expect(try store.runs(of: "a1", before: nil, limit: 9).map(\.first.runID) == ["x5", "x4", "open"])
                #expect(try store.newestRow() == 11)
            }
        }
    }

    @Test func `what is left of a run whose first row was lost goes, too`() throws {
        try withPath { path in
            for store in [MemoryRunStore(), try SQLiteRunStore(path: path)] as [any RunStore] {
                let kept = [row("x2", 0, at: 30), row("x2", 1, at: 30, isEnd: true)]
                try store.append([row("x1", 1, at: 30), row("x1", 2, at: 30, isEnd: true)] + kept, states: [:])
                try store.prune(before: 20, keeping: 9)
                #expect(try store.rows(after: 0, limit: 9).map(\.runID) == ["x2", "x2"])
                try store.append([row("x3", 4, at: 30, of: "a2")], states: [:])
                var removal = RunBatch()
                removal.forgotten = ["a2"]
                try store.append(removal)
                #expect(try store.rows(after: 0, limit: 9).map(\.runID) == ["x2", "x2"])
            }
        }
    }

    @Test func `of a forgotten automation nothing stays, and of old changes the last of each group`() throws {
        func change(_ kind: String, _ group: String, at: Int64, of id: String = "a1") -> AutomationChangeRow {
            AutomationChangeRow(automationID: id, at: at, kind: kind, group: group, principal: at == 5 ? "anna" : nil)
        }
        try withPath { path in
            for store in [MemoryRunStore(), try SQLiteRunStore(path: path)] as [any RunStore] {
                var batch = RunBatch()
                batch.rows = [
                    row("x1", 0), row("x1", 1), row("x2", 0, of: "a2"), row("x3", 0), row("x3", 1, isEnd: true),
                ]
                batch.states = ["a1": "{}", "a2": "{}"]
                batch.changes = [
                    change("on", "power", at: 1), change("off", "power", at: 2), change("paused", "pause", at: 3),
                    change("on", "power", at: 4), change("released", "pause", at: 5),
                    change("on", "power", at: 1, of: "a2"),
                ]
                try store.append(batch)
                #expect(try store.changes(of: "a1") == Array(batch.changes.prefix(5)))
                try store.prune(before: 4, keeping: 9)
                #expect(try store.changes(of: "a1").map(\.at) == [4, 5])
                #expect(try store.changes(of: "a2").map(\.at) == [1])
                var removal = RunBatch()
                removal.rows = [row("x1", 2, isEnd: true)]
                removal.forgotten = ["a1"]
                try store.append(removal)
                #expect(try store.rows(after: 0, limit: 9).map(\.runID) == ["x2"])
                #expect(try store.openRuns().map { $0.map(\.runID) } == [["x2"]])
                #expect(try store.states() == ["a2": "{}"] && store.changes(of: "a1").isEmpty)
            }
        }
    }

    @Test func `what was appended is there when the file is opened again`() throws {
        try withPath { path in
            try SQLiteRunStore(path: path).append([row("x1", 0)], states: ["a1": "{}"])
            let store = try SQLiteRunStore(path: path)
            #expect(try store.openRuns().count == 1)
            #expect(try store.states() == ["a1": "{}"])
        }
    }

    @Test func `a commit waits for the disk`() throws {
        #expect(try withPath { try SQLiteRunStore(path: $0).durability() } == 2)
    }

    @Test func `a damaged file is set aside, and one of a later version is opened`() throws {
        try withPath { path in
            try Data(repeating: 7, count: 8_192).write(to: URL(fileURLWithPath: path))
            let store = try SQLiteRunStore(path: path)
            #expect(try #require(store.damaged).contains("damaged"))
            try store.append([row("x1", 0)], states: [:])
            let queue = try DatabaseQueue(path: path)
            try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of a later version')") }
            #expect(try SQLiteRunStore(path: path).openRuns().count == 1)
        }
    }

    @Test func `a file without room takes nothing of a transaction, and says why`() throws {
        try withPath { path in
            let store = try SQLiteRunStore(path: path)
            try store.append([row("x1", 0)], states: [:])
            try store.fill()
            let long = RunRow(
                automationID: "a1", runID: "x2", number: 1, at: 0, data: String(repeating: "x", count: 100_000),
                isEnd: false)
            let failure = #expect(throws: StoreFailure.self) {
                try store.append([row("x2", 0), long], states: ["a1": "{}"])
            }
            #expect(failure?.reason == "the disk is full")
            #expect(try store.openRuns().count == 1)
            #expect(try store.states().isEmpty)
        }
    }
}

/// Hears of what it watches, and keeps it.
private final class Listener: HomeObserver {
    let watched: Set<String>
    private let heard = Locked<[String]>([])

    init(_ watched: Set<String>) { self.watched = watched }

    var words: [String] { heard.withLock { $0 } }

    func watches(deviceID: String) -> Bool { watched.contains(deviceID) }

    func take(_ observation: HomeObservation) {
        let word =
            switch observation {
            case .device(let device): "\(device.id) \(device.traits[Matter.OnOffTrait.self]?.onOff ?? false)"
            case .deviceRemoved(let id): "removed \(id)"
            case .structure: "structure"
            case .structureRemoved: "structure removed"
            case .event(let id, _, let trait, let name, let fields):
                "\(id) \(trait).\(name) \(fields.keys.sorted().joined(separator: ","))"
            }
        heard.withLock { $0.append(word) }
    }
}

@Suite struct HomeObserverTests {
    @Test func `an observer hears of the devices that it watches, in order, and of no others`() async throws {
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        let devices = try ["lamp", "other"].map { id in
            try VirtualDevice(id: id, name: id, types: [OnOffLightDeviceType.self], store: MemorySharedStore())
        }
        await hub.setDevices(devices.map { $0.description() }, drivers: devices, of: .virtual)
        let listener = Listener(["lamp"])
        await hub.add(listener)
        for (device, command) in [("lamp", "on"), ("other", "on"), ("lamp", "off")] {
            let call = CommandCall(
                deviceID: device, trait: "OnOff", command: command, caller: Caller(principal: "owner"))
            _ = try await hub.send(call, body: Data("{}".utf8))
        }
        await hub.setDevices([], drivers: [], of: .virtual)
        #expect(listener.words == ["structure", "lamp false", "lamp true", "lamp false", "removed lamp"])
    }

    @Test func `presses and detections of a camera are events of their traits`() async throws {
        let hub = HomeHub(
            devices: [.init(id: "door", name: "Door", kind: .doorbell)], drivers: [FakeCamera("door")],
            signalling: FakeLiveView().services)
        let listener = Listener(["door"])
        await hub.add(listener)
        await hub.apply(.doorbellPressed(.init(doorbellPressTimeSeconds: 1)), deviceID: "door")
        await hub.apply(
            .detection(.init(kind: .person, phase: .momentary, eventSessionId: "s1")), deviceID: "door")
        #expect(
            listener.words.filter { $0.contains(".") } == [
                "door DoorbellPress.DoorbellPressed doorbellPressTimeSeconds",
                "door CameraPerson.Person eventSessionId,phase",
            ])
    }
}
