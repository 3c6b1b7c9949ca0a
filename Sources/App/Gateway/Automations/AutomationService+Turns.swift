import Automation
import Foundation
import HomeHub
import HomeTypes
import Logging

/// One turn: what waits goes to the engine, what it wants kept goes to the disk, and then the commands are sent.
extension AutomationService {
    /// How long the engine goes without a look at the clocks, in milliseconds. A wall clock that was set is noticed by then.
    static let longestPause: Int64 = 30_000
    /// How many rows wait for a disk that takes none.
    static let largestBacklog = 10_000

    func turn() async {
        await readMissed(handleInbox())
        engine.handle(.clock, at: now())
        drain()
        watchForRuns()
        await write()
        await pruneIfDue()
        arm()
    }

    /// Hands the engine what waits.
    /// - Parameter atStart: devices that were found again meanwhile count as connected from the first report on. Otherwise a
    ///   change among these reports would send commands to devices whose connection comes later in the same list.
    /// - Returns: the devices and structures whose changes were dropped.
    @discardableResult
    func handleInbox(atStart: Bool = false) -> AutomationInbox.Missed {
        let batch = inbox.drain()
        var isOnline: [String: Bool] = [:]
        if atStart {
            for case .home(.device(let device)) in batch.items { isOnline[device.id] = ObservedDevice(device).isOnline }
        }
        for item in batch.items {
            switch item {
            case .outcome(let request, let outcome):
                engine.handle(
                    .commandEnded(runID: request.runID, commandID: request.commandID, outcome), at: now())
            case .home(let observation):
                guard var input = EngineInput(observation) else { continue }
                if case .device(var device) = input, let isOnline = isOnline[device.id] {
                    device.isOnline = isOnline
                    input = .device(device)
                }
                engine.handle(input, at: now())
            }
            drain()
        }
        return batch.missed
    }

    func readMissed(_ missed: AutomationInbox.Missed) async {
        guard !missed.isEmpty else { return }
        logger.warning(
            "there were too many changes for the automations",
            metadata: ["devices": "\(missed.devices.count)", "structures": "\(missed.structures)"])
        await hub.reportMissed(of: missed.devices.sorted(), structures: missed.structures, to: inbox)
        // What follows is taken in the next turn: the inbox has woken it.
    }

    /// Writes all that is to be kept in one transaction, and then does the rest in its order. Nothing is sent that was not
    /// written before.
    func write() async {
        // What would be sent after the end is not announced either, so the next start sends it.
        let batch = isStopped ? Self.withoutSending(effects) : effects
        effects = []
        var kept = RunBatch()
        for effect in batch {
            switch effect {
            case .record(let entry):
                do {
                    kept.rows.append(try RunRow(entry))
                } catch {
                    logger.error("a run cannot be recorded", metadata: ["run": "\(entry.runID)", "reason": "\(error)"])
                }
                if case .ended(let end) = entry.event { counts.ends[end, default: 0] += 1 }
            case .state(let id, let state):
                // An automation that was deleted meanwhile leaves nothing. One that is only not run any more keeps its count.
                if states[id] != nil { kept.states[id] = Self.json(state) }
            case .change(let change):
                if definitions[change.automationID] != nil { kept.changes.append(AutomationChangeRow(change)) }
            case .send, .alarm, .sunless: break
            }
        }
        let isKept = await keep(kept)
        for effect in batch {
            switch effect {
            case .send(let request):
                if isKept { send(request) } else { refuse(request) }
            case .alarm(let id, let isOver): await raise(id, isOver: isOver)
            case .sunless(let id, let path):
                logger.notice(
                    "a starter waits for the sun, which does not rise or set today; set the home's coordinates if it should",
                    metadata: ["automation": "\(id)", "node": "\(path)"])
            case .record, .state, .change: break
            }
        }
    }

    /// What is left of effects when nothing may be sent: a run that goes on is kept up to its first command.
    static func withoutSending(_ effects: [EngineEffect]) -> [EngineEffect] {
        let ended = Set(
            effects.compactMap { effect -> String? in
                if case .record(let entry) = effect, case .ended = entry.event { entry.runID } else { nil }
            })
        var cut: Set<String> = []
        return effects.filter { effect in
            switch effect {
            case .send: return false
            case .record(let entry):
                guard !ended.contains(entry.runID) else { return true }
                if case .sending = entry.event { cut.insert(entry.runID) }
                return !cut.contains(entry.runID)
            case .state, .alarm, .change, .sunless: return true
            }
        }
    }

    private static func json(_ state: AutomationState) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Numbers and texts are always JSON.
        return (try? encoder.encode(state)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Adds a batch to the store, with what it has not taken yet.
    /// - Returns: whether all of it is kept.
    private func keep(_ batch: RunBatch) async -> Bool {
        unwritten.add(batch)
        guard !unwritten.isEmpty else { return true }
        let waiting = unwritten
        unwritten = RunBatch()
        do throws(StoreFailure) {
            try await perform { (store) throws(StoreFailure) in try store.append(waiting) }
        } catch {
            var all = waiting
            all.add(unwritten)
            unwritten = all
            let excess = unwritten.rows.count - Self.largestBacklog
            if excess > 0 {
                unwritten.rows.removeFirst(excess)
                counts.lost += UInt64(excess)
            }
            unwritten.changes.removeFirst(max(0, unwritten.changes.count - Self.largestBacklog))
            await record("runs cannot be recorded: \(error)")
            return false
        }
        counts.written += UInt64(waiting.rows.count)
        counts.transactions += 1
        await record(nil)
        if !waiting.rows.isEmpty { for feed in feeds.values { feed.yield() } }
        return true
    }

    /// Calls the store on its own thread.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (any RunStore) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let store = self.store
        let result = await withCheckedContinuation { continuation in
            disk.async {
                let result: Result<Value, StoreFailure>
                do throws(StoreFailure) { result = .success(try body(store)) } catch { result = .failure(error) }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }

    /// Reports that the disk takes nothing, or takes something again.
    func record(_ problem: String?) async {
        guard problem != storageProblem else { return }
        let isFirst = storageProblem == nil
        storageProblem = problem
        let alarm = HomeAlarm(
            .automationStorageFailing, problem == nil ? .cleared : .raised,
            reason: problem.map { "no automation sends a command, because \($0)" }
                ?? "runs of automations are recorded again",
            at: Date())
        if let problem {
            if isFirst {
                logger.error(
                    "automation runs cannot be written to the disk; until they can, automations send nothing",
                    metadata: ["reason": "\(problem)"])
            }
        } else {
            logger.notice(
                "automation runs can be written to the disk again", metadata: ["lostSinceStart": "\(counts.lost)"])
        }
        await hub.take(alarm)
    }

    private func raise(_ id: String, isOver: Bool) async {
        if isOver {
            logger.notice("an automation may start again", metadata: ["automation": "\(id)"])
            // The automation may have been deleted meanwhile. The end of the alarm names it as its beginning did.
            guard let alarm = pausedAlarms.removeValue(forKey: id) else { return }
            return await hub.take(alarm.cleared(because: "the automation may start again, or was deleted", at: Date()))
        }
        logger.error("an automation is paused, because it starts too often", metadata: ["automation": "\(id)"])
        let definition = definitions[id]
        var alarm = HomeAlarm(
            .automationPaused, .raised, automation: id,
            reason: "the automation \((definition?.name ?? "").debugDescription) started too often and is paused; "
                + "release it after you have fixed it",
            at: Date())
        alarm.structureID = definition?.structureID
        alarm.owner = definition?.owner
        pausedAlarms[id] = alarm
        await hub.take(alarm)
    }

    /// Sets the alarm clock for the engine's next deadline.
    private func arm() {
        guard !isStopped else { return }
        let present = now().uptime
        let deadline = min(engine.nextDeadline ?? .max, present + Self.longestPause)
        if let timer, timer.deadline <= deadline, timer.deadline > present { return }
        timer?.task.cancel()
        let inbox = self.inbox
        let pause = Duration.milliseconds(max(1, deadline - present))
        timer = (
            deadline,
            Task {
                // A clock that was stopped has another one in its place.
                guard (try? await Task.sleep(for: pause)) != nil else { return }
                inbox.wake()
            }
        )
    }

    /// By how much the wall clock may run ahead of the other one between two looks, in milliseconds. A clock that was set
    /// further ahead may be wrong, and is trusted only at the next look.
    private static let tolerance: Int64 = 3_600_000

    /// Drops old runs, and those that are too many, once an hour. What the clock was before the start is not known, so the
    /// first look drops nothing because of its age.
    func pruneIfDue() async {
        let present = now()
        guard present.uptime >= pruneAt else { return }
        pruneAt = present.uptime + 3_600_000
        let isTrusted =
            lastLook.map { present.wall - $0.wall <= present.uptime - $0.uptime + Self.tolerance } ?? false
        lastLook = present
        let oldest = isTrusted ? present.wall - Int64(settings.days) * 86_400_000 : .min
        let runs = settings.runs
        do throws(StoreFailure) {
            try await perform { (store) throws(StoreFailure) in try store.prune(before: oldest, keeping: runs) }
        } catch {
            logger.warning("old runs cannot be dropped", metadata: ["reason": "\(error)"])
        }
    }
}

extension EngineInput {
    /// The input for a report of the hub; nil if the engine does not use it.
    init?(_ observation: HomeObservation) {
        switch observation {
        case .device(let device): self = .device(ObservedDevice(device))
        case .deviceRemoved(let id): self = .deviceRemoved(id: id)
        case .structure(let structure): self = .structure(ObservedStructure(structure))
        case .structureRemoved: return nil
        case .event(let id, let endpoint, let trait, let name, let fields):
            self = .event(
                ObservedEvent(entityID: id, endpoint: endpoint, trait: trait, event: name, fields: fields))
        }
    }
}

extension AutomationChangeRow {
    /// A change as the store keeps it.
    init(_ change: AutomationChange) {
        let group =
            switch change.kind {
            case .activated, .deactivated: "activity"
            case .paused, .released: "pause"
            }
        self.init(
            automationID: change.automationID, at: change.at, kind: change.kind.rawValue, group: group,
            principal: change.principal)
    }

    /// The change; nil for a kind of a later version.
    var change: AutomationChange? {
        AutomationChange.Kind(rawValue: kind).map {
            AutomationChange(automationID: automationID, at: at, kind: $0, principal: principal)
        }
    }
}
