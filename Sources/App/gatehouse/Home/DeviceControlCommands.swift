import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse device set`.
struct DeviceSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set attributes of a device.",
        discussion: """
            Attributes have the names that gatehouse device show prints; level and position may be percentages, and \
            temperatures may have a unit. If two traits have an attribute of this name, put the trait in front: \
            OnOff.onOff=true. If only a Matter command can change an attribute, that command is sent. gatehouse device \
            show lists the values that a camera's settings can have (supportedNightVisionModes, supportedImageRotations).

            Examples:
              gatehouse device set door-lamp onOff=true level=40%
              gatehouse device set blinds position=100%
              gatehouse device set heating occupiedHeatingSetpoint=21.5°C
              gatehouse device set yard nightVision=auto imageRotation=180 speakerVolumeLevel=50%
            """)

    @OptionGroup var which: DeviceArgument

    @Argument(help: ArgumentHelp("What to set.", valueName: "attribute=value"))
    var assignments: [String]

    @OptionGroup var part: EndpointOption

    @Flag(help: "Print the device as JSON afterwards.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        for text in assignments where AttributeAssignment(text) == nil {
            throw ValidationError("\(text): expected an attribute and its value, for example onOff=true")
        }
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let device = try await HomeOverview(connection).device(named: which.device)
            // All of them are understood before the first is sent.
            let actions = try AttributeAssignment.actions(
                for: assignments.compactMap(AttributeAssignment.init), on: device, endpoint: part.endpoint)
            let path = "/v1/devices/\(GatewayConnection.segment(device.id))"
            for action in actions {
                switch action {
                case .write(let trait, let values):
                    _ = try await HomeRequest.send(
                        .patch, "\(path)/traits/\(GatewayConnection.segment(trait))\(part.query)", values, connection)
                case .command(let trait, let name, let fields):
                    _ = try await HomeRequest.send(
                        .post, "\(path)/traits/\(GatewayConnection.segment(trait))/commands/\(name)\(part.query)",
                        fields,
                        connection)
                }
            }
            let data = try await connection.get(path)
            if json { return printJSON(data) }
            print("\(device.label): \(try connection.decode(DeviceSnapshot.self, data).stateWords)")
        }
    }
}

/// `gatehouse device command`.
struct DeviceSendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "command", abstract: "Send a command of a trait to a device.",
        discussion: """
            A field is read as JSON, or else as text. The response is always printed as JSON.

            Examples:
              gatehouse device command door-lamp OnOff toggle
              gatehouse device command front-door-lock DoorLock lockDoor
              gatehouse device command door-lamp LevelControl moveToLevel level=100 transitionTime=10 \
            optionsMask=0 optionsOverride=0
            """)

    @OptionGroup var which: DeviceArgument

    @Argument(help: "The trait.")
    var trait: String

    @Argument(help: "The command.")
    var command: String

    @Argument(help: ArgumentHelp("The fields of the command.", valueName: "field=value"))
    var fields: [String] = []

    @OptionGroup var part: EndpointOption

    @Flag(help: "Print JSON, as this command always does.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    private func members() throws -> [String: JSONObject.Value] {
        var members: [String: JSONObject.Value] = [:]
        for field in fields {
            guard let equals = field.firstIndex(of: "="), equals != field.startIndex else {
                throw ValidationError("\(field): expected a field and its value, for example level=100")
            }
            let text = String(field[field.index(after: equals)...])
            members[String(field[..<equals])] =
                (try? JSONDecoder().decode(JSONObject.Value.self, from: Data(text.utf8))) ?? .text(text)
        }
        return members
    }

    func validate() throws { _ = try members() }

    func run() async throws {
        let connection = try gateway.connect()
        let members = try members()
        try await reportingHomeErrors {
            let device = try await HomeOverview(connection).device(named: which.device)
            guard device.traitNames.contains(trait) else {
                throw HomeError.notFound(
                    "\(device.label) has no trait \(trait.debugDescription); "
                        + HomeOverview.choice(device.traitNames))
            }
            if let type = Vocabulary.trait(named: trait), Vocabulary.command(named: command, of: type) == nil {
                throw HomeError.notFound(
                    "\(trait) has no command \(command.debugDescription); "
                        + HomeOverview.choice(type.supportedCommandTypes.map { $0.name }))
            }
            let path =
                "/v1/devices/\(GatewayConnection.segment(device.id))/traits/\(GatewayConnection.segment(trait))"
                + "/commands/\(GatewayConnection.segment(command))\(part.query)"
            printJSON(try await HomeRequest.send(.post, path, members, connection))
        }
    }
}

/// `gatehouse device watch`.
struct DeviceWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print the changes of a device until interrupted.")

    @OptionGroup var which: DeviceArgument

    @Option(help: ArgumentHelp("Exit after this many changes.", valueName: "number"))
    var count: Int?

    @Flag(help: "Print one JSON object per line: event and data.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    private struct Subject: Decodable {
        var id: String?
        var deviceID: String?
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let device = try await HomeOverview(connection).device(named: which.device)
            var state = Watching(left: count ?? .max)
            var follower = EventFollower(connection, patience: nil)
            do throws(HomeError) {
                try await follower.run { report in
                    guard case .update(let update) = report else { return }
                    switch update {
                    case .state(let events): for event in events { take(event, of: device.id, &state) }
                    case .change(let event), .missed(let event): take(event, of: device.id, &state)
                    }
                    guard state.left <= 0 else { return }
                    withUnsafeCurrentTask { task in
                        if let task { task.cancel() }
                    }
                }
            } catch {
                guard state.left <= 0 else { throw error }
            }
        }
    }

    /// How far a watch has come.
    private struct Watching {
        var left: Int
        var known: DeviceSnapshot?
    }

    private func take(_ event: GatewayEvent, of device: String, _ state: inout Watching) {
        let data = Data(event.data.utf8)
        let subject = try? JSONDecoder().decode(Subject.self, from: data)
        let isState = event.name == "device" || event.name == "deviceAdded"
        guard state.left > 0, (isState ? subject?.id : subject?.deviceID) == device else { return }
        let newer = isState ? try? JSONDecoder().decode(DeviceSnapshot.self, from: data) : nil
        // The first is the present state.
        let isFirst = isState && state.known == nil
        if json {
            printJSON(Data(#"{"data":\#(event.data),"event":"\#(event.name)"}"#.utf8))
        } else {
            for line in Self.lines(event.name, from: state.known, to: newer) { print(line) }
        }
        state.known = newer ?? state.known
        if !isFirst { state.left -= 1 }
    }

    /// What has changed, a line for each attribute.
    private static func lines(
        _ event: String, from old: DeviceSnapshot?, to new: DeviceSnapshot?
    ) -> [String] {
        guard let new else { return [event] }
        guard let old else { return ["\(new.label): \(new.stateWords)"] }
        var lines: [String] = []
        if old.name != new.name { lines.append("name: \(old.name) → \(new.name)") }
        if old.connectivityState != new.connectivityState {
            lines.append("\(old.connectivityState.rawValue) → \(new.connectivityState.rawValue)")
        }
        for endpoint in new.endpoints {
            let earlier = old.endpoints.first { $0.id == endpoint.id }
            for trait in endpoint.traits.all {
                let name = type(of: trait).name
                let before = AttributeText.members(earlier?.traits[name])
                for (attribute, value) in AttributeText.members(trait).sorted(by: { $0.key < $1.key })
                where before[attribute] != value {
                    func words(_ value: JSONObject.Value?) -> String {
                        AttributeText.words(value, trait: name, attribute: attribute)
                    }
                    lines.append("\(name).\(attribute): \(words(before[attribute])) → \(words(value))")
                }
            }
        }
        return lines
    }
}

/// `gatehouse device remove`.
struct DeviceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Decommission a device: its id is never used again.",
        discussion: "Shows what would happen, and asks first. Only the owner's token may do this.")

    @OptionGroup var which: DeviceArgument

    @Flag(help: "Delete its recordings too.")
    var deleteRecordings = false

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON. Needs --yes.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    /// What the gateway says would happen.
    private struct Plan: Decodable {
        struct Recordings: Decodable {
            var count: Int
            var byteCount: Int64
        }
        var deviceID: String
        var isEligible: Bool
        var reason: String?
        var recordings: Recordings
        var webhook: Bool
        var history: String
        var automations: [String]
        var tokens: [String]
    }

    func validate() throws {
        if json, !yes { throw ValidationError("--json cannot ask; add --yes") }
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let device = try await listed(connection)
            let label = device?.label ?? which.device
            let path = "/v1/devices/\(GatewayConnection.segment(device?.id ?? which.device))"
            let plan = try connection.decode(Plan.self, try await connection.get("\(path)/decommission"))
            guard plan.isEligible else {
                throw HomeError.failedPrecondition(
                    "\(label) cannot be removed: \(plan.reason ?? "no reason given")")
            }
            if !json { show(plan, name: device?.name ?? which.device) }
            if !yes {
                let answer = try Confirmation.answer(to: "Remove \(label)? Type yes: ")
                guard answer == "yes" else { return print("Nothing was changed.") }
            }
            let query = deleteRecordings ? "?recordings=delete" : ""
            let data = try await connection.send(GatewayRequest(.delete, path + query)).body
            if json { return printJSON(data) }
            print("\(label) is removed")
        }
    }

    /// The device as the home lists it; nil for one that is not listed. That may be a camera that was taken out of the
    /// config: the gateway still knows its key and its id, but not its name.
    private func listed(_ connection: GatewayConnection) async throws(HomeError) -> DeviceSnapshot? {
        let home = try await HomeOverview(connection)
        do throws(HomeError) {
            return try home.device(named: which.device)
        } catch {
            // Nothing has an empty key, and a path without the device would name something else.
            guard error.code == .notFound, !which.device.isEmpty else { throw error }
            return nil
        }
    }

    private func show(_ plan: Plan, name: String) {
        print("\(name) (\(plan.deviceID)) would be removed for good.")
        let recordings = plan.recordings
        if recordings.count > 0 {
            let size = ByteCountFormatter.string(fromByteCount: recordings.byteCount, countStyle: .file)
            print("  recordings:  \(recordings.count) (\(size)) \(deleteRecordings ? "are deleted" : "stay")")
        } else {
            print("  recordings:  none")
        }
        print("  history:     \(plan.history)")
        print("  automations: \(plan.automations.isEmpty ? "none use it" : plan.automations.joined(separator: ", "))")
        print("  tokens:      \(plan.tokens.isEmpty ? "none is only for it" : plan.tokens.joined(separator: ", "))")
        if plan.webhook { print("  webhook:     its token is revoked") }
    }
}
