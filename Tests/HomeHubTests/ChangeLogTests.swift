import Foundation
import GRDB
import HomeFakes
import HomeTypes
import Signalling
import Testing
import Transport

@testable import HomeHub

/// The change log in its file: nothing is lost, whatever becomes of readers, process and disk.
@Suite struct ChangeLogTests {
    let folder = TestFolder()

    private var path: String { folder.path + "/local.sqlite" }

    private func open(_ retention: LogRetention = LogRetention()) throws -> SQLiteLocalStore {
        try SQLiteLocalStore(path: path, retention: retention, now: { Date(timeIntervalSince1970: 1_000) })
    }

    private func append(_ range: Range<Int64>, to log: ChangeLog) {
        for number in range {
            log.append(
                .doorbellPressed(deviceID: "door", at: Date(timeIntervalSince1970: 1_000), .init(priority: number)),
                at: Date(timeIntervalSince1970: 1_000))
        }
    }

    private func numbers(_ events: [HomeEvent]) -> [Int64] {
        events.compactMap { if case .doorbellPressed(_, _, let press) = $0.change { press.priority } else { nil } }
    }

    /// The sequence numbers of the events: nothing is decoded.
    private func sequences(_ events: [HomeEvent]) -> [Int64] { events.compactMap { LogCursor($0.id)?.sequence } }

    /// `tools/test --all` makes 100,000 changes, as `tools/bench-home` does. They take a minute of a processor.
    @Test(.timeLimit(.minutes(10))) func nothingIsLostOverManyChangesWithReadersThatComeGoAndStall() async throws {
        let total: Int64 = ProcessInfo.processInfo.environment["GATEHOUSE_PARTS"] == "all" ? 100_000 : 20_000
        let log = ChangeLog(try self.open())
        let complete = Locked(0)
        await withTaskGroup { group in
            group.addTask {
                for start in stride(from: Int64(0), to: total, by: 100) {
                    self.append(start..<start + 100, to: log)
                    await Task.yield()
                }
            }
            // Some read to the end, some leave after a while and return to their place, some begin late.
            for reader in 0..<12 {
                group.addTask {
                    var next: Int64 = 1
                    var rounds = 0
                    while next <= total, rounds < 100_000 {
                        rounds += 1
                        let stream = log.addReader(principal: "owner", after: next - 1)
                        var batches = 0
                        while next <= total, let events = await stream.next() {
                            for sequence in self.sequences(events) {
                                guard sequence == next else {
                                    Issue.record("\(sequence) instead of \(next)")
                                    return
                                }
                                next += 1
                            }
                            batches += 1
                            // One that stalls reads the store when it goes on: the memory has forgotten its place.
                            if reader % 3 == 1 { for _ in 0..<200 { await Task.yield() } }
                            if reader % 3 == 2, batches == 1 + reader { break }
                        }
                    }
                    complete.withLock { $0 += next == total + 1 ? 1 : 0 }
                }
            }
        }
        #expect(complete.withLock { $0 } == 12)
        #expect(log.status.problem == nil)
        #expect(log.status.lost == 0)
    }

    @Test func readersGoOnAfterARestartWithNothingMissed() async throws {
        var place: LogCursor?
        var log = ChangeLog(try open())
        append(0..<10, to: log)
        log.flush()
        place = log.newest
        append(10..<700, to: log)
        log.flush()
        let first = log.identity
        log = ChangeLog(try open())
        #expect(log.identity.log == first.log && log.identity.gateway == first.gateway)
        #expect(log.identity.incarnation == first.incarnation + 1)
        append(700..<710, to: log)
        let text = try #require(place?.text)
        let sequence = try #require(await log.resume(text))
        let stream = log.addReader(principal: "owner", after: sequence)
        log.finish()
        var events: [HomeEvent] = []
        while let next = await stream.next() { events += next }
        #expect(numbers(events) == Array(10..<710))
    }

    /// A run that a power cut ended has delivered more than the disk has kept.
    @Test func aCursorOfAnEntryThatTheDiskLostIsNotTakenForItsSuccessor() async throws {
        let first = ChangeLog(try open())
        append(0..<3, to: first)
        first.flush()
        let lost = first.cursor(5).text
        let second = ChangeLog(try open())
        append(3..<9, to: second)
        second.flush()
        #expect(await second.resume(lost) == nil)
        #expect(await second.resume(second.cursor(5).text) == 5)
        #expect(await second.resume(first.cursor(3).text) == 3)
        #expect(await second.resume(first.cursor(4).text) == nil)
    }

    @Test func aHomeThatRestartsTellsReturningWatchersWhatBecameOfItsDevicesAndSessions() async throws {
        let home = MemorySharedStore()
        func makeHub() throws -> HomeHub {
            HomeHub(
                devices: [], drivers: [], signalling: FakeLiveView().services, directory: try HomeDirectory(home),
                log: ChangeLog(try open()),
                now: { Date(timeIntervalSince1970: 1_000) })
        }
        func device(_ id: String) -> DeviceDescription { DeviceDescription(id: id, name: id, kind: .doorbell) }
        let first = try makeHub()
        await first.setDevices([device("door"), device("yard")], drivers: [FakeCamera("door")])
        await first.apply(FakeCamera.flowing, deviceID: "door")
        var events = try await first.changes(principal: "owner").makeAsyncIterator()
        let started = try await first.signalling.views.startLiveView(
            StartLiveViewRequest(deviceID: "door", principal: "owner", offerSdp: "v=0\r\n"))
        while let event = await events.next(), event.name != "session" {}
        let place = first.log.newest.text
        first.log.flush()

        let second = try makeHub()
        await second.setDevices([device("door"), device("porch")], drivers: [FakeCamera("door")])
        let mine = try await second.changes(principal: "owner", after: place)
        let others = try await second.changes(principal: "guest", after: place)
        await second.finishChanges()
        var told: [String] = []
        for await event in mine {
            switch event.change {
            case .session(let change, let session)?:
                #expect(session.session.mediaSessionId == started.mediaSessionId)
                told.append("session \(change)")
            case .device(let device)?: told.append("device \(device.id) \(device.connectivityState)")
            case .deviceAdded(let device)?: told.append("deviceAdded \(device.id)")
            case .deviceRemoved(let id)?: told.append("deviceRemoved \(id)")
            default: told.append(event.name)
            }
        }
        #expect(told == ["session ended", "deviceRemoved yard", "device door unknown", "deviceAdded porch"])
        // The session of another principal stays its secret.
        for await event in others { #expect(event.name != "session") }
    }

    @Test func whatIsTooOldOrTooMuchIsDroppedAndCursorsBeforeItAreRefused() async throws {
        let clock = Locked(Date(timeIntervalSince1970: 1_000))
        let uptime = Locked(Instant.zero)
        var retention = LogRetention()
        retention.stateSeconds = 100
        retention.eventSeconds = 1_000
        let store = try SQLiteLocalStore(
            path: path, retention: retention, now: { clock.withLock { $0 } }, clock: { uptime.withLock { $0 } })
        let log = ChangeLog(store)
        func removed(at seconds: Double) {
            log.append(.deviceRemoved(deviceID: "d"), at: Date(timeIntervalSince1970: seconds))
        }
        removed(at: 1_000)
        append(0..<2, to: log)
        removed(at: 1_150)
        log.flush()
        clock.withLock { $0 = Date(timeIntervalSince1970: 1_200) }
        uptime.withLock { $0 += .seconds(3_600) }
        try store.trim()
        // The first change of state is gone; the events stay.
        #expect(try store.entries(after: 0, limit: 10).map(\.sequence) == [2, 3, 4])
        #expect(await ChangeLog(store).resume("\(log.identity.log)-1-0") == nil)
        #expect(await ChangeLog(store).resume("\(log.identity.log)-1-2") == 2)
        clock.withLock { $0 = Date(timeIntervalSince1970: 2_100) }
        uptime.withLock { $0 += .seconds(3_600) }
        try store.trim()
        #expect(try store.entries(after: 0, limit: 10).isEmpty)
        // Numbers are not given out twice.
        #expect(try store.lastSequence() == 4)
        let again = ChangeLog(try open())
        #expect(again.newest.sequence == 4)
    }

    @Test func `a clock that leaps ahead drops no event until it has stayed there for an hour`() throws {
        let clock = Locked((wall: Date(timeIntervalSince1970: 1_000), uptime: Instant.zero))
        func open() throws -> SQLiteLocalStore {
            try SQLiteLocalStore(
                path: path, now: { clock.withLock { $0.wall } }, clock: { clock.withLock { $0.uptime } })
        }
        let store = try open()
        let log = ChangeLog(store)
        append(0..<2, to: log)
        log.flush()
        clock.withLock { $0.wall += 20 * 365 * 86_400 }
        try store.trim()
        clock.withLock { $0.uptime += .seconds(3_600) }
        try store.trim()
        #expect(try store.entries(after: 0, limit: 10).count == 2)
        // A start does not know what the clock was before.
        #expect(try open().entries(after: 0, limit: 10).count == 2)
        clock.withLock { clock in
            clock.wall += 3_600
            clock.uptime += .seconds(3_600)
        }
        try store.trim()
        #expect(try store.entries(after: 0, limit: 10).isEmpty)
    }

    @Test func theFileIsBoundedInBytes() async throws {
        var retention = LogRetention()
        retention.bytes = 200_000
        let log = ChangeLog(try open(retention))
        append(0..<20_000, to: log)
        log.flush()
        #expect(log.status.problem == nil)
        let store = try open(retention)
        let kept = try store.entries(after: 0, limit: 100_000)
        #expect(kept.last?.sequence == 20_000)
        // The oldest go first, and most of the room stays in use.
        let bytes = kept.reduce(0) { $0 + $1.size }
        #expect(bytes <= retention.bytes && bytes > retention.bytes * 7 / 8)
        #expect(kept.map(\.sequence) == Array((20_001 - Int64(kept.count))...20_000))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(try #require(attributes[.size] as? Int) < 4 * retention.bytes)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a reader returns after an hour with many changes and misses nothing`() async throws {
        // Fifty changes a second of devices of the usual size, on a clock that the test moves.
        let (rate, size) = (50, 1_229)
        let clock = Locked(Date(timeIntervalSince1970: 1_000))
        let store = try SQLiteLocalStore(path: path, now: { clock.withLock { $0 } })
        let data = String(repeating: "x", count: size - 64 - "device".utf8.count - "device/d".utf8.count)
        var sequence: Int64 = 0
        func append(_ count: Int) throws {
            let now = clock.withLock { $0 }
            try store.append(
                (0..<count).map { _ in
                    sequence += 1
                    return LogEntry(
                        sequence: sequence, incarnation: store.identity.incarnation, timestamp: now, name: "device",
                        subject: "device/d", effect: .replaces, data: data)
                })
        }
        // The log is full before the reader leaves.
        for _ in 0..<30 {
            try append(8 * 1_024)
            clock.withLock { $0 += 164 }
        }
        let place = sequence
        for _ in 0..<360 {
            try append(10 * rate)
            clock.withLock { $0 += 10 }
        }
        #expect(try store.isComplete(after: place, incarnation: store.identity.incarnation))
        #expect(try store.entries(after: place, limit: .max).count == 3_600 * rate)
        // A reader that was away for longer than fits gets the whole state, and no wrong answer.
        #expect(try !store.isComplete(after: place - 200_000, incarnation: store.identity.incarnation))
    }

    @Test(arguments: ["garbage", "header", "middle"]) func aDamagedFileGoesAsideAndANewLogBegins(kind: String)
        async throws
    {
        var log = ChangeLog(try open())
        append(0..<2_000, to: log)
        log.flush()
        let place = log.newest.text
        let identity = log.identity
        // Closes the file, so that all of it is in its place.
        log = ChangeLog()
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        switch kind {
        case "garbage": bytes = Array("this is not a database, but it is long enough to be one\n".utf8)
        case "header": for index in 0..<100 { bytes[index] = 0xAA }
        default:
            try #require(bytes.count > 12_000)
            for index in 4_096..<12_000 { bytes[index] = UInt8(truncatingIfNeeded: index &* 7) }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let store = try open()
        let aside = try #require(store.damaged)
        #expect(FileManager.default.fileExists(atPath: aside))
        let again = ChangeLog(store)
        #expect(again.identity.log != identity.log)
        #expect(await again.resume(place) == nil)
        append(0..<3, to: again)
        again.flush()
        #expect(again.status.problem == nil && again.status.written == 3)
    }

    @Test func aFailingStoreIsReportedOnceAndDoesNotStopTheReaders() async throws {
        let store = FailingStore()
        let reports = Locked<[String?]>([])
        let log = ChangeLog(store) { status in reports.withLock { $0.append(status.problem) } }
        let stream = log.addReader(principal: "owner", after: 0)
        append(0..<10, to: log)
        log.flush()
        store.isFailing.withLock { $0 = true }
        append(10..<20, to: log)
        log.flush()
        #expect(log.status.waiting == 10)
        #expect(log.status.problem == "store: the disk is full")
        append(20..<30, to: log)
        log.flush()
        var events: [HomeEvent] = []
        while events.count < 30, let next = await stream.next() { events += next }
        #expect(numbers(events) == Array(0..<30))
        // A reader that comes during the outage goes on in memory.
        #expect(await log.resume(log.cursor(15).text) == 15)
        store.isFailing.withLock { $0 = false }
        log.flush()
        #expect(log.status.problem == nil && log.status.waiting == 0 && log.status.lost == 0)
        #expect(store.memory.entries(after: 0, limit: 100).count == 30)
        #expect(reports.withLock { $0 } == ["store: the disk is full", nil])
    }

    @Test func aLongOutageIsBoundedAndWhatIsLostIsCounted() async throws {
        let store = FailingStore()
        store.isFailing.withLock { $0 = true }
        let log = ChangeLog(store)
        append(0..<120_000, to: log)
        log.flush()
        let lost = log.status.lost
        #expect(lost > 0)
        store.isFailing.withLock { $0 = false }
        log.flush()
        #expect(log.status.waiting == 0 && log.status.lost == lost)
        let kept = store.memory.entries(after: 0, limit: .max)
        #expect(kept.map(\.sequence) == Array(Int64(lost) + 1...120_000))
        let bytes = kept.reduce(0) { $0 + $1.size }
        #expect(bytes <= ChangeLog.maximumWaiting && bytes > ChangeLog.maximumWaiting * 9 / 10)
    }

    @Test func `what a failing store lacks can be read as long as it waits`() async throws {
        let store = FailingStore()
        let log = ChangeLog(store)
        let reader = log.addReader(principal: "owner", after: 0)
        store.isFailing.withLock { $0 = true }
        // Fewer entries than the newest part holds, and more bytes.
        let text = String(repeating: "x", count: 20_000)
        for number in 0..<400 {
            log.append(
                .alarm(.init(.recordingStopped, .occurred, of: "\(number)", reason: text, at: Date())), at: Date())
        }
        log.flush()
        var events: [HomeEvent] = []
        while events.count < 400, let next = await reader.next() { events += next }
        #expect(events.count == 400 && !events.contains { $0.name == "missed" })
    }

    @Test func `a store that does not answer is reported, and what waits for it is bounded in bytes`() async throws {
        let store = FailingStore()
        let reports = Locked<[String?]>([])
        let log = ChangeLog(store) { status in reports.withLock { $0.append(status.problem) } }
        let reader = log.addReader(principal: "owner", after: 0)
        append(0..<1, to: log)
        log.flush()
        _ = await reader.next()
        store.hold()
        append(1..<2, to: log)
        store.waitUntilHeld()
        let total = ChangeLog.maximumPending / 1_000
        let text = String(repeating: "x", count: 1_000)
        for _ in 0..<2 * total {
            log.append(.alarm(.init(.recordingStopped, .occurred, reason: text, at: Date())), at: Date())
        }
        let status = log.status
        #expect(status.problem == ChangeLog.silence)
        #expect(reports.withLock { $0.count } == 1)
        #expect(Int(status.lost) > total / 2 && status.waiting < total && status.waiting > total / 2)
        store.release()
        log.flush()
        #expect(log.status.problem == nil)
        #expect(reports.withLock { $0.count } == 2 && log.status.lost == status.lost)
        // The reader learns that something is missing, and does not get what came later as if nothing were.
        var names: [String] = []
        while let events = await reader.next() { names += events.map(\.name) }
        #expect(names.last == "missed" && !names.contains("alarm"), "\(names)")
    }

    @Test func aFullDiskIsReportedByItsName() throws {
        let store = try open()
        try store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 40") }
        let log = ChangeLog(store)
        append(0..<20_000, to: log)
        log.flush()
        #expect(log.status.problem?.contains("the disk is full") == true, "\(log.status)")
    }

    @Test func theHomeAndItsObjectsAreKeptAndChangedByCompareAndSet() throws {
        let path = folder.path + "/shared.sqlite"
        let store = try SQLiteSharedStore(path: path)
        #expect(try store.object("room", "hall") == nil)
        #expect(try store.write("room", "hall", "{}", expecting: 0) == 1)
        #expect(try store.write("room", "hall", "{}", expecting: 0) == nil)
        #expect(try store.write("room", "hall", #"{"name":"Hall"}"#, expecting: 1) == 2)
        #expect(try store.write("room", "hall", "{}", expecting: 1) == nil)
        let again = try SQLiteSharedStore(path: path)
        #expect(again.home == store.home && !store.home.isEmpty)
        #expect(try again.objects("room") == [SharedObject(id: "hall", version: 2, body: #"{"name":"Hall"}"#)])
    }
}
