import HomeHub

extension CameraEntry {
    /// Tells what is written apart, without the order of the keys. It is kept in the state folder beside the passwords
    /// themselves, so it does not have to hide what it is made of.
    var fingerprint: String {
        // A text always has a form in JSON.
        (try? ContentVersion.of([Self.canonical(.group(values))])) ?? ""
    }

    private static func canonical(_ value: Value) -> String {
        switch value {
        case .text(let text): return "\(text.utf8.count):\(text)"
        case .flag(let flag): return flag ? "true" : "false"
        case .group(let values):
            let pairs = values.sorted { $0.key < $1.key }
                .map { "\($0.key.utf8.count):\($0.key)=\(canonical($0.value))" }
            return "{" + pairs.joined(separator: ",") + "}"
        case .list: return "list"
        case .none: return "null"
        }
    }
}
