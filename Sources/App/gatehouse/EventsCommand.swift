import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse events`: prints what changes in the home.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Print the changes in the home until interrupted.",
        discussion: """
            It begins with the current state. With --after it begins after that change and misses nothing, even across \
            a restart of the gateway. If the connection is lost, it resumes where it stopped.
            """)

    @Option(help: ArgumentHelp("The id of the last change that was read.", valueName: "id"))
    var after: String?

    @Flag(help: "Print one JSON object per line: event, id and data.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    /// What a person wants to know of a change.
    private struct Summary: Decodable {
        struct Session: Decodable { var deviceID: String }
        var id: String?
        var name: String?
        var deviceID: String?
        var connectivityState: String?
        var change: String?
        var phase: String?
        var reason: String?
        var session: Session?
        /// How many, in the event `configuration`.
        var problems: Int?
        var needsRestart: Int?
    }

    func run() async throws {
        let connection = try gateway.connect()
        var isReached = false
        var keys = try await reportingHomeErrors { try await DeviceKeys(connection) }
        var follower = EventFollower(connection, after: after, patience: .zero)
        while true {
            do throws(HomeError) {
                try await follower.run { report in
                    switch report {
                    case .connected: isReached = true
                    case .update(let update): show(update, &keys)
                    case .interrupted: break
                    }
                }
            } catch {
                guard isReached, error.code == .unavailable else {
                    return try await reportingHomeErrors { throw error }
                }
            }
            // The command waits for a gateway that it has reached before, and for one that refuses because it is starting.
            follower.patience = nil
        }
    }

    private func show(_ update: EventFeed.Update, _ keys: inout DeviceKeys) {
        switch update {
        case .state(let events): for event in events { show(event, &keys) }
        case .change(let event), .missed(let event): show(event, &keys)
        }
    }

    private func show(_ event: GatewayEvent, _ keys: inout DeviceKeys) {
        if json {
            let id = event.id.map { "\"\($0)\"" } ?? "null"
            return printJSON(Data(#"{"data":\#(event.data),"event":"\#(event.name)","id":\#(id)}"#.utf8))
        }
        let summary = try? JSONDecoder().decode(Summary.self, from: Data(event.data.utf8))
        keys.take(event.name, Data(event.data.utf8))
        var subject = keys[summary?.deviceID ?? summary?.session?.deviceID ?? summary?.id ?? ""]
        if event.name == "structure" || event.name == "room" { subject = summary?.name ?? subject }
        let counts = [("problems", summary?.problems), ("needsRestart", summary?.needsRestart)]
            .compactMap { name, count in count.map { "\(name): \($0)" } }
        let words =
            [summary?.connectivityState, summary?.change, summary?.phase, summary?.reason].compactMap { $0 } + counts
        print("\(event.name)  \(subject)  \(words.joined(separator: " "))")
    }
}
