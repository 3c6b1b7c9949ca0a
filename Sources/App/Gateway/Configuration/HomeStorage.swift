import Foundation
import Glibc
import HomeHub
import HomeTypes
import Logging

/// The home's files in the state folder: the change log of this gateway, and what exists in the home.
///
/// A file that cannot be used does not stop the gateway. The log is then kept in memory, and the log file and the
/// metrics say so.
struct HomeStorage: Sendable {
    /// Where gateways before this one kept events: one line of JSON for each.
    static let journalName = "events.jsonl"

    /// The change log.
    let log: ChangeLog
    /// What exists in the home; nil when its file cannot be used.
    let shared: SQLiteSharedStore?
    /// Whether an earlier run has kept what exists in the home, and this one cannot read it.
    let hasLostSharedState: Bool
    /// What happened; nil when the config switches it off.
    let history: History?
    /// The runs of automations; in memory when their file cannot be used.
    let runs: any RunStore
    private let local: SQLiteLocalStore?
    /// Why the log is only in memory; nil when it is in its file.
    private let problem: String?

    /// Opens the files, and adopts the events of an earlier gateway's journal once.
    init(
        directory: StateDirectory, history section: GatewayConfiguration.History? = .init(),
        events: GatewayConfiguration.Events = .init(), logger: Logger
    ) {
        var failures: [String] = []
        func open<Store>(_ name: String, _ open: (String) throws -> Store, damaged: (Store) -> String?) -> Store? {
            do {
                try directory.create()
                try directory.checkPrivateFile(name)
                let store = try open(directory.file(name))
                if let aside = damaged(store) {
                    logger.error(
                        "a damaged file was put aside, and a new one was started",
                        metadata: ["file": "\(directory.file(name))", "aside": "\(aside)"])
                }
                return store
            } catch {
                logger.error(
                    "the home's file cannot be used; what it would keep is lost when the gateway stops",
                    metadata: ["reason": "\(error)"])
                failures.append("\(error)")
                return nil
            }
        }
        var retention = LogRetention()
        retention.bytes = events.megabytes << 20
        let local = open(
            SQLiteLocalStore.fileName, { try SQLiteLocalStore(path: $0, retention: retention) }, damaged: { $0.damaged }
        )
        self.local = local
        self.problem = failures.first
        let wasThere = FileManager.default.fileExists(atPath: directory.file(SQLiteSharedStore.fileName))
        let shared = open(SQLiteSharedStore.fileName, { try SQLiteSharedStore(path: $0) }, damaged: { $0.damaged })
        self.shared = shared
        self.hasLostSharedState = wasThere && (shared == nil || shared?.damaged != nil)
        self.history = section.flatMap { section in
            let retention = HistoryRetention(days: section.days, megabytes: section.megabytes)
            let report: @Sendable (History.Status) -> Void = { Self.log($0, logger) }
            return open(
                History.fileName, { try History(path: $0, retention: retention, report: report) },
                damaged: { $0.damaged })
                ?? (try? History(retention: retention, report: report))
        }
        self.runs =
            open(SQLiteRunStore.fileName, { try SQLiteRunStore(path: $0) }, damaged: { $0.damaged })
            ?? MemoryRunStore()
        let log = ChangeLog(local ?? MemoryStore()) { status in
            if let problem = status.problem {
                logger.error(
                    "changes cannot be written; the latest wait until they can",
                    metadata: ["reason": "\(problem)"])
            } else {
                logger.notice("changes can be written again", metadata: ["lostSinceStart": "\(status.lost)"])
            }
        }
        self.log = log
        if local != nil { Self.adoptJournal(in: directory, into: log, logger: logger) }
        logger.info(
            "home is open",
            metadata: [
                "home": "\(self.shared?.home ?? "unknown")", "gateway": "\(log.identity.gateway)",
                "incarnation": "\(log.identity.incarnation)",
            ])
    }

    private static func log(_ status: History.Status, _ logger: Logger) {
        if let problem = status.problem {
            logger.error(
                "the history cannot be written; its latest items wait until it can",
                metadata: ["reason": "\(problem)"])
        } else {
            logger.notice("the history can be written again", metadata: ["lostSinceStart": "\(status.lost)"])
        }
    }

    /// The structures, rooms and devices; only in memory if their file cannot be used.
    func directory(names: DeviceNames, logger: Logger) -> HomeDirectory {
        guard let shared else { return HomeDirectory(names: names) }
        do throws(StoreFailure) {
            return try HomeDirectory(shared, names: names)
        } catch {
            logger.error(
                "the home's structures and devices cannot be read; what is changed now is lost when the gateway stops",
                metadata: ["reason": "\(error)"])
            return HomeDirectory(names: names)
        }
    }

    /// Whether an earlier version of the gateway kept something under the key of a device: its connections, recordings,
    /// events or state. Without a file of the home every device is known, so that its recordings stay together.
    /// - Parameter recordings: the folder of the recordings.
    func isKnown(recordings: String) -> @Sendable (_ key: String) -> Bool {
        { [shared, local] key in
            guard let shared else { return true }
            if (try? shared.object(SharedConnectionStorage.kind, key)) != nil { return true }
            if FileManager.default.fileExists(atPath: "\(recordings)/\(key)") { return true }
            guard let local else { return false }
            let subject = HomeChange.subject(ofDevice: key)
            let events = try? local.events(of: subject, since: nil, after: nil, limit: 1)
            return events?.isEmpty == false || (try? local.state())?.contains { $0.subject == subject } == true
        }
    }

    /// Why changes are not kept, in words; nil while they are.
    var failure: String? { problem ?? log.status.problem }

    /// The storage's metrics for Prometheus.
    var metrics: [MetricFamily] {
        let status = log.status
        return [
            MetricFamily(
                name: "gatehouse_event_journal_failing", help: "1 while changes and events cannot be written.",
                kind: .gauge, samples: [.init(failure == nil ? 0 : 1)]),
            MetricFamily(
                name: "gatehouse_event_journal_waiting", help: "Changes and events that wait to be written.",
                kind: .gauge, samples: [.init(Double(status.waiting))]),
            MetricFamily(
                name: "gatehouse_event_journal_lost_total",
                help: "Changes and events that were dropped before they were written.",
                kind: .counter, samples: [.init(Double(status.lost))]),
            MetricFamily(
                name: "gatehouse_event_journal_written_total", help: "Changes and events that were written.",
                kind: .counter, samples: [.init(Double(status.written))]),
        ] + historyMetrics
    }

    private var historyMetrics: [MetricFamily] {
        guard let status = history?.status else { return [] }
        return [
            MetricFamily(
                name: "gatehouse_history_failing", help: "1 while the history cannot be written.", kind: .gauge,
                samples: [.init(status.problem == nil ? 0 : 1)]),
            MetricFamily(
                name: "gatehouse_history_items", help: "Items of the history.", kind: .gauge,
                samples: [.init(Double(status.items))]),
            MetricFamily(
                name: "gatehouse_history_lost_total",
                help: "Items of the history that were dropped before they were written.",
                kind: .counter, samples: [.init(Double(status.lost))]),
        ]
    }

    /// Takes over the events that an earlier gateway kept in files, oldest first. The files then get another name. A line
    /// that cannot be read, such as one that a power cut left unfinished, is skipped.
    private static func adoptJournal(in directory: StateDirectory, into log: ChangeLog, logger: Logger) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        var events: [DeviceEvent] = []
        let names = [Self.journalName + ".old", Self.journalName]
        for name in names {
            do {
                for line in (try directory.readPrivate(name) ?? "").split(separator: "\n") {
                    if let event = try? decoder.decode(DeviceEvent.self, from: Data(line.utf8)) { events.append(event) }
                }
            } catch {
                logger.warning("the events of earlier runs cannot be read", metadata: ["reason": "\(error)"])
            }
        }
        guard !events.isEmpty else { return }
        log.adopt(events)
        log.flush()
        // As long as they are not in the log, the next start tries again.
        guard log.status.problem == nil else { return }
        for name in names { rename(directory.file(name), directory.file(name) + ".imported") }
        logger.notice("events of an earlier gateway were imported", metadata: ["events": "\(events.count)"])
    }
}

extension StateDirectory {
    /// Fails unless a file is missing, or is regular and belongs only to its owner.
    func checkPrivateFile(_ name: String) throws(Failure) {
        let path = file(name)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            let isLink = errno == ELOOP
            throw Failure(
                path: path,
                reason: isLink
                    ? "is a symbolic link; put the file itself in its place"
                    : "cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        try checkPrivate(descriptor, path)
    }
}
