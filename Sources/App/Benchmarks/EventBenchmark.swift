import DatagramPort
import Foundation
import HomeHub
import HomeTypes
import Transport

/// How fast the change log is.
public struct EventMeasurement: Codable, Hashable, Sendable {
    /// How many streams read.
    public var streams: Int
    /// How many changes each of them got.
    public var changes: Int
    /// From a change to its reader, in microseconds: half of all readers of all changes waited less.
    public var p50Microseconds: Double
    /// 99 of 100 waited less.
    public var p99Microseconds: Double
}

/// Measures the change log of a home: how many changes a second its store takes, and how long a change takes to its
/// readers, which read inside the process. HTTP is not part of it.
public struct EventBenchmark: Sendable {
    private let folder: String

    /// Measures in a folder, which holds the log's file.
    public init(folder: String) {
        self.folder = folder
    }

    private func open(_ name: String) throws -> ChangeLog {
        ChangeLog(try SQLiteLocalStore(path: "\(folder)/\(name).sqlite"))
    }

    private func press(_ log: ChangeLog, _ number: Int) {
        log.append(
            .doorbellPressed(deviceID: "front-door", at: Date(), .init(priority: Int64(number))), at: Date())
    }

    /// How many changes a second the store takes, each with its JSON, from the first to the last that is on disk.
    public func changesPerSecond(of count: Int) throws -> Double {
        let log = try open("rate")
        let start = MonotonicClock.now
        for number in 0..<count { press(log, number) }
        log.flush()
        if let problem = log.status.problem { throw BenchmarkFailure(problem) }
        return Double(count) / (Double((MonotonicClock.now - start).wholeNanoseconds) / 1e9)
    }

    /// How long changes take to a number of readers, one change every five milliseconds.
    public func delays(streams: Int, changes: Int) async throws -> EventMeasurement {
        let log = try open("delays-\(streams)")
        let starts = Locked([Instant](repeating: MonotonicClock.now, count: changes + 1))
        let first = log.newest.sequence
        let readers = (0..<streams).map { _ in log.addReader(principal: "owner", after: first) }
        let delays = await withTaskGroup(of: [Double].self) { group in
            for reader in readers {
                group.addTask {
                    var delays: [Double] = []
                    while delays.count < changes, let events = await reader.next() {
                        let now = MonotonicClock.now
                        for event in events {
                            guard let number = Int(event.id.split(separator: "-").last ?? "") else { continue }
                            let start = starts.withLock { $0[number - Int(first)] }
                            delays.append(Double((now - start).wholeNanoseconds) / 1e3)
                        }
                    }
                    return delays
                }
            }
            for number in 1...changes {
                try? await Task.sleep(for: .milliseconds(5))
                starts.withLock { $0[number] = MonotonicClock.now }
                press(log, number)
            }
            return await group.reduce(into: [Double]()) { $0 += $1 }.sorted()
        }
        guard !delays.isEmpty else { throw BenchmarkFailure("no reader got a change") }
        return EventMeasurement(
            streams: streams, changes: changes, p50Microseconds: delays[delays.count / 2],
            p99Microseconds: delays[delays.count * 99 / 100])
    }

    /// Adds changes without end and hands the number of each to `onRead` once a reader has it, until the process is
    /// ended from outside. What was handed out must then be in the file.
    public func run(onRead: (Int64) -> Void) async throws {
        let log = try open("endless")
        let reader = log.addReader(principal: "owner", after: log.newest.sequence)
        let writer = Task.detached {
            var number = 0
            while !Task.isCancelled {
                for _ in 0..<50 {
                    number += 1
                    press(log, number)
                }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        defer { writer.cancel() }
        while let events = await reader.next() {
            for event in events { if let number = Int64(event.id.split(separator: "-").last ?? "") { onRead(number) } }
        }
    }
}
