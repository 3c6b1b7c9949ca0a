import Dispatch
import Foundation
import Glibc
import HomeTypes
import Logging
import Transport

/// Keeps events for later runs, in a file in the state folder with one line of JSON for each. When the file has grown
/// to its limit, it replaces the previous file, and a new one begins. At most twice the limit is kept.
///
/// While the file cannot be written, the latest events wait. The log reports when that begins and ends, and metrics
/// show it while it lasts.
final class EventJournal: Sendable {
    /// The file in the state folder.
    static let fileName = "events.jsonl"
    /// The size in bytes at which a new file begins.
    static let maximumSize = 512 * 1024
    /// How many events wait while the file cannot be written; older ones are dropped.
    static let maximumWaiting = 256

    /// The state of the journal.
    struct State: Sendable, Equatable {
        /// Why events are not kept, in words; nil while they are.
        var problem: String?
        /// How many events were lost in total.
        var lost: UInt64 = 0
        /// Lines that are not in the file yet, oldest first.
        var waiting: [Data] = []
    }

    private let directory: StateDirectory
    private let logger: Logger
    private let queue = DispatchQueue(label: "event journal")
    private let state = Locked(State())

    /// A journal in a state folder.
    init(directory: StateDirectory, logger: Logger) {
        self.directory = directory
        self.logger = logger
    }

    /// The events of earlier runs, oldest first. A line that cannot be read, such as one that a power cut left
    /// unfinished, is skipped.
    func read() -> [DeviceEvent] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        var events: [DeviceEvent] = []
        for name in [Self.fileName + ".old", Self.fileName] {
            let text: String?
            do {
                text = try self.directory.readPrivate(name)
            } catch {
                self.logger.warning(
                    "the events of earlier runs cannot be read", metadata: ["reason": "\(error)"])
                continue
            }
            for line in (text ?? "").split(separator: "\n") {
                if let event = try? decoder.decode(DeviceEvent.self, from: Data(line.utf8)) { events.append(event) }
            }
        }
        return events
    }

    /// Adds an event soon, on another thread.
    func append(_ event: DeviceEvent) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var data = try? encoder.encode(event) else { return }
        data.append(0x0A)
        let line = data
        self.queue.async { self.take(line) }
    }

    /// Returns when everything is written, or a write was tried.
    func flush() {
        self.queue.sync { if !self.state.withLock({ $0.waiting.isEmpty }) { self.writeWaiting() } }
    }

    /// Why events are not kept, in words; nil while they are.
    var problem: String? { self.state.withLock { $0.problem } }

    /// The journal's metrics for Prometheus.
    var metrics: [MetricFamily] {
        let state = self.state.withLock { $0 }
        return [
            MetricFamily(
                name: "gatehouse_event_journal_failing", help: "1 while events cannot be written down.", kind: .gauge,
                samples: [.init(state.problem == nil ? 0 : 1)]),
            MetricFamily(
                name: "gatehouse_event_journal_waiting", help: "Events that wait to be written down.", kind: .gauge,
                samples: [.init(Double(state.waiting.count))]),
            MetricFamily(
                name: "gatehouse_event_journal_lost_total", help: "Events that were never written down.",
                kind: .counter, samples: [.init(Double(state.lost))]),
        ]
    }

    private func take(_ line: Data) {
        self.state.withLock { state in
            state.waiting.append(line)
            if state.waiting.count > Self.maximumWaiting {
                state.waiting.removeFirst()
                state.lost += 1
            }
        }
        self.writeWaiting()
    }

    /// Writes the waiting lines in order, as far as that works. It runs on the queue, so nothing else removes lines
    /// from the front.
    private func writeWaiting() {
        do throws(StateDirectory.Failure) {
            while let line = self.state.withLock({ $0.waiting.first }) {
                try self.write(line)
                self.state.withLock { _ = $0.waiting.removeFirst() }
            }
            self.note(nil)
        } catch {
            self.note("\(error)")
        }
    }

    /// Logs the first failure, and the first success after it.
    private func note(_ problem: String?) {
        let (before, lost) = self.state.withLock { state in
            defer { state.problem = problem }
            return (state.problem, state.lost)
        }
        switch (before, problem) {
        case (nil, let problem?):
            self.logger.error(
                "events cannot be written down, and the latest wait until they can",
                metadata: ["reason": "\(problem)"])
        case (_?, nil):
            self.logger.notice("events are written down again", metadata: ["lostSinceStart": "\(lost)"])
        case (nil, nil), (_?, _?): break
        }
    }

    private func write(_ line: Data) throws(StateDirectory.Failure) {
        let path = self.directory.file(Self.fileName)
        try self.directory.create()
        // A FIFO in its place must not block.
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw .init(path: path, reason: "cannot be written: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        let size = try self.directory.checkPrivate(descriptor, path)
        // Ends a line that a power cut or a full disk left unfinished, so that it does not spoil the next one. The line
        // may also be complete except for its end, so it is not cut off.
        var data = line
        if size > 0 {
            var last: UInt8 = 0
            if pread(descriptor, &last, 1, off_t(size - 1)) == 1, last != 0x0A {
                data.insert(0x0A, at: data.startIndex)
            }
        }
        let count = data.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count == data.count else {
            let reason = count < 0 ? String(cString: strerror(errno)) : "the disk is full"
            // Removes the half line that was written.
            _ = ftruncate(descriptor, off_t(size))
            throw .init(path: path, reason: "cannot be written: \(reason)")
        }
        if size + count >= Self.maximumSize { rename(path, path + ".old") }
    }
}
