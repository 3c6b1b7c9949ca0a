import HomeTypes

extension ValidationIssue {
    /// The issue as the HTTP API shows it: `path`, `severity`, `type`, `message`, and the values of the type under their
    /// names. Durations are seconds.
    public var json: JSONObject {
        var members = type.values
        members["path"] = .text(path)
        members["severity"] = .text(severity.rawValue)
        members["type"] = .text(type.name)
        members["message"] = .text(type.words)
        return JSONObject(members)
    }
}

extension ValidationIssueType {
    /// The values of the case, by their names. A value without a name is called after its kind.
    fileprivate var values: [String: JSONObject.Value] {
        guard let payload = Mirror(reflecting: self).children.first?.value else { return [:] }
        let mirror = Mirror(reflecting: payload)
        var result: [String: JSONObject.Value] = [:]
        if mirror.displayStyle == .tuple {
            for (label, value) in mirror.children { Self.add(value, named: label, to: &result) }
        } else {
            Self.add(payload, named: nil, to: &result)
        }
        return result
    }

    private static func add(_ value: Any, named label: String?, to result: inout [String: JSONObject.Value]) {
        let mirror = Mirror(reflecting: value)
        // A value that is nil is left out.
        if mirror.displayStyle == .optional, mirror.children.isEmpty { return }
        let name = label.flatMap { $0.hasPrefix(".") ? nil : $0 }
        switch value {
        case let text as String: result[name ?? "reference"] = .text(text)
        case let number as Int: result[name ?? "count"] = .integer(Int64(number))
        case let texts as [String]: result[name ?? "names"] = .list(texts.map { .text($0) })
        case let duration as Duration:
            let (seconds, attoseconds) = duration.components
            result[name ?? "duration"] =
                attoseconds == 0 ? .integer(seconds) : .number(Double(seconds) + Double(attoseconds) / 1e18)
        case let operation as GraphOperator: result["operator"] = .text(operation.rawValue)
        case let behaviour as BehaviorID:
            switch behaviour {
            case .command(let id): result["command"] = .text(id)
            case .event(let id): result["event"] = .text(id)
            case .trait(let id): result["trait"] = .text(id)
            }
        default: result[name ?? "detail"] = .text("\(value)")
        }
    }
}
