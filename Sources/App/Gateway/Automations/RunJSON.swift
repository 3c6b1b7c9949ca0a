import Automation
import AutomationGraph
import Foundation
import HomeTypes

/// Runs as the HTTP API shows them.
struct RunJSON: Sendable {
    let words: RunText
    /// The graph that the automation has now; nil if it cannot be understood, or nobody asks.
    private let graph: UInt64?

    /// Shows runs with the names and the clock of a structure.
    init(_ homes: AutomationHomes, of structure: String, graph: Graph? = nil) {
        let names = homes.names
        words = RunText(clock: homes.clock(of: structure)) { names[$0] ?? $0 }
        self.graph = graph.map { Engine.hash(of: $0) }
    }

    /// A run with its entries, if they were read.
    func members(of run: RunRecord) -> [String: JSONObject.Value] {
        var members: [String: JSONObject.Value] = [
            "id": .text(run.id), "automationID": .text(run.automationID), "startedAt": time(run.startedAt),
            "trigger": .object(self.members(of: run.trigger)), "isLate": .bool(run.isLate),
            "depth": .integer(Int64(run.depth)), "text": .text(words(for: run)),
        ]
        if let end = run.endedAt { members["endedAt"] = time(end) }
        if let end = run.end { members["end"] = .text(end.rawValue) }
        if let entries = run.entries {
            let actions = SentActions(entries)
            members["entries"] = .list(entries.map { .object(self.members(of: $0, actions)) })
            // The record of an earlier version does not say which graph it was.
            if let graph, let former = entries.first?.graph { members["hasOtherGraph"] = .bool(former != graph) }
        }
        return members
    }

    /// What happened in a run, in a sentence.
    private func words(for run: RunRecord) -> String {
        let end = run.end.map { RunText.text(of: $0) } ?? "is running"
        return "Began \(words.text(of: run.trigger))\(run.isLate ? ", late" : ""): \(end)."
    }

    func time(_ milliseconds: Int64) -> JSONObject.Value { .text(AutomationSnapshot.time(milliseconds)) }

    func members(of trigger: Trigger) -> [String: JSONObject.Value] {
        var members: [String: JSONObject.Value] = [
            "kind": .text(trigger.kind.rawValue), "path": .text(trigger.path), "values": .object(trigger.values),
            "text": .text(words.text(of: trigger)),
        ]
        members["entityID"] = trigger.entityID.map { .text($0) }
        members["trait"] = trigger.trait.map { .text($0) }
        members["event"] = trigger.event.map { .text($0) }
        members["principal"] = trigger.principal.map { .text($0) }
        members["moment"] = trigger.moment.map { time(Int64($0) * 1_000) }
        return members
    }

    private func members(of entry: RunEntry, _ actions: SentActions) -> [String: JSONObject.Value] {
        var members: [String: JSONObject.Value] = [
            "at": time(entry.at), "strand": .integer(Int64(entry.strand)), "path": .text(entry.path),
            "text": .text(words.text(of: entry, actions)),
        ]
        let (kind, own) = values(of: entry.event)
        members["kind"] = .text(kind)
        // An action is plain values, which JSON always has.
        members["action"] = actions.action(of: entry).flatMap { try? JSONObject.Value(encoding: $0) }
        return members.merging(own) { first, _ in first }
    }

    private func values(of event: RunEntry.Event) -> (kind: String, [String: JSONObject.Value]) {
        switch event {
        case .began(let trigger, let depth, let isLate):
            (
                "began",
                [
                    "trigger": .object(members(of: trigger)), "depth": .integer(Int64(depth)),
                    "isLate": .bool(isLate),
                ]
            )
        case .read(let reference, let values): ("read", ["reference": .text(reference), "values": .object(values)])
        case .condition(let holds, let operands, let missing):
            (
                "condition",
                ["holds": .bool(holds), "operands": .object(operands)].merging(
                    missing.map { ["missing": .text($0)] } ?? [:]
                ) { first, _ in first }
            )
        case .holding(let until): ("holding", ["until": time(until)])
        case .chose(let flow): ("chose", flow.map { ["flow": .text($0)] } ?? [:])
        case .forked(let strands): ("forked", ["strands": .list(strands.map { .integer(Int64($0)) })])
        case .delay(let until): ("delay", ["until": time(until)])
        case .suppressed(let until): ("suppressed", ["until": time(until)])
        case .sending(let command): ("sending", ["commandID": .integer(Int64(command))])
        case .deferred(let command, let until):
            ("deferred", ["commandID": .integer(Int64(command)), "until": time(until)])
        case .sent(let command, let outcome, let milliseconds):
            (
                "sent",
                ["commandID": .integer(Int64(command)), "milliseconds": .integer(milliseconds)]
                    .merging(values(of: outcome)) { first, _ in first }
            )
        case .strandEnded: ("strandEnded", [:])
        case .triggeredAgain(let trigger): ("triggeredAgain", ["trigger": .object(members(of: trigger))])
        case .ended(let end): ("ended", ["end": .text(end.rawValue)])
        }
    }

    private func values(of outcome: CommandOutcome) -> [String: JSONObject.Value] {
        switch outcome {
        case .succeeded: ["outcome": .text("succeeded")]
        case .failed(let code, let message):
            ["outcome": .text("failed"), "code": .text(code), "message": .text(message)]
        case .notAuthorised(let message): ["outcome": .text("notAuthorised"), "message": .text(message)]
        case .unknown: ["outcome": .text("unknown")]
        }
    }
}
