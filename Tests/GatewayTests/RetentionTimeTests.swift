import Foundation
import Logging
import PushAvStreamTransport
import Testing
import Transport

@testable import Gateway

/// The time by which recordings grow old, from run to run.
@Suite struct RetentionTimeTests {
    private static let start: Int64 = 1_763_900_000_000
    private static let hour: Int64 = 3_600_000
    private static let year = 365 * 24 * hour

    private let folder: TemporaryFolder
    private let log = LogLines()

    init() throws { folder = try TemporaryFolder() }

    private func begin() -> RetentionTime { RetentionTime(in: folder.directory, logger: log.logger) }

    private func reading(hours: Int64, ahead: Int64 = 0) -> RetentionClock.Reading {
        RetentionClock.Reading(
            wall: Self.start + hours * Self.hour + ahead,
            uptime: Instant(nanoseconds: hours * Self.hour * 1_000_000), isSynchronized: false)
    }

    @Test func `a clock that leaps while the gateway is off makes nothing old`() {
        let first = begin()
        #expect(first.now(at: reading(hours: 0)) == Self.start)
        #expect(first.now(at: reading(hours: 1)) == Self.start + Self.hour)
        #expect(log.lines.isEmpty)
        let second = begin()
        #expect(second.now(at: reading(hours: 2, ahead: Self.year)) == Self.start + Self.hour)
        #expect(log.lines.map(\.level) == [.warning])
        // A run after that still knows the time that counted.
        #expect(begin().now(at: reading(hours: 3, ahead: Self.year)) == Self.start + Self.hour)
    }

    @Test func `a leap counts after a day of running, in however many runs`() {
        _ = begin().now(at: reading(hours: 0))
        var times: [Int64] = []
        for day: Int64 in 0..<3 {
            // The machine is off for the other sixteen hours.
            let time = begin()
            times = (Int64(0)...8).map { hour in time.now(at: reading(hours: 1 + day * 24 + hour, ahead: Self.year)) }
        }
        let end = reading(hours: 57, ahead: Self.year).wall
        #expect(Array(times.suffix(2)) == [Self.start + 55 * Self.hour, end])
        #expect(log.lines.map(\.level) == [.warning, .notice])
    }

    @Test func `recordings grow old on a machine that is off every night`() {
        for day: Int64 in 0..<10 {
            let time = begin()
            for hours in [day * 24, day * 24 + 10] {
                #expect(time.now(at: reading(hours: hours)) == reading(hours: hours).wall)
            }
        }
        #expect(log.lines.isEmpty)
    }

    @Test func `a leap and its end are reported once each`() {
        let time = begin()
        _ = time.now(at: reading(hours: 0))
        for hours: Int64 in 1...10 { _ = time.now(at: reading(hours: hours, ahead: Self.year)) }
        #expect(log.lines.map(\.level) == [.warning])
        for hours: Int64 in 11...20 { _ = time.now(at: reading(hours: hours)) }
        #expect(log.lines.map(\.level) == [.warning, .notice])
    }

    @Test func `the time is written once an hour`() throws {
        let time = begin()
        let file = folder.directory.file(RetentionTime.fileName)
        func written() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }
        _ = time.now(at: reading(hours: 0))
        #expect(try written() == #"{"doubted":0,"lead":0,"time":\#(Self.start)}"#)
        for minutes: Int64 in 1..<60 {
            let moment = RetentionClock.Reading(
                wall: Self.start + minutes * 60_000, uptime: Instant(nanoseconds: minutes * 60_000_000_000),
                isSynchronized: false)
            _ = time.now(at: moment)
        }
        #expect(try written() == #"{"doubted":0,"lead":0,"time":\#(Self.start)}"#)
        _ = time.now(at: reading(hours: 1))
        #expect(try written() == #"{"doubted":0,"lead":0,"time":\#(Self.start + Self.hour)}"#)
    }

    @Test func `a damaged file is reported and set aside, and another one takes its place`() throws {
        try folder.directory.writePrivate(RetentionTime.fileName, "{")
        #expect(begin().now(at: reading(hours: 5)) == Self.start + 5 * Self.hour)
        #expect(log.lines.map(\.level) == [.warning])
        #expect(begin().now(at: reading(hours: 6, ahead: Self.year)) == Self.start + 5 * Self.hour)
    }

    @Test func `a file that cannot be read is reported and kept`() throws {
        _ = begin().now(at: reading(hours: 0))
        let file = folder.directory.file(RetentionTime.fileName)
        // Others may change it, so the gateway does not trust it.
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
        #expect(begin().now(at: reading(hours: 50)) == reading(hours: 50).wall)
        #expect(log.lines.map(\.level) == [.warning])
        #expect(try String(contentsOfFile: file, encoding: .utf8) == #"{"doubted":0,"lead":0,"time":\#(Self.start)}"#)
    }
}
