import AutomationGraph
import HomeTypes

/// A starter that waits for the clock or the sun.
struct Schedule: Sendable {
    var path: String
    var trait: String
    var event: String
    var entityID: String
    var follower: ScheduleFollower
    /// Everything up to then was decided before a restart, in seconds since 1970. It is not decided again if the clock
    /// is set back.
    var restoredUntil: Int?
    /// Until when this applies, by the uptime.
    var isRestoredUntil: Int64 = 0
    /// Whether the sunrise or sunset that it waits for did not occur on the day of the last check.
    var isSunless = false
}

extension Engine {
    /// The schedules of an automation. After a restart, they continue where they were.
    func schedules(of automation: Automation, _ now: EngineTime) -> [Schedule] {
        guard automation.definition.isActive else { return [] }
        let seconds = Self.seconds(now)
        return automation.program.starters.compactMap { starter in
            guard case .schedule(let rule) = starter.kind, let source = starter.source else { return nil }
            let decided = automation.state.decidedUntil[starter.path].flatMap { Self.moments.contains($0) ? $0 : nil }
            let follower = ScheduleFollower(
                rule, graceInSeconds: max(0, automation.definition.graceSeconds),
                since: min(decided ?? seconds, seconds),
                alreadyRun: decided.map { [$0: now.uptime] } ?? [:])
            return Schedule(
                path: starter.path, trait: source.trait, event: rule.eventName, entityID: source.entity.id,
                follower: follower, restoredUntil: decided,
                isRestoredUntil: now.uptime + Int64(Self.longestStepBack) * 1_000)
        }
    }

    private static let longestStepBack = 2 * 86_400
    /// The range of a kept moment: the years 1970 to 9999, in seconds.
    private static let moments = 0...253_402_300_799

    private static func seconds(_ now: EngineTime) -> Int { Int((Double(now.wall) / 1000).rounded(.down)) }

    /// Records that a new schedule takes effect now.
    mutating func decideSchedules(of id: String, from old: AutomationState, _ now: EngineTime) {
        guard let automation = automations[id] else { return }
        for schedule in automation.schedules {
            automations[id]?.state.decidedUntil[schedule.path] = Self.seconds(now)
        }
        if automations[id]?.state != old { emitState(of: id) }
        if isSettled { look(id, now) }
    }

    /// Decides the moments of an automation's schedules up to now.
    mutating func look(_ id: String, _ now: EngineTime) {
        guard let automation = automations[id], !automation.schedules.isEmpty,
            let place = places[automation.definition.structureID]
        else { return }
        let seconds = Self.seconds(now)
        var next: Int?
        var found: [(schedule: Schedule, due: ScheduleFollower.Due)] = []
        let today = place.clock.date(at: seconds)
        for (index, schedule) in automation.schedules.enumerated() {
            var schedule = schedule
            if schedule.isRestoredUntil < now.uptime { schedule.restoredUntil = nil }
            if let until = schedule.restoredUntil {
                if seconds < until, until - seconds <= Self.longestStepBack {
                    next = min(next ?? until, until)
                    continue
                }
                // A clock that is even further back was wrong before; it was not set back.
                if seconds < until { schedule.restoredUntil = nil }
                if seconds >= until, schedule.follower.decidedUntil < until {
                    _ = schedule.follower.look(at: until, uptime: now.uptime, place: place)
                }
            }
            let due = schedule.follower.look(at: seconds, uptime: now.uptime, place: place)
            if due.run != nil || due.missedCount > 0 { found.append((schedule, due)) }
            if let moment = schedule.follower.nextLook(after: seconds, place: place) {
                next = min(next ?? moment, moment)
            }
            if schedule.follower.rule.waitsForSun {
                let isSunless = schedule.follower.rule.lacksSun(on: today, at: place)
                if isSunless, !schedule.isSunless { emit(.sunless(automationID: id, path: schedule.path)) }
                schedule.isSunless = isSunless
                // Each day must be checked for a sunrise or sunset.
                next = min(next ?? .max, seconds + 86_400)
            }
            automations[id]?.schedules[index] = schedule
        }
        automations[id]?.scheduleToken += 1
        if let next, let token = automations[id]?.scheduleToken {
            let at = now.uptime + max(0, Int64(next) * 1000 - now.wall)
            deadlines.insert(Deadline(at: at, reason: .schedule(automationID: id, token: token)))
        }
        watchClock(now)
        for (schedule, due) in found { take(due, of: schedule, id, now) }
    }

    private mutating func take(
        _ due: ScheduleFollower.Due, of schedule: Schedule, _ id: String, _ now: EngineTime
    ) {
        func trigger(_ moment: Int, _ values: [String: JSONObject.Value] = [:]) -> Trigger {
            Trigger(
                .schedule, path: schedule.path, entityID: schedule.entityID, trait: schedule.trait,
                event: schedule.event, values: values, moment: moment)
        }
        automations[id]?.state.decidedUntil[schedule.path] = due.run ?? Self.seconds(now)
        if let missed = due.lastMissed {
            let values = ["missedCount": JSONObject.Value.integer(Int64(due.missedCount))]
            refuse(id, trigger(missed, values), .missed, isLate: true, now)
        }
        if let run = due.run {
            fire(id, trigger(run), depth: 0, isLate: Self.seconds(now) - run > Self.punctualSeconds, now)
        }
        emitState(of: id)
    }

    /// How late a moment may be noticed without being called late.
    private static let punctualSeconds = 60
}

extension ScheduleRule {
    /// The event of the trait `Time` that has this rule.
    var eventName: String {
        switch moment {
        case .clock, .sun: Google.TimeTrait.ScheduledEvent.name
        case .cron: Google.TimeTrait.RecurringClockTimeScheduledEvent.name
        case .sunOnDays: Google.TimeTrait.RecurringSolarTimeScheduledEvent.name
        }
    }
}
