import Automation

extension AutomationService {
    /// What has happened since the start.
    struct Counts: Sendable {
        var ends: [RunEnd: UInt64] = [:]
        var commands: UInt64 = 0
        var failedCommands: UInt64 = 0
        var refusedCommands: UInt64 = 0
        var unknownCommands: UInt64 = 0
        var written: UInt64 = 0
        var transactions: UInt64 = 0
        var lost: UInt64 = 0
    }

    /// The service's metrics for Prometheus.
    var metrics: [MetricFamily] {
        func gauge(_ name: String, _ help: String, _ value: Int) -> MetricFamily {
            MetricFamily(
                name: "gatehouse_automation\(name)", help: help, kind: .gauge, samples: [.init(Double(value))])
        }
        func counter(_ name: String, _ help: String, _ value: UInt64) -> MetricFamily {
            MetricFamily(
                name: "gatehouse_automation_\(name)_total", help: help, kind: .counter, samples: [.init(Double(value))])
        }
        return [
            gauge("s", "Automations.", definitions.count),
            gauge("s_running", "Automations that are running.", engine.runningAutomations.count),
            gauge(
                "s_paused", "Automations that are paused because they start too often.",
                states.values.count { $0.isPaused }),
            gauge("_commands_waiting", "Commands of automations that wait for a place.", waitingCommands.count),
            gauge("_storage_failing", "1 while runs cannot be recorded.", storageProblem == nil ? 0 : 1),
            MetricFamily(
                name: "gatehouse_automation_runs_total", help: "Runs by how they ended.", kind: .counter,
                samples: RunEnd.allCases.map { .init(Double(counts.ends[$0] ?? 0), labels: [("end", $0.rawValue)]) }),
            counter("commands", "Commands that automations have sent.", counts.commands),
            counter("commands_failed", "Commands of automations that failed.", counts.failedCommands),
            counter(
                "commands_refused", "Commands of automations whose owner did not have the right.",
                counts.refusedCommands),
            counter("records_written", "Entries of runs that were written.", counts.written),
            counter("writes", "Transactions in which they were written.", counts.transactions),
            counter("records_lost", "Entries of runs that were dropped because the disk accepted none.", counts.lost),
            counter("changes_dropped", "Changes of devices that were too many for the automations.", inbox.dropped),
        ]
    }
}
