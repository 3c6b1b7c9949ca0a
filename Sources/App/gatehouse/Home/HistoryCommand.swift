import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse history`: what happened in the home.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show what happened in the home, the latest first.",
        discussion: """
            Kinds are cameraEvent, press, stateChange and recording. A time is like 2026-01-31T12:00:00Z, or how long \
            ago: 90m, 12h, 7d.

            Examples:
              gatehouse history --since 1d
              gatehouse history --device front-door --kind press --limit 10
              gatehouse history --kind cameraEvent --since 2026-01-31T00:00:00Z --until 2026-02-01T00:00:00Z --json
            """)

    @Option(
        help: ArgumentHelp("Only this device; may be given more than once.", valueName: "device"),
        completion: HomeCompletion.devices)
    var device: [String] = []

    @Option(
        help: ArgumentHelp("Only devices in this room.", valueName: "room"), completion: HomeCompletion.rooms)
    var room: String?

    @Option(
        help: ArgumentHelp("Only this kind; may be given more than once.", valueName: "kind"),
        completion: .list(HistoryRecord.Kind.allCases.map(\.rawValue)))
    var kind: [String] = []

    @Option(help: ArgumentHelp("Only what began then or later.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only what began earlier.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("Print at most this many items.", valueName: "number"))
    var limit = 50

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit: expected a number above 0") }
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let home = try await HomeOverview(connection)
            let path = try query(home)
            var cursor: String?
            var left = limit
            var table = TerminalTable(
                header: ["TIME", "DEVICE", "WHAT", "RECORDING"], whole: ["TIME", "DEVICE", "RECORDING"])
            let ids = ShownIdentifiers(home.devices.map(\.id))
            var count = 0
            repeat {
                let place = cursor.map { "&cursor=\(GatewayConnection.segment($0))" } ?? ""
                let data = try await connection.get("\(path)&pageSize=\(min(left, 200))\(place)")
                let page = try connection.decode(HistoryRecordPage.self, data)
                for item in page.items {
                    if json { try printLine(item) } else { table.add(row(item, home, ids)) }
                }
                count += page.items.count
                left -= page.items.count
                cursor = page.cursor
            } while cursor != nil && left > 0
            guard !json else { return }
            print(count == 0 ? "Nothing matches." : table.text)
        }
    }

    private func query(_ home: HomeOverview) throws -> String {
        var parts: [String] = []
        if !device.isEmpty {
            // A device that is gone may still have a history, under its id.
            let ids = device.map { name in (try? home.device(named: name).id) ?? name }
            parts.append("device=\(ids.map(GatewayConnection.segment).joined(separator: ","))")
        }
        if let room { parts.append("room=\(GatewayConnection.segment(try home.room(named: room).id))") }
        if !kind.isEmpty { parts.append("kind=\(kind.map(GatewayConnection.segment).joined(separator: ","))") }
        for (name, text) in [("since", since), ("until", until)] {
            guard let text else { continue }
            let time = try TimeText.timestamp(text, option: "--\(name)")
            parts.append("\(name)=\(GatewayConnection.segment(time))")
        }
        return "/v1/history?\(parts.joined(separator: "&"))"
    }

    private func printLine(_ item: HistoryRecord) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        printJSON(try encoder.encode(item))
    }

    private func row(_ item: HistoryRecord, _ home: HomeOverview, _ ids: ShownIdentifiers) -> [String] {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        let device = home.devices.first { $0.id == item.deviceID }.map { $0.key ?? ids[$0.id] } ?? item.deviceID
        return [formatter.string(from: item.timestamp), device, Self.words(item), item.recordingID ?? "-"]
    }

    private static func words(_ item: HistoryRecord) -> String {
        var words: String
        switch item.kind {
        case .stateChange where item.attribute != nil:
            let name = item.attribute ?? ""
            func value(_ value: JSONObject.Value?) -> String {
                AttributeText.words(value, trait: item.trait, attribute: name)
            }
            words = "\(name) \(value(item.from)) → \(value(item.to))"
        case .recording: words = "recorded"
        case .press: words = item.event == "DoorbellPressed" ? "doorbell pressed" : item.event ?? "pressed"
        default: words = item.event ?? item.kind.rawValue
        }
        if let end = item.endTimestamp {
            let seconds = Int(end.timeIntervalSince(item.timestamp).rounded())
            if seconds > 0 { words += " (\(seconds) s)" }
        }
        return words
    }
}
