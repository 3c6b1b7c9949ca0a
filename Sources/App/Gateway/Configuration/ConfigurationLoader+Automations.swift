import Foundation
import Yams

/// The section `automations`.
extension ConfigurationLoader {
    func automations(_ place: YAMLReader.Place) -> GatewayConfiguration.Automations {
        var result = GatewayConfiguration.Automations()
        let keys = reader.mapping(place, keys: ["enabled", "maximum", "history", "notify", "clips"])
        if let isEnabled = reader.boolean(keys["enabled"]) { result.isEnabled = isEnabled }
        if let maximum = reader.integer(keys["maximum"], in: 1...10_000) { result.maximum = maximum }
        if let place = keys["history"] {
            let keys = reader.mapping(place, keys: ["days", "runs"])
            if let days = reader.integer(keys["days"], in: 1...36_500) { result.days = days }
            if let runs = reader.integer(keys["runs"], in: 1...100_000) { result.runs = runs }
        }
        for place in reader.sequence(keys["notify"]) {
            guard let receiver = receiver(place) else { continue }
            if result.receivers.contains(where: { $0.name == receiver.name }) {
                reader.report("there is another receiver with the name \(receiver.name)", at: place)
            }
            result.receivers.append(receiver)
        }
        for place in reader.sequence(keys["clips"]) {
            guard let clip = clip(place) else { continue }
            if result.clips.contains(where: { $0.number == clip.number }) {
                reader.report("there is another clip with the number \(clip.number)", at: place)
            }
            result.clips.append(clip)
        }
        return result
    }

    private func clip(_ place: YAMLReader.Place) -> GatewayConfiguration.Automations.Clip? {
        let keys = reader.mapping(place, keys: ["number", "name", "file"])
        guard place.node.mapping != nil else { return nil }
        guard keys["number"] != nil, keys["name"] != nil, keys["file"] != nil else {
            reader.report("expected number, name and file, a WAV file", at: place)
            return nil
        }
        guard let number = reader.integer(keys["number"], in: 1...255), let name = reader.string(keys["name"]),
            let file = reader.string(keys["file"])
        else { return nil }
        // The trait `Chime` takes no more.
        guard (1...48).contains(name.utf8.count), !file.isEmpty else {
            reader.report("expected a name of 1 to 48 bytes, and a file", at: place)
            return nil
        }
        return .init(number: UInt8(clamping: number), name: name, file: path(file))
    }

    private func receiver(_ place: YAMLReader.Place) -> GatewayConfiguration.Automations.Receiver? {
        let keys = reader.mapping(place, keys: ["name", "topic", "url", "token", "ca"])
        guard place.node.mapping != nil else { return nil }
        guard let name = reader.string(keys["name"]), !name.isEmpty else {
            reader.report("name is missing; automations choose a receiver by it", at: keys["name"] ?? place)
            return nil
        }
        // The parameter `receiver` of `notify` takes no more.
        guard name.count <= 60 else {
            reader.report("expected a name of at most 60 characters", at: keys["name"] ?? place)
            return nil
        }
        if keys["url"] == nil, let key = keys["token"] ?? keys["ca"] {
            reader.report("token and ca belong to a url; a broker has its own in the section mqtt", at: key)
        }
        switch (keys["topic"], keys["url"]) {
        case (let topic?, nil):
            guard let text = reader.string(topic) else { return nil }
            guard (1...512).contains(text.utf8.count), !text.contains(where: { "+#\0".contains($0) }) else {
                reader.report("expected a topic of 1 to 512 bytes without + and #", at: topic)
                return nil
            }
            return .init(name: name, way: .mqtt(topic: text))
        case (nil, let url?):
            guard let text = reader.string(url) else { return nil }
            guard let address = URL(string: text), address.scheme == "https", address.host?.isEmpty == false,
                address.user == nil, address.fragment == nil
            else {
                reader.report("expected an address that begins with https://, without a user or a fragment", at: url)
                return nil
            }
            return .init(
                name: name,
                way: .https(
                    url: text, token: keys["token"].flatMap(environmentSecret),
                    authorities: reader.string(keys["ca"]).map(path)))
        default:
            reader.report("expected either topic or url", at: place)
            return nil
        }
    }
}
