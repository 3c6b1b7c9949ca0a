import Automation
import AutomationGraph
import Foundation
import HomeHub
import HomeTypes
import Logging
import Transport

/// The automations of the home: what people want to happen. They are in the home's store, one object each, and are written
/// before anybody sees them.
actor AutomationRecords {
    /// An automation with what is known of it now.
    struct Entry: Sendable {
        var record: AutomationRecord
        /// The version that the store gave it; its entity tag.
        var version: Int64
        var graph: Graph
        /// What is wrong with it in the home as it is; nil until it was looked at.
        var issues: [ValidationIssue]?
        /// The devices and structures that it names.
        var entities: Set<String>

        init(_ record: AutomationRecord, version: Int64, graph: Graph, issues: [ValidationIssue]? = nil) {
            self.record = record
            self.version = version
            self.graph = graph
            self.issues = issues
            entities = graph.entityIDs
        }

        /// The automation as the engine runs it; nil for a graph that this version does not understand.
        var definition: AutomationDefinition? {
            guard graph.isUnderstood else { return nil }
            return AutomationDefinition(
                id: record.id, structureID: record.structureID, owner: record.owner, name: record.name,
                isActive: record.isActive, maxExecutionCount: record.maxExecutionCount,
                graceSeconds: record.graceSeconds, graph: graph,
                invalidPaths: Set((issues ?? []).filter { $0.severity == .error }.map(\.path)))
        }
    }

    /// What has become of an automation.
    enum Change: Sendable {
        /// It is new or has changed.
        case defined(AutomationDefinition)
        case removed(id: String)
        /// It is kept, and does not run: this version does not understand its graph, or its structure is gone.
        case suspended(id: String)

        /// The automation.
        var id: String {
            switch self {
            case .defined(let definition): definition.id
            case .removed(let id), .suspended(let id): id
            }
        }
    }

    /// What others ask of an automation without waiting for this actor.
    private struct Present: Sendable {
        var structureID: String
        /// The automation as the engine runs it; nil for one that does not run.
        var definition: AutomationDefinition?

        init(_ entry: Entry) {
            structureID = entry.record.structureID
            definition = entry.definition
        }
    }

    nonisolated let hub: HomeHub
    /// Notices when devices and structures that automations name become other than they were.
    nonisolated let shapes = HomeShapes()
    /// The event streams that follow automations.
    nonisolated let watchers = AutomationWatchers()
    private let store: any SharedStore
    let accessOf: @Sendable (String) -> Access
    private let isUnknown: @Sendable (String) -> Bool
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let maximum: Int
    var entries: [String: Entry] = [:]
    private nonisolated let present: Locked<[String: Present]>
    var onChange: @Sendable ([Change]) async -> Void = { _ in }

    /// Reads the automations of the home.
    /// - Parameters:
    ///   - store: keeps them.
    ///   - accessOf: what a principal may do now.
    ///   - isUnknown: whether it is not known what a principal may do.
    ///   - logger: gets a line for each automation that cannot be read. It is left alone.
    init(
        hub: HomeHub, store: any SharedStore, accessOf: @escaping @Sendable (String) -> Access,
        isUnknown: @escaping @Sendable (String) -> Bool = { _ in false },
        maximum: Int = AutomationLimits.count, logger: Logger, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.hub = hub
        self.store = store
        self.accessOf = accessOf
        self.isUnknown = isUnknown
        self.maximum = maximum
        self.now = now
        self.logger = logger
        var entries: [String: Entry] = [:]
        do throws(StoreFailure) {
            for object in try store.objects(AutomationRecord.kind) {
                guard let record = try? JSONDecoder().decode(AutomationRecord.self, from: Data(object.body.utf8)),
                    let graph = try? Graph(json: record.graph)
                else {
                    // A later version may have written it.
                    logger.error("an automation cannot be read and does not run", metadata: ["id": "\(object.id)"])
                    continue
                }
                entries[object.id] = Entry(record, version: object.version, graph: graph)
            }
        } catch {
            logger.error("the automations cannot be read, and none runs", metadata: ["reason": "\(error)"])
        }
        self.entries = entries
        present = Locked(entries.mapValues { Present($0) })
        shapes.watch(entries.values.reduce(into: []) { $0.formUnion($1.entities) })
    }

    /// Sets what is called after each change.
    func observe(_ onChange: @escaping @Sendable ([Change]) async -> Void) { self.onChange = onChange }

    /// The structure of an automation; nil for one that does not exist.
    nonisolated func structure(ofAutomation id: String) -> String? { present.withLock { $0[id]?.structureID } }

    /// What has become of an automation by now. A change may arrive after a later one: a list of many changes takes a while.
    nonisolated func newest(_ change: Change) -> Change {
        let id = change.id
        guard let known = present.withLock({ $0[id] }) else { return .removed(id: id) }
        return known.definition.map { .defined($0) } ?? .suspended(id: id)
    }

    /// Shows others an automation as it is now.
    func share(_ id: String) {
        let known = entries[id].map { Present($0) }
        present.withLock { $0[id] = known }
    }

    // MARK: Reading

    /// What the engine runs.
    func definitions() async -> [AutomationDefinition] {
        await deleteOrphans()
        await validateNew()
        return entries.values.sorted { $0.record.id < $1.record.id }.compactMap(\.definition)
    }

    /// The automations of a structure that somebody may see, oldest first.
    func list(in structure: String, for caller: Authorization) async -> [Entry] {
        await validateNew()
        return entries.values
            .filter { $0.record.structureID == structure && Self.sees($0.record, caller) }
            .sorted { ($0.record.createdAt, $0.record.id) < ($1.record.createdAt, $1.record.id) }
    }

    /// An automation that somebody may see.
    func automation(_ id: String, for caller: Authorization) async throws(HomeError) -> Entry {
        await validateNew()
        guard let entry = entries[id], Self.sees(entry.record, caller) else { throw Self.unknown(id) }
        return entry
    }

    /// The automations that name a device, oldest first.
    func automations(naming device: String) -> [AutomationRecord] {
        entries.values.filter { $0.entities.contains(device) }.map(\.record)
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    static func sees(_ record: AutomationRecord, _ caller: Authorization) -> Bool {
        record.owner == caller.principal || caller.access.permits(.admin, .structure(record.structureID))
    }

    /// The refusal for an automation that does not exist, or that must look as if it did not.
    static func unknown(_ id: String) -> HomeError {
        .notFound("no automation has the id \(id.prefix(64).debugDescription)")
            .advising(
                request: "GET /v1/structures/{structure}/automations lists them",
                command: "gatehouse automation list lists them")
    }

    // MARK: Changing

    /// Keeps a new automation.
    /// - Throws: ``AutomationRefusal`` with all issues if one of them is an error, or `HomeError`.
    func create(_ draft: AutomationDraft, in structure: String, by principal: String) async throws -> Entry {
        let graph = try draft.readGraph()
        let issues = try await validated(graph, in: structure, for: principal)
        let count = entries.count
        guard count < maximum else {
            throw HomeError.resourceExhausted("the home has \(count) automations already; delete one first")
        }
        let moment = Int64((now().timeIntervalSince1970 * 1_000).rounded())
        let record = AutomationRecord(
            id: TokenRegistry.newID(prefix: "a"), structureID: structure, owner: principal,
            name: draft.name ?? "", description: draft.description ?? "", isActive: draft.isActive ?? true,
            maxExecutionCount: draft.maxExecutionCount ?? nil,
            graceSeconds: draft.graceSeconds ?? AutomationDefinition.standardGraceSeconds,
            graph: draft.graph ?? graph.json, customData: draft.customData ?? [:], createdAt: moment,
            changedAt: moment)
        return try await keep(Entry(record, version: 0, graph: graph, issues: issues))
    }

    /// Changes an automation. A graph replaces the one before, and is validated like that of a new automation.
    /// - Parameter version: the version that the client has read; nil for any.
    /// - Throws: ``AutomationRefusal`` with all issues if one of them is an error, or `HomeError`.
    func change(
        _ id: String, _ draft: AutomationDraft, ifVersion version: Int64?, by caller: Authorization
    ) async throws -> Entry {
        var entry = try await automation(id, for: caller)
        try Self.require(version, of: entry)
        if let graph = draft.graph {
            entry.graph = try draft.readGraph()
            // It runs with the rights of its owner, so nobody with fewer may say what it does.
            try require(caller, mayActFor: entry.record.owner)
            entry.issues = try await validated(entry.graph, in: entry.record.structureID, for: entry.record.owner)
            entry.entities = entry.graph.entityIDs
            entry.record.graph = graph
        }
        if let name = draft.name { entry.record.name = name }
        if let description = draft.description { entry.record.description = description }
        if let isActive = draft.isActive { entry.record.isActive = isActive }
        if let count = draft.maxExecutionCount { entry.record.maxExecutionCount = count }
        if let seconds = draft.graceSeconds { entry.record.graceSeconds = seconds }
        if let data = draft.customData { entry.record.customData = data }
        // Two changes never have the same time: clients tell by it whether they have seen the last one.
        entry.record.changedAt = max(
            entry.record.changedAt + 1, Int64((now().timeIntervalSince1970 * 1_000).rounded()))
        return try await keep(entry)
    }

    /// Deletes an automation.
    func delete(_ id: String, ifVersion version: Int64?, by caller: Authorization) async throws(HomeError) {
        let entry = try await automation(id, for: caller)
        try Self.require(version, of: entry)
        let isRemoved: Bool
        do throws(StoreFailure) { isRemoved = try remove(entry) } catch {
            throw .unavailable("the automation cannot be deleted: \(error)")
        }
        guard isRemoved else { throw Self.changedMeanwhile }
        await onChange([.removed(id: id)])
    }

    /// Removes an automation from the store, and reports it to the watchers.
    /// - Returns: false if somebody else has changed it meanwhile.
    private func remove(_ entry: Entry) throws(StoreFailure) -> Bool {
        let id = entry.record.id
        guard try store.delete(AutomationRecord.kind, id, expecting: entry.version) != nil else { return false }
        entries[id] = nil
        share(id)
        watchers.recordRemoval(of: entry.record)
        return true
    }

    /// Deletes the automations of structures that were deleted.
    func deleteAll(in structures: Set<String>) async {
        var changes: [Change] = []
        for entry in entries.values where structures.contains(entry.record.structureID) {
            let id = entry.record.id
            do throws(StoreFailure) {
                changes.append(try remove(entry) ? .removed(id: id) : suspend(id))
            } catch {
                // It does not run any more, and the next start deletes it.
                logger.error(
                    "an automation of a deleted structure cannot be deleted",
                    metadata: ["id": "\(id)", "reason": "\(error)"])
                changes.append(suspend(id))
            }
        }
        if !changes.isEmpty { await onChange(changes) }
    }

    /// Lets an automation run no longer that is still in the store.
    private func suspend(_ id: String) -> Change {
        present.withLock { $0[id]?.definition = nil }
        return .suspended(id: id)
    }

    /// Deletes the automations whose structure was deleted by a gateway that ended before it deleted them, too.
    private func deleteOrphans() async {
        let of = Set(entries.values.map(\.record.structureID))
        // What cannot be read is not gone.
        guard let known = try? Set(store.objects(HomeDirectory.structureKind).map(\.id)), !known.isEmpty else { return }
        await deleteAll(in: of.subtracting(known))
    }

    /// What an owner may do as far as it is known. Of one whose token cannot be read it may be everything: the automation
    /// waits, so nothing is wrong with it, and nobody with fewer rights may say what it does later.
    nonisolated func possibleAccess(of principal: String) -> Access {
        isUnknown(principal) ? .everything : accessOf(principal)
    }

    private func require(_ caller: Authorization, mayActFor owner: String) throws(HomeError) {
        let access = possibleAccess(of: owner)
        guard
            caller.principal == owner
                || caller.access.includes(access, structureOf: { hub.directory.structure(ofDevice: $0) })
        else {
            throw .notGranted(
                "the automation runs with the rights of \(owner), who may do more than you, so you cannot change what it "
                    + "does; switch it off or delete it, and make one of your own")
        }
    }

    private static func require(_ version: Int64?, of entry: Entry) throws(HomeError) {
        guard version == nil || version == entry.version else { throw changedMeanwhile }
    }

    private static let changedMeanwhile = HomeError(
        .aborted, "the automation was changed by somebody else in the meantime; read it and try again")

    /// Writes an automation, and then reports it to those who run and watch automations.
    private func keep(_ entry: Entry) async throws(HomeError) -> Entry {
        var kept = entry
        let version: Int64?
        do throws(StoreFailure) {
            version = try store.write(
                AutomationRecord.kind, entry.record.id, Self.json(entry.record), expecting: entry.version)
        } catch {
            throw .unavailable("the automation cannot be written, and nothing was changed: \(error)")
        }
        guard let version else { throw Self.changedMeanwhile }
        kept.version = version
        let record = entry.record
        entries[record.id] = kept
        share(record.id)
        shapes.watch(kept.entities)
        watchers.record(record.id)
        await onChange([Self.change(kept)])
        return kept
    }

    private static func json(_ record: AutomationRecord) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Text and integers always have JSON.
        return (try? encoder.encode(record)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    static func change(_ entry: Entry) -> Change {
        entry.definition.map { .defined($0) } ?? .suspended(id: entry.record.id)
    }
}
