import Automation
import AutomationGraph
import DatagramPort
import Dispatch
import HomeHub
import HomeTypes
import Logging
import Transport

/// Runs the automations of the home: the driver around the engine, which itself does no I/O.
///
/// What the hub reports waits in ``AutomationInbox``. One task takes it in batches, hands it to the engine, writes what the
/// engine wants kept in one transaction, and only then sends the commands.
actor AutomationService {
    /// How the service is set.
    struct Settings: Sendable {
        /// How many days runs are kept.
        var days = 30
        /// How many runs of each automation are kept.
        var runs = 1_000
        /// How many automations there may be.
        var automations = 10_000
        /// How many commands are on their way at a time. The others wait, so that automations leave room for people.
        var commands = 64
        /// How long the service waits before it reads again what earlier runs have left behind, when the disk did not answer.
        var pauseBeforeReading = Duration.seconds(5)
        /// How long runs that go on wait at most for devices that are found again after the gateway.
        var longestWaitForDevices = Duration.seconds(5)
    }

    nonisolated let hub: HomeHub
    nonisolated let registry: TokenRegistry
    nonisolated let store: any RunStore
    nonisolated let inbox = AutomationInbox()
    nonisolated let settings: Settings
    nonisolated let logger: Logger
    nonisolated let notifier: AutomationNotifier?
    let now: @Sendable () -> EngineTime
    /// The thread that waits for the disk.
    nonisolated let disk = DispatchQueue(label: "automations")

    var engine: Engine
    var definitions: [String: AutomationDefinition] = [:]
    var states: [String: AutomationState] = [:]
    /// The automations that wait, because it is not known what their owners may do, and their runs that have not ended.
    var held: [String: AutomationDefinition] = [:]
    var heldRuns: [String: [[RunEntry]]] = [:]
    var isStarted = false
    /// The devices that are watched for runs whose automations have another graph by now.
    private var watchedForRuns: Set<String> = []
    /// Whether runs that go on wait for devices that are found again.
    var isWaiting = false
    var isStopped = false

    /// What the engine wants done and nobody has done yet.
    var effects: [EngineEffect] = []
    /// What the disk has not taken, the oldest first.
    var unwritten = RunBatch()
    var storageProblem: String?
    /// The alarms of the automations that are paused.
    var pausedAlarms: [String: HomeAlarm] = [:]
    /// Commands that wait for a place.
    var waitingCommands: [(request: CommandRequest, until: Int64)] = []
    /// The commands on their way, each with the tasks that send it and watch its time.
    var runningCommands: [CommandKey: [Task<Void, Never>]] = [:]
    /// Resumed when no command is on its way any more.
    var whenNothingIsSent: CheckedContinuation<Void, Never>?
    var counts = Counts()
    var timer: (deadline: Int64, task: Task<Void, Never>)?
    /// When old runs are looked for next, by the uptime, and when that was done last.
    var pruneAt: Int64 = 0
    var lastLook: EngineTime?
    var feeds: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextFeed = 0
    private var starting: Task<Void, Never>?
    private var pump: Task<Void, Never>?

    /// Makes a service that runs nothing yet.
    init(
        hub: HomeHub, registry: TokenRegistry, store: any RunStore, settings: Settings = Settings(),
        notifier: AutomationNotifier? = nil, logger: Logger,
        now: @escaping @Sendable () -> EngineTime = {
            EngineTime(uptime: MonotonicClock.now.nanoseconds / 1_000_000, wall: DatagramPort.WallClock.milliseconds)
        }
    ) {
        self.hub = hub
        self.registry = registry
        self.store = store
        self.settings = settings
        self.notifier = notifier
        self.logger = logger
        self.now = now
        var limits = EngineLimits()
        limits.automations = settings.automations
        self.engine = Engine(limits: limits) { TokenRegistry.newID(prefix: "x") }
    }

    // MARK: Life

    /// Continues what was kept, and begins to run automations. What was defined before is part of it.
    ///
    /// If the disk does not answer, an alarm says so, and no automation runs until it does: with empty states an automation
    /// would run more often than it may, and the next write would lose what was kept.
    func start() async {
        guard !isStarted, !isStopped, starting == nil else { return }
        guard await !startNow() else { return }
        starting = Task { [settings] in
            while (try? await Task.sleep(for: settings.pauseBeforeReading)) != nil {
                guard await !startNow() else { return }
            }
        }
    }

    /// - Returns: whether nothing is left to do.
    private func startNow() async -> Bool {
        let kept: (states: [String: AutomationState], openRuns: [[RunEntry]])
        do throws(StoreFailure) { kept = try await readStore() } catch {
            await record("what earlier runs have left behind cannot be read: \(error)")
            return false
        }
        guard !isStarted, !isStopped else { return true }
        await record(nil)
        states = kept.states
        let openRuns = withoutHeld(kept.openRuns)
        engine.restore(
            definitions.values.sorted { $0.id < $1.id }, states: kept.states, openRuns: openRuns, at: now())
        isStarted = true
        // Devices of a broker, for example, are found again after the gateway. Without a wait the commands of runs that go on
        // would fail because of the restart.
        let devicesAreThere = EndablePause()
        inbox.end(devicesAreThere, whenPresent: Set(definitions.values.flatMap { $0.graph.devices }))
        // The present state comes before everything that follows from what was kept, such as a command that is due.
        await hub.add(inbox)
        if !openRuns.isEmpty {
            isWaiting = true
            _ = await devicesAreThere.sleep(until: .now + settings.longestWaitForDevices)
            isWaiting = false
        }
        inbox.stopAwaiting()
        await readMissed(handleInbox(atStart: true))
        drain()
        logger.info(
            "automations run",
            metadata: ["automations": "\(definitions.count)", "continuedRuns": "\(openRuns.count)"])
        let signals = inbox.signals
        pump = Task {
            await self.turn()
            for await _ in signals { await self.turn() }
        }
        return true
    }

    /// Writes what waits, and stops. Runs go on at the next start. Commands on their way have a moment to end; nothing is sent
    /// any more when it returns.
    func stop() async {
        guard !isStopped else { return }
        isStopped = true
        timer?.task.cancel()
        starting?.cancel()
        await starting?.value
        inbox.finish()
        await pump?.value
        await endCommands()
        handleInbox()
        drain()
        await write()
        await notifier?.shutDown()
        for feed in feeds.values { feed.finish() }
        feeds = [:]
    }

    // MARK: Automations

    /// Adds an automation, or replaces it. One whose owner's token cannot be read waits.
    func define(_ definition: AutomationDefinition) async {
        if mustHold(definition) { return hold(definition) }
        held[definition.id] = nil
        let former = definitions.updateValue(definition, forKey: definition.id)
        let new = inbox.watch(definition.graph.devices)
        // The engine, and then a run, need the former devices until they have another graph.
        defer {
            watchForRuns()
            if let former { inbox.unwatch(former.graph.devices) }
        }
        guard isStarted else { return }
        // The engine hears of the devices before it can miss a change of them.
        await hub.reportState(of: new, to: inbox)
        if !isWaiting { await readMissed(handleInbox()) }
        // A later change may have overtaken this one while the hub was asked.
        guard let current = definitions[definition.id] else { return }
        if let runs = heldRuns.removeValue(forKey: current.id) { return takeUp(current, runs) }
        handle(.define(current, kept: states[current.id]))
    }

    /// Watches the devices that runs of replaced graphs need, and no others of such graphs.
    func watchForRuns() {
        let needed = engine.entitiesOfReplacedGraphs
        guard needed != watchedForRuns else { return }
        _ = inbox.watch(needed.subtracting(watchedForRuns))
        inbox.unwatch(watchedForRuns.subtracting(needed))
        watchedForRuns = needed
    }

    /// Removes an automation. Its run ends as stopped.
    /// - Parameter isDeleted: whether it was deleted, and its history and state go with it. Otherwise it is only not run any
    ///   more: its state stays, so that it goes on with its count when it is defined again.
    func undefine(_ id: String, isDeleted: Bool = true) {
        if isDeleted {
            heldRuns[id] = nil
            states[id] = nil
            unwritten.states[id] = .some(nil)
            unwritten.forgotten.insert(id)
        }
        held[id] = nil
        guard let former = definitions.removeValue(forKey: id) else { return }
        inbox.unwatch(former.graph.devices)
        guard isStarted else { return }
        handle(.remove(automationID: id))
    }

    /// What is known of an automation between its runs.
    func state(of id: String) -> AutomationState { states[id] ?? AutomationState() }

    /// Whether an automation runs now.
    func isRunning(_ id: String) -> Bool { engine.isRunning(id) }

    /// Runs an automation by hand.
    /// - Throws: `notFound`, `failedPrecondition` if a person cannot run it or it runs already, and `resourceExhausted` if
    ///   too many runs are in progress, or it has started too often just now.
    func execute(_ id: String, principal: String) throws(HomeError) {
        let definition = try self.definition(id)
        let refusal =
            Engine.isManuallyExecutable(definition.graph) ? engine.refusalOfRun(id, at: now()) : .nothingToRun
        switch refusal {
        case nil: handle(.execute(automationID: id, principal: principal))
        case .nothingToRun?: throw .failedPrecondition("automation \(id) has nothing that a person can run")
        case .running?: throw .failedPrecondition("automation \(id) is already running; stop it first")
        case .exhausted?:
            let most = definition.maxExecutionCount ?? 0
            throw .failedPrecondition(
                "automation \(id) has run \(most == 1 ? "1 time" : "\(most) times"), and may not run more often")
        case .tooManyRuns?:
            throw .resourceExhausted("too many automations are running at the moment; wait until some have ended")
        case .startsTooOften?:
            throw .resourceExhausted("automation \(id) has started too often just now; wait a few seconds")
        }
    }

    /// Stops the run of an automation.
    /// - Throws: `notFound`, and `failedPrecondition` if it does not run.
    func stopRun(of id: String, principal: String) throws(HomeError) {
        _ = try definition(id)
        guard isRunning(id) else { throw .failedPrecondition("automation \(id) is not running") }
        handle(.stop(automationID: id, principal: principal))
    }

    /// Lets an automation start again that was paused because it started too often.
    /// - Throws: `notFound`, and `failedPrecondition` if it is not paused.
    func release(_ id: String, principal: String) throws(HomeError) {
        _ = try definition(id)
        guard state(of: id).isPaused else { throw .failedPrecondition("automation \(id) is not paused") }
        handle(.release(automationID: id, principal: principal))
    }

    private func definition(_ id: String) throws(HomeError) -> AutomationDefinition {
        if let owner = held[id]?.owner { throw Self.waits(id, for: owner) }
        guard let definition = definitions[id] else {
            throw .notFound("no automation has the id \(id.prefix(64).debugDescription)")
        }
        guard isStarted, !isStopped, !isWaiting else {
            throw .unavailable("automations do not run at the moment; try again in a few seconds")
        }
        return definition
    }

    /// Hands the engine one input. What follows from it is done soon.
    func handle(_ input: EngineInput) {
        engine.handle(input, at: now())
        drain()
        inbox.wake()
    }

    /// Takes over what the engine wants done.
    func drain() {
        while let effect = engine.pollEffect() {
            if case .state(let id, let state) = effect { states[id] = state }
            effects.append(effect)
        }
    }
}
