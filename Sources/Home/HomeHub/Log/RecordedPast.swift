import Foundation
import HomeTypes

/// What the change log has about some devices and structures, in the form that observers receive.
public struct RecordedPast: Sendable {
    /// A change with its time.
    public struct Happening: Sendable {
        /// When it was, by the gateway's clock.
        public var at: Date
        /// What it was.
        public var observation: HomeObservation
    }

    /// The last state of each device and structure before the beginning, as far as the log has it.
    public var before: [HomeObservation] = []
    /// What happened afterwards, oldest first.
    public var happenings: [Happening] = []
    /// The time of the oldest change of any device that the log still has; nil for an empty log.
    public var oldest: Date?
    /// Whether later changes were left out, because there are too many.
    public var isCut = false

    /// What the log has states of, by the subjects of its entries.
    fileprivate var known: Set<String> = []
    /// The last entry of each state before the beginning.
    private var states: [String: LogEntry] = [:]

    /// Adds an entry about one of the devices and structures.
    fileprivate mutating func add(_ entry: LogEntry, from: Date, limit: Int) {
        if entry.effect != nil { known.insert(entry.subject) }
        guard entry.timestamp >= from else {
            // An event leaves no state.
            if let effect = entry.effect { states[entry.subject] = effect == .replaces ? entry : nil }
            return
        }
        guard happenings.count < limit else {
            isCut = true
            return
        }
        guard let observation = Self.read(entry) else { return }
        happenings.append(Happening(at: entry.timestamp, observation: observation))
    }

    /// Adds an entry from after the end. It shows that the present state is not that of the past.
    fileprivate mutating func addLater(_ entry: LogEntry) {
        if entry.effect != nil { known.insert(entry.subject) }
    }

    fileprivate mutating func close() {
        before = states.values.sorted { $0.sequence < $1.sequence }.compactMap { Self.read($0) }
        states = [:]
    }

    private static func read(_ entry: LogEntry) -> HomeObservation? {
        HomeChange(name: entry.name, data: entry.data).flatMap { HomeObservation($0) }
    }
}

extension HomeHub {
    /// The maximum number of changes that ``past(ofDevices:structures:from:to:limit:)`` returns.
    public static let longestPast = 50_000

    /// What the change log has about devices and structures. Reading it delays neither the hub nor writers.
    ///
    /// A device without an entry has not changed for as long as the log goes back: it is returned as it is now. Of one whose
    /// entries are all from after the end, the state before is not known.
    /// - Parameters:
    ///   - devices: the identifiers of the devices.
    ///   - structures: the identifiers of the structures.
    ///   - from: the beginning.
    ///   - to: the end.
    ///   - limit: how many changes at most; later ones are left out.
    /// - Throws: `unavailable` when the log cannot be read.
    public nonisolated func past(
        ofDevices devices: Set<String>, structures: Set<String>, from: Date, to: Date,
        limit: Int = HomeHub.longestPast
    ) async throws(HomeError) -> RecordedPast {
        let present = await presentState(ofDevices: devices, structures: structures)
        let subjects = Set(
            devices.map { HomeChange.subject(ofDevice: $0) } + structures.map { HomeChange.subject(ofStructure: $0) })
        await log.settle()
        let last = log.newest.sequence
        var past = RecordedPast()
        var place: Int64 = 0
        while place < last, !past.isCut {
            guard let entries = await log.read(after: place) else {
                throw .unavailable("what was recorded cannot be read at the moment; the gateway's log says why")
            }
            guard let end = entries.last?.sequence, !Task.isCancelled else { break }
            place = end
            if past.oldest == nil { past.oldest = entries.first?.timestamp }
            for entry in entries where subjects.contains(entry.subject) {
                if entry.timestamp <= to { past.add(entry, from: from, limit: limit) } else { past.addLater(entry) }
            }
        }
        past.close()
        past.before += present.filter { !past.known.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
        return past
    }

    private func presentState(
        ofDevices devices: Set<String>, structures: Set<String>
    ) -> [String: HomeObservation] {
        var result: [String: HomeObservation] = [:]
        for id in devices {
            if let state = states[id] { result[HomeChange.subject(ofDevice: id)] = .device(state.snapshot) }
        }
        for structure in directory.structures where structures.contains(structure.record.id) {
            result[HomeChange.subject(ofStructure: structure.record.id)] =
                .structure(directory.snapshot(of: structure.record))
        }
        return result
    }
}
