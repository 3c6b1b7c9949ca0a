import Foundation
import HomeTypes

/// `onOff=true` or `OnOff.onOff=true`: an attribute that a command line gives a value, and the request that does it.
struct AttributeAssignment {
    /// What is sent for an assignment.
    enum Action: Equatable {
        /// Attributes of a trait are written.
        case write(trait: String, [String: JSONObject.Value])
        /// The attribute cannot be written, and a command changes it.
        case command(trait: String, name: String, [String: JSONObject.Value])
    }

    let trait: String?
    let attribute: String
    let text: String

    /// Reads one; nil for a text without a name and an equals sign.
    init?(_ text: String) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        let name = text[..<equals].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let last = name.last, !last.isEmpty else { return nil }
        trait = name.count > 1 ? name.dropLast().joined(separator: ".") : nil
        // What people say for what the vocabulary calls it.
        attribute = Self.aliases[last] ?? last
        self.text = String(text[text.index(after: equals)...])
    }

    private static let aliases = [
        "level": "currentLevel", "position": "currentPositionLiftPercent100ths",
        "colorTemperature": "colorTemperatureMireds", "volume": "currentVolume",
    ]

    /// What does all of them on a device. Attributes of one trait are written by one request, which the gateway checks as a
    /// whole before it changes anything.
    /// - Throws: as ``action(on:endpoint:)``, before anything is sent.
    static func actions(
        for assignments: [AttributeAssignment], on device: DeviceSnapshot, endpoint: UInt16?
    ) throws(HomeError) -> [Action] {
        var actions: [Action] = []
        for assignment in assignments {
            let next = try assignment.action(on: device, endpoint: endpoint)
            guard case .write(let trait, let values) = next else {
                actions.append(next)
                continue
            }
            var isJoined = false
            for (index, earlier) in actions.enumerated() {
                guard case .write(trait, let others) = earlier else { continue }
                actions[index] = .write(trait: trait, others.merging(values) { _, last in last })
                isJoined = true
            }
            if !isJoined { actions.append(next) }
        }
        return actions
    }

    /// What does it on a device.
    /// - Throws: `invalidArgument` with the attributes that the device has, for one that it lacks or that nothing changes.
    func action(on device: DeviceSnapshot, endpoint number: UInt16?) throws(HomeError) -> Action {
        let endpoints = device.endpoints.filter { number == nil || $0.id == number }
        guard !endpoints.isEmpty else {
            throw .notFound(
                "\(device.label) has no endpoint \(number ?? 0); it has "
                    + device.endpoints.map { "\($0.id)" }.joined(separator: ", "))
        }
        // The primary type's traits come first, as in requests without an endpoint.
        let primary = device.primaryEndpoint
        let ordered = endpoints.filter { $0.id == primary?.id } + endpoints.filter { $0.id != primary?.id }
        for endpoint in ordered {
            for known in endpoint.traits.all {
                let name = type(of: known).name
                guard trait == nil || trait == name, AttributeText.members(known)[attribute] != nil else { continue }
                if let action = try action(known) { return action }
            }
        }
        throw .invalidArgument(
            "\(device.label) has no attribute \(attribute.debugDescription) that can be set; "
                + HomeOverview.choice(Self.settable(endpoints)))
    }

    /// The attributes of a device that can be set.
    static func settable(_ endpoints: [EndpointSnapshot]) -> [String] {
        var names: [String] = []
        for trait in endpoints.flatMap(\.traits.all) {
            let kind = type(of: trait)
            let supported = AttributeText.members(trait).keys.sorted()
            names += supported.filter { canSet($0, of: kind) }
        }
        return names
    }

    /// Whether an attribute can be set, by writing it or by a command.
    static func canSet(_ attribute: String, of kind: any Trait.Type) -> Bool {
        kind.writableAttributes.contains(attribute) || commands["\(kind.name).\(attribute)"] != nil
    }

    private func action(_ known: any Trait) throws(HomeError) -> Action? {
        let name = type(of: known).name
        if type(of: known).writableAttributes.contains(attribute) {
            return .write(trait: name, [attribute: try value(for: known)])
        }
        guard let command = Self.commands["\(name).\(attribute)"] else { return nil }
        return try command(self, name)
    }

    /// What 100 % is.
    private static let scales: [String: Double] = [
        "LevelControl.currentLevel": 254, "WindowCovering.currentPositionLiftPercent100ths": 10_000,
        "WindowCovering.targetPositionLiftPercent100ths": 10_000, "LevelControl.onLevel": 254,
    ]

    private typealias Making = @Sendable (AttributeAssignment, String) throws(HomeError) -> Action

    /// Attributes that Matter changes by commands.
    private static let commands: [String: Making] = [
        "OnOff.onOff": { (one, trait) throws(HomeError) in
            .command(trait: trait, name: try one.boolean() ? "on" : "off", [:])
        },
        "SimplifiedOnOff.onOff": { (one, trait) throws(HomeError) in
            .command(trait: trait, name: try one.boolean() ? "on" : "off", [:])
        },
        "LevelControl.currentLevel": { (one, trait) throws(HomeError) in
            .command(
                trait: trait, name: "moveToLevel", Self.moving(["level": try one.value(scale: 254)]))
        },
        "ColorControl.colorTemperatureMireds": { (one, trait) throws(HomeError) in
            .command(
                trait: trait, name: "moveToColorTemperature",
                Self.moving(["colorTemperatureMireds": try one.value(scale: nil)]))
        },
        "WindowCovering.currentPositionLiftPercent100ths": cover,
        "WindowCovering.targetPositionLiftPercent100ths": cover,
        "DoorLock.lockState": { (one, trait) throws(HomeError) in
            switch one.text {
            case "locked": .command(trait: trait, name: "lockDoor", [:])
            case "unlocked": .command(trait: trait, name: "unlockDoor", [:])
            default: throw .invalidArgument("lockState: expected locked or unlocked, and not \(one.text.prefix(64))")
            }
        },
        "Brightness.brightness": { (one, trait) throws(HomeError) in
            .command(trait: trait, name: "setBrightness", ["brightness": try one.value(scale: 100)])
        },
        "Volume.currentVolume": { (one, trait) throws(HomeError) in
            .command(trait: trait, name: "setVolume", ["volumeLevel": try one.value(scale: 100)])
        },
        "Volume.isMuted": { (one, trait) throws(HomeError) in
            .command(trait: trait, name: "mute", ["mute": .bool(try one.boolean())])
        },
    ]

    private static let cover: Making = { (one, trait) throws(HomeError) in
        .command(
            trait: trait, name: "goToLiftPercentage", ["liftPercent100thsValue": try one.value(scale: 10_000)])
    }

    /// The fields of a command that moves at once, and also while the lamp is off.
    private static func moving(_ fields: [String: JSONObject.Value]) -> [String: JSONObject.Value] {
        fields.merging(
            ["transitionTime": .integer(0), "optionsMask": .integer(1), "optionsOverride": .integer(1)]
        ) { own, _ in own }
    }

    private func boolean() throws(HomeError) -> Bool {
        switch text.lowercased() {
        case "true", "on", "yes", "1": return true
        case "false", "off", "no", "0": return false
        default:
            throw .invalidArgument("\(attribute): expected true or false, and not \(text.prefix(64).debugDescription)")
        }
    }

    /// Attributes whose share is that of a level which the device itself reports, with the lowest level.
    private static let levels = [
        "CameraAvStreamManagement.speakerVolumeLevel": (lowest: "speakerMinLevel", highest: "speakerMaxLevel"),
        "CameraAvStreamManagement.microphoneVolumeLevel": (lowest: "microphoneMinLevel", highest: "microphoneMaxLevel"),
    ]

    /// The value of an attribute that can be written, of the kind that it has now.
    /// - Throws: `invalidArgument` for a text that is of another kind.
    private func value(for trait: any Trait) throws(HomeError) -> JSONObject.Value {
        let members = AttributeText.members(trait)
        let name = "\(type(of: trait).name).\(attribute)"
        let json = try? JSONDecoder().decode(JSONObject.Value.self, from: Data(text.utf8))
        // The gateway says whether the attribute can be null.
        if json == .null { return .null }
        switch members[attribute] {
        case .bool?: return .bool(try boolean())
        case .text?:
            if case .text? = json { return json ?? .text(text) }
            return .text(text)
        case .integer?, .large?, .number?:
            if AttributeText.temperatures.contains(name), let hundredths { return .integer(hundredths) }
            var scale = Self.scales[name]
            var lowest: Int64 = .min
            if let level = Self.levels[name], case .integer(let highest)? = members[level.highest] {
                scale = Double(highest)
                if case .integer(let level)? = members[level.lowest] { lowest = level }
            }
            switch try value(scale: scale) {
            case .integer(let number) where text.hasSuffix("%"): return .integer(max(lowest, number))
            case .integer(let number): return .integer(number)
            case .large(let number): return .large(number)
            case .number(let number): return .number(number)
            default:
                throw .invalidArgument("\(attribute): expected a number, and not \(text.prefix(64).debugDescription)")
            }
        default: return try value(scale: Self.scales[name])
        }
    }

    /// Hundredths of a degree, for a temperature with its unit such as `21.5°C`; nil for another text.
    private var hundredths: Int64? {
        guard text.hasSuffix("C") else { return nil }
        let number = text.dropLast().trimmingCharacters(in: CharacterSet(charactersIn: "° "))
        guard let degrees = Double(number), abs(degrees) < 1_000 else { return nil }
        return Int64((degrees * 100).rounded())
    }

    /// The value as JSON. What is not JSON is a text, such as the name of an enum's case.
    /// - Parameter scale: what 100 % is; nil for an attribute that is not a share.
    private func value(scale: Double?) throws(HomeError) -> JSONObject.Value {
        if text.hasSuffix("%") {
            guard let share = Double(text.dropLast().trimmingCharacters(in: .whitespaces)), (0...100).contains(share)
            else { throw .invalidArgument("\(attribute): expected 0% to 100%, and not \(text.prefix(64))") }
            return .integer(Int64((share / 100 * (scale ?? 100)).rounded()))
        }
        let value = try? JSONDecoder().decode(JSONObject.Value.self, from: Data(text.utf8))
        return value ?? .text(text)
    }
}
