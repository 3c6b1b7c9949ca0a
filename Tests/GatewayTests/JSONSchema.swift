import Foundation

/// As much of JSON Schema as the API's document uses; an unknown keyword is an error, so that none is skipped silently.
struct JSONSchema {
    let document: [String: Any]

    static let annotations: Set<String> = ["description", "format", "summary"]

    /// What is wrong with the value, by place; empty if it matches.
    func problems(_ value: Any, _ schema: [String: Any], at place: String = "$") -> [String] {
        var problems: [String] = []
        for (keyword, argument) in schema where !Self.annotations.contains(keyword) {
            switch keyword {
            case "$ref":
                guard let target = resolve(argument as? String ?? "") else {
                    problems.append("\(place): unresolved \(argument)")
                    continue
                }
                problems += self.problems(value, target, at: place)
            case "type": if !Self.isOf(argument as? String ?? "", value) { problems.append("\(place): no \(argument)") }
            case "const": if !Self.equal(argument, value) { problems.append("\(place): not \(argument)") }
            case "enum":
                let choices = argument as? [Any] ?? []
                if !choices.contains(where: { Self.equal($0, value) }) {
                    problems.append("\(place): \(value) no choice")
                }
            case "minimum":
                if let least = argument as? NSNumber, let number = value as? NSNumber,
                    number.doubleValue < least.doubleValue
                {
                    problems.append("\(place): below \(least)")
                }
            case "maximum":
                if let most = argument as? NSNumber, let number = value as? NSNumber,
                    number.doubleValue > most.doubleValue
                {
                    problems.append("\(place): above \(most)")
                }
            case "minLength", "maxLength":
                // The vocabulary counts bytes of UTF-8, which are at least as many as JSON Schema's characters.
                guard let limit = argument as? Int, let text = value as? String else { continue }
                let isKept = keyword == "minLength" ? text.count >= limit : text.count <= limit
                if !isKept { problems.append("\(place): \(keyword) \(limit)") }
            case "required":
                for key in argument as? [String] ?? [] where (value as? [String: Any])?[key] == nil {
                    problems.append("\(place): lacks \(key)")
                }
            case "properties":
                for (key, child) in argument as? [String: [String: Any]] ?? [:] {
                    guard let entry = (value as? [String: Any])?[key] else { continue }
                    problems += self.problems(entry, child, at: "\(place).\(key)")
                }
            case "additionalProperties":
                let known = Set((schema["properties"] as? [String: Any] ?? [:]).keys)
                for (key, entry) in value as? [String: Any] ?? [:] where !known.contains(key) {
                    if let child = argument as? [String: Any] {
                        problems += self.problems(entry, child, at: "\(place).\(key)")
                    } else if argument as? Bool == false {
                        problems.append("\(place): has \(key)")
                    }
                }
            case "items":
                for (index, entry) in (value as? [Any] ?? []).enumerated() {
                    problems += self.problems(entry, argument as? [String: Any] ?? [:], at: "\(place)[\(index)]")
                }
            case "maxItems":
                if let limit = argument as? Int, let count = (value as? [Any])?.count, count > limit {
                    problems.append("\(place): has more than \(limit) items")
                }
            case "anyOf":
                let choices = argument as? [[String: Any]] ?? []
                if !choices.contains(where: { self.problems(value, $0, at: place).isEmpty }) {
                    problems.append("\(place): fits none")
                }
            default: problems.append("\(place): the keyword \(keyword) is unknown to the test")
            }
        }
        return problems
    }

    /// The part of the document that a reference names.
    func resolve(_ reference: String) -> [String: Any]? {
        guard reference.hasPrefix("#/") else { return nil }
        var node: Any? = document
        for key in reference.dropFirst(2).split(separator: "/") {
            node = (node as? [String: Any])?[String(key)]
        }
        return node as? [String: Any]
    }

    private static func isBoolean(_ value: Any) -> Bool {
        (value as? NSNumber).map { CFGetTypeIDIsBoolean($0) } ?? false
    }

    private static func CFGetTypeIDIsBoolean(_ number: NSNumber) -> Bool {
        String(cString: number.objCType) == "c" || String(cString: number.objCType) == "B"
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "boolean": Self.isBoolean(value)
        case "number": value is NSNumber && !Self.isBoolean(value)
        case "integer":
            (value as? NSNumber).map { !Self.isBoolean(value) && $0.doubleValue == $0.doubleValue.rounded() } ?? false
        default: false
        }
    }

    private static func equal(_ first: Any, _ second: Any) -> Bool {
        (first as? NSObject)?.isEqual(second as? NSObject) ?? false
    }
}
