import Dispatch
import Foundation
import Glibc
import HomeTypes
import Transport

/// Keeps events for later runs: a file in the state folder to which a line of JSON is added for each. When it has grown
/// to its limit, it becomes the file before it, and a new one begins; so at most twice the limit is kept.
final class EventJournal: Sendable {
    /// The file in the state folder.
    static let fileName = "events.jsonl"
    /// The size at which the file is put aside, in bytes.
    static let maximumSize = 512 * 1024

    private let directory: StateDirectory
    private let queue = DispatchQueue(label: "event journal")
    private let failure = Locked<String?>(nil)

    /// A journal in a state folder.
    init(directory: StateDirectory) {
        self.directory = directory
    }

    /// The events of earlier runs, oldest first. A line that cannot be read, such as one that a power cut left
    /// unfinished, is passed over.
    func read() -> [DeviceEvent] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        var events: [DeviceEvent] = []
        for name in [Self.fileName + ".old", Self.fileName] {
            guard let text = try? self.directory.readPrivate(name) else { continue }
            for line in text.split(separator: "\n") {
                if let event = try? decoder.decode(DeviceEvent.self, from: Data(line.utf8)) { events.append(event) }
            }
        }
        return events
    }

    /// Adds an event, soon and on another thread.
    func append(_ event: DeviceEvent) {
        self.queue.async { self.write(event) }
    }

    /// Returns when everything is written.
    func flush() {
        self.queue.sync {}
    }

    /// Why events are not kept, in words; nil while they are.
    var problem: String? { self.failure.withLock { $0 } }

    private func write(_ event: DeviceEvent) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var data = try? encoder.encode(event) else { return }
        data.append(0x0A)
        let path = self.directory.file(Self.fileName)
        do {
            try self.directory.create()
        } catch {
            return self.failure.withLock { $0 = "\(error)" }
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let reason = "\(path) cannot be written: \(String(cString: strerror(errno)))"
            return self.failure.withLock { $0 = reason }
        }
        let count = data.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        let size = lseek(descriptor, 0, SEEK_END)
        close(descriptor)
        if size >= Self.maximumSize { rename(path, path + ".old") }
        let isWritten = count == data.count
        self.failure.withLock { $0 = isWritten ? nil : "\(path) cannot be written: is the disk full?" }
    }
}
