import HomeTypes
import Yams

/// The section `recording`.
extension ConfigurationLoader {
    private static let ruleKeys = ["trigger", "preRoll", "days", "gigabytes"]

    func recording(_ place: YAMLReader.Place) -> GatewayConfiguration.Recording? {
        if place.node.scalar != nil, let isOn = place.node.bool { return isOn ? .init() : nil }
        let keys = reader.mapping(
            place, keys: Self.ruleKeys + ["folder", "totalGigabytes", "freeGigabytes", "uploadGigabytes", "cameras"])
        var result = GatewayConfiguration.Recording()
        if let folder = reader.string(keys["folder"]) { result.folder = path(folder) }
        result.totalGigabytes = reader.integer(keys["totalGigabytes"], in: 1...1_000_000)
        result.uploadGigabytes = reader.integer(keys["uploadGigabytes"], in: 1...1_000_000)
        if let free = reader.integer(keys["freeGigabytes"], in: 0...1_000_000) { result.freeGigabytes = free }
        read(keys, into: &result.rules)
        for camera in reader.sequence(keys["cameras"]) {
            let keys = reader.mapping(camera, keys: ["id"] + Self.ruleKeys)
            guard let id = reader.string(keys["id"]) else {
                reader.report("id is missing; it names the camera that these rules are for", at: camera)
                continue
            }
            guard result.cameras[id] == nil else {
                reader.report("the rules of camera \(id) occur twice", at: camera)
                continue
            }
            var rules = result.rules
            read(keys, into: &rules)
            result.cameras[id] = rules
        }
        return result
    }

    private func read(_ keys: [String: YAMLReader.Place], into rules: inout GatewayConfiguration.Recording.Rules) {
        typealias Trigger = Google.PushAvStreamTransportTrait.TransportTriggerTypeEnum
        if let word = reader.word(keys["trigger"], among: Trigger.allCases.map(\.rawValue)),
            let trigger = Trigger(rawValue: word)
        {
            rules.trigger = trigger
        }
        // The relay's ring holds half a minute of an ordinary stream.
        if let seconds = reader.integer(keys["preRoll"], in: 0...30) { rules.preRollSeconds = seconds }
        if let days = reader.integer(keys["days"], in: 1...36_500) { rules.days = days }
        if let gigabytes = reader.integer(keys["gigabytes"], in: 1...1_000_000) { rules.gigabytes = gigabytes }
    }
}
