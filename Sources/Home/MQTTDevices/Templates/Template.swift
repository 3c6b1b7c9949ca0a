import Foundation

/// A template as Home Assistant's discovery uses them to read and to write payloads: a small subset of Jinja
/// (docs/mqtt.md lists it). A template that needs more is refused as a whole when it is read, so that nothing is
/// guessed.
public struct Template: Sendable, Hashable {
    /// The longest template that is read, in bytes.
    static let longestSource = 4 << 10

    private let parts: Parts

    /// The parts are read by many copies of the template.
    private final class Parts: Sendable, Hashable {
        let source: String
        let all: [TemplatePart]
        /// The path of a template that consists only of `{{ value_json.a.b }}`, as most templates do.
        let path: [String]?

        init(source: String, all: [TemplatePart]) {
            self.source = source
            self.all = all
            if all.count == 1, case .output(let expression) = all[0] {
                self.path = Self.path(of: expression)
            } else {
                self.path = nil
            }
        }

        private static func path(of expression: TemplateExpression) -> [String]? {
            switch expression {
            case .name("value_json"): return []
            case .member(let base, .literal(.string(let key))): return path(of: base).map { $0 + [key] }
            default: return nil
            }
        }

        static func == (left: Parts, right: Parts) -> Bool { left.source == right.source }
        func hash(into hasher: inout Hasher) { hasher.combine(source) }
    }

    /// Reads a template.
    public init(_ source: String) throws(TemplateError) {
        guard source.utf8.count <= Self.longestSource else { throw .unsupported("more than 4 KiB of text") }
        parts = Parts(source: source, all: try TemplateParser.parts(of: source))
    }

    /// The text that the template was read from.
    public var source: String { parts.source }

    /// What a rendering costs at least, in bytes.
    private static let leastEffort = 64

    /// Renders the template for a payload that was received.
    func render(_ payload: MQTTPayload) throws(TemplateError) -> String {
        try payload.effort.spend(Self.leastEffort)
        if let path = parts.path {
            var value = payload.json
            for key in path { value = value?[key] }
            guard let value else { throw .noValue((["value_json"] + path).joined(separator: ".")) }
            let text = value.printed
            try payload.effort.spend(text.utf8.count)
            return text
        }
        var values: [String: JSONValue] = ["value": .string(payload.text)]
        if let json = payload.json { values["value_json"] = json }
        return try render(values, TemplateEffort(within: payload.effort))
    }

    /// Renders the template with these names.
    func render(
        _ values: [String: JSONValue], _ effort: TemplateEffort = TemplateEffort()
    ) throws(TemplateError) -> String {
        var evaluation = TemplateEvaluation(values: values, effort: effort)
        return try evaluation.render(parts.all).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
