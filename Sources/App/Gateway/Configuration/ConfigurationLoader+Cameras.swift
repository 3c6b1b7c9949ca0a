import Foundation
import HomeTypes
import Yams

extension ConfigurationLoader {
    func cameras(_ place: YAMLReader.Place?) -> [GatewayConfiguration.Camera] {
        var lines: [String: Int] = [:]
        var result: [GatewayConfiguration.Camera] = []
        for element in self.reader.sequence(place) {
            guard let camera = self.camera(element) else { continue }
            if let line = lines[camera.id] {
                self.reader.report("the id \(camera.id) is taken by the camera of line \(line)", at: element)
                continue
            }
            lines[camera.id] = element.line
            result.append(camera)
        }
        return result
    }

    private func camera(_ place: YAMLReader.Place) -> GatewayConfiguration.Camera? {
        let keys = self.reader.mapping(place, keys: ["id", "name", "type", "source"])
        guard place.node.mapping != nil else { return nil }
        guard let idPlace = keys["id"], let id = self.reader.string(idPlace) else {
            self.reader.report("id is missing", at: place)
            return nil
        }
        guard Self.isIdentifier(id) else {
            self.reader.report(
                "expected 1 to 64 letters, digits, '.', '_' and '-', a letter or digit first", at: idPlace)
            return nil
        }
        guard let sourcePlace = keys["source"], let source = self.source(sourcePlace) else {
            if keys["source"] == nil { self.reader.report("source is missing", at: place) }
            return nil
        }
        let kind: DeviceKind
        switch self.reader.word(keys["type"], among: ["doorbell", "camera"]) {
        case "doorbell": kind = .doorbell
        case "camera": kind = .camera
        default: kind = source == .builtInDoorbell ? .doorbell : .camera
        }
        return .init(id: id, name: self.reader.string(keys["name"]) ?? id, kind: kind, source: source)
    }

    private func source(_ place: YAMLReader.Place) -> GatewayConfiguration.Camera.Source? {
        guard let text = self.reader.string(place), let source = self.substituted(text, at: place) else { return nil }
        if source == "builtin:doorbell" { return .builtInDoorbell }
        if source.lowercased().hasPrefix("rtsp://") {
            let authority = source.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
            let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            guard !host.isEmpty, !host.hasPrefix(":"), source.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
                self.reader.report(
                    "the RTSP URL has no host, or holds a space; write rtsp://user:password@host:554/path with special "
                        + "characters of the password percent-encoded", at: place)
                return nil
            }
            return .rtsp(source)
        }
        self.reader.report("expected builtin:doorbell or an rtsp:// URL", at: place)
        return nil
    }

    /// Puts the environment's values in for `${NAME}`, so that a password need not stand in the file.
    private func substituted(_ text: String, at place: YAMLReader.Place) -> String? {
        var result = ""
        var rest = Substring(text)
        while let start = rest.range(of: "${") {
            result += rest[..<start.lowerBound]
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else {
                self.reader.report("\"${\" has no closing \"}\"", at: place)
                return nil
            }
            let name = String(rest[start.upperBound..<end])
            guard let value = self.environment[name] else {
                self.reader.report("the environment has no variable \(name)", at: place)
                return nil
            }
            result += value
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    static func isIdentifier(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first else { return false }
        func isLetterOrDigit(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        }
        return isLetterOrDigit(first) && text.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }
}
