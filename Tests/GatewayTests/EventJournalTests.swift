import Foundation
import HomeTypes
import Logging
import Testing
import Transport

@testable import Gateway

/// The journal when something goes wrong with its file.
@Suite struct EventJournalTests {
    let folder: TemporaryFolder
    let log = LogLines()

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.directory.create()
    }

    private var path: String { self.folder.directory.file(EventJournal.fileName) }

    private func journal() -> EventJournal { EventJournal(directory: self.folder.directory, logger: self.log.logger) }

    private func event(_ index: Int) -> DeviceEvent {
        DeviceEvent(
            id: "r-\(index)", deviceID: "door", at: Date(timeIntervalSince1970: 1000.25 + Double(index)),
            DetectionEvent(kind: .person, phase: .began, eventSessionId: "\(index)"))
    }

    private func write(_ text: String) throws {
        try self.folder.directory.writePrivate(EventJournal.fileName, text)
    }

    private func text() throws -> String { try #require(try self.folder.directory.readPrivate(EventJournal.fileName)) }

    /// What an interrupted write may have left of the event 0, each with whether the event can be read.
    @Test func theEventAfterAHalfWrittenLineIsKept() throws {
        let first = self.journal()
        first.append(self.event(0))
        first.flush()
        let line = try self.text()
        for length in 0...line.utf8.count {
            try self.write(String(decoding: line.utf8.prefix(length), as: UTF8.self))
            let journal = self.journal()
            journal.append(self.event(1))
            journal.append(self.event(2))
            journal.flush()
            // A line that lacks its end alone is whole.
            let isWhole = length >= line.utf8.count - 1
            #expect(self.journal().read() == (isWhole ? [0, 1, 2] : [1, 2]).map(self.event), "\(length) bytes")
        }
        // What some file systems leave after a power cut.
        try self.write(line + String(repeating: "\0", count: 700))
        let journal = self.journal()
        journal.append(self.event(1))
        journal.flush()
        #expect(self.journal().read() == [0, 1].map(self.event))
        #expect(self.log.lines.isEmpty)
    }

    @Test func anOutageIsToldOnceAndItsEventsAreWrittenDownAfterIt() throws {
        let journal = self.journal()
        // A folder in the place of the file: also root cannot write to it.
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: false)
        for index in 0..<5 { journal.append(self.event(index)) }
        journal.flush()
        #expect(journal.problem != nil)
        #expect(self.value(journal, "gatehouse_event_journal_failing") == 1)
        #expect(self.value(journal, "gatehouse_event_journal_waiting") == 5)
        #expect(self.log.lines.map(\.level) == [.error])
        try FileManager.default.removeItem(atPath: self.path)
        journal.append(self.event(5))
        journal.flush()
        #expect(journal.problem == nil)
        #expect(self.value(journal, "gatehouse_event_journal_failing") == 0)
        #expect(self.value(journal, "gatehouse_event_journal_lost_total") == 0)
        #expect(self.log.lines.map(\.level) == [.error, .notice])
        #expect(self.journal().read() == (0...5).map(self.event))
        // The next outage is told again.
        try FileManager.default.removeItem(atPath: self.path)
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: false)
        journal.append(self.event(6))
        journal.flush()
        #expect(self.log.lines.map(\.level) == [.error, .notice, .error])
    }

    @Test func aLongOutageIsBoundedAndWhatIsLostIsCounted() throws {
        let journal = self.journal()
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: false)
        let total = EventJournal.maximumWaiting + 44
        for index in 0..<total { journal.append(self.event(index)) }
        journal.flush()
        #expect(self.value(journal, "gatehouse_event_journal_waiting") == Double(EventJournal.maximumWaiting))
        #expect(self.value(journal, "gatehouse_event_journal_lost_total") == 44)
        try FileManager.default.removeItem(atPath: self.path)
        journal.flush()
        #expect(self.journal().read() == (44..<total).map(self.event))
        #expect(self.log.lines.count == 2)
    }

    @Test(arguments: ["fifo", "link", "readable"]) func noOtherFileIsWrittenTo(kind: String) throws {
        let target = self.folder.path + "/elsewhere"
        switch kind {
        case "fifo": #expect(mkfifo(self.path, 0o600) == 0)
        case "link":
            try Data("precious\n".utf8).write(to: URL(fileURLWithPath: target))
            try FileManager.default.createSymbolicLink(atPath: self.path, withDestinationPath: target)
        default:
            try self.write("")
            #expect(chmod(self.path, 0o644) == 0)
        }
        let journal = self.journal()
        #expect(journal.read().isEmpty)
        journal.append(self.event(0))
        journal.flush()
        #expect(journal.problem != nil)
        if kind == "link" { #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious\n") }
    }

    private func value(_ journal: EventJournal, _ name: String) -> Double? {
        journal.metrics.first { $0.name == name }?.samples.first?.value
    }
}

/// What was logged.
final class LogLines: Sendable {
    struct Line: Sendable, Equatable {
        let level: Logger.Level
        let message: String
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            self.lines.all.withLock { $0.append(Line(level: event.level, message: "\(event.message)")) }
        }
    }

    private let all = Locked<[Line]>([])

    var lines: [Line] { self.all.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }
}
