import AutomationGraph
import HomeTypes

extension Engine {
    /// Begins an action.
    mutating func act(_ run: inout Run, _ index: Int, _ number: Int, _ now: EngineTime) {
        let strand = run.strands[index]
        let commandID = run.nextCommand
        run.nextCommand += 1
        let action = run.program.actions[number]
        guard !action.isInvalid else {
            let problem = "this action is no longer valid; check the issues of the automation"
            return endCommand(
                &run, index, commandID, now.uptime, .failed(code: "failedPrecondition", message: problem),
                action: action.action, now)
        }
        if let deferral = action.action.deferral, isOffline(action.action), !isRemoved(action.action) {
            let length = max(0, deferral.wholeMilliseconds)
            let path = run.program.steps[strand.step].path
            let event = RunEntry.Event.deferred(commandID: commandID, until: now.wall + length)
            record(&run, strand.id, path, event, action: action.action, now)
            deferCommand(&run, index, commandID, now.uptime, for: length, now)
        } else {
            send(&run, index, commandID, action.action, now)
        }
    }

    private func isOffline(_ action: GraphAction) -> Bool {
        guard case .device(let id) = action.target.entity, let entity = entities[id] else { return false }
        return !entity.isOnline
    }

    private func isRemoved(_ action: GraphAction) -> Bool { entities[action.target.entity.id]?.isRemoved ?? false }

    mutating func deferCommand(
        _ run: inout Run, _ index: Int, _ commandID: Int, _ since: Int64, for length: Int64, _ now: EngineTime
    ) {
        let until = now.uptime + length
        wait(&run, index, .deferred(commandID: commandID, since: since, until: until), until: until)
        if let device = run.target(of: index) { waiters[device, default: []].insert(run.runID) }
    }

    /// Sends a command, unless its device cannot get it.
    mutating func send(
        _ run: inout Run, _ index: Int, _ commandID: Int, _ action: GraphAction, _ now: EngineTime
    ) {
        let strand = run.strands[index]
        if isRemoved(action) {
            let problem = "the device is no longer in the home; choose another one"
            return endCommand(
                &run, index, commandID, now.uptime, .failed(code: "notFound", message: problem),
                action: action, now)
        }
        if isOffline(action) {
            let problem = "the device is offline; check its power and its network"
            return endCommand(
                &run, index, commandID, now.uptime, .failed(code: "unavailable", message: problem),
                action: action, now)
        }
        let path = run.program.steps[strand.step].path
        record(&run, strand.id, path, .sending(commandID: commandID), action: action, now)
        emit(
            .send(
                CommandRequest(
                    runID: run.runID, commandID: commandID, automationID: run.automationID, owner: run.owner,
                    action: action, timeout: limits.commandTimeout)))
        causes.record(action, depth: run.depth, limits, now)
        wait(
            &run, index, .sending(commandID: commandID, since: now.uptime), until: now.uptime + limits.commandAnswer)
    }

    /// Records how a command ended. The strand continues in any case.
    /// - Parameter action: the action, if no entry before this one has it.
    mutating func endCommand(
        _ run: inout Run, _ index: Int, _ commandID: Int, _ since: Int64, _ outcome: CommandOutcome,
        action: GraphAction? = nil, _ now: EngineTime
    ) {
        let strand = run.strands[index]
        let path = run.program.steps[strand.step].path
        let event = RunEntry.Event.sent(commandID: commandID, outcome, milliseconds: max(0, now.uptime - since))
        record(&run, strand.id, path, event, action: action, now)
        run.count(outcome)
        run.strands[index].activity = .ready
        run.strands[index].step += 1
    }

    mutating func handle(_ outcome: CommandOutcome, of commandID: Int, in runID: String, _ now: EngineTime) {
        guard var run = runs[runID] else { return }
        for index in run.strands.indices {
            guard case .sending(commandID, let since) = run.strands[index].activity else { continue }
            if let action = run.action(of: index) { causes.record(action, depth: run.depth, limits, now) }
            endCommand(&run, index, commandID, since, outcome, now)
            return advance(run, now)
        }
    }

    /// Sends the commands that waited for a device.
    mutating func sendDeferred(to device: String, _ now: EngineTime) {
        guard let runIDs = waiters.removeValue(forKey: device) else { return }
        for runID in runIDs.sorted() {
            guard var run = runs[runID] else { continue }
            for index in run.strands.indices {
                guard case .deferred(let commandID, _, _) = run.strands[index].activity,
                    run.target(of: index) == device,
                    case .act(let number) = run.program.steps[run.strands[index].step].operation
                else { continue }
                send(&run, index, commandID, run.program.actions[number].action, now)
            }
            advance(run, now)
        }
    }

    mutating func rememberDeferral(_ run: Run, _ index: Int) {
        guard case .deferred = run.strands[index].activity, let device = run.target(of: index) else { return }
        waiters[device, default: []].insert(run.runID)
    }

    mutating func forgetDeferral(_ run: Run, _ index: Int) {
        guard case .deferred = run.strands[index].activity, let device = run.target(of: index) else { return }
        waiters[device]?.remove(run.runID)
        if waiters[device]?.isEmpty == true { waiters[device] = nil }
    }
}

extension Run {
    /// The action at which a strand is.
    func action(of index: Int) -> GraphAction? {
        guard case .act(let number) = program.steps[strands[index].step].operation else { return nil }
        return program.actions[number].action
    }

    /// The device or structure of that action.
    func target(of index: Int) -> String? { action(of: index)?.target.entity.id }
}
