import AutomationGraph
import HomeTypes

/// What this version does not know. It may come from a later version, so it is kept, or it may be a typing mistake.
extension GraphValidator {
    mutating func validateUnknown(_ form: RawForm, _ path: String) {
        reportUnknown(path, "the node", Self.words(form.unknownNodeWord) ?? "its type is not known.")
    }

    mutating func validateUnknownExpression(_ form: RawForm, _ path: String) {
        let problem = Self.words(form.unknownExpressionWord) ?? "its members do not belong together."
        reportUnknown(path, "an expression", problem)
    }

    mutating func reportUnknown(_ path: String, _ subject: String, _ problem: String) {
        let later = "If \(subject) is right, it comes from a later version."
        let detail = "\(problem) \(later) The automation is kept, but it does not run"
        report(path, .unknown(detail: detail), .warning)
    }

    /// A sentence that says what is not known, and what may be meant.
    static func words(_ unknown: RawForm.UnknownWord?) -> String? {
        guard let unknown else { return nil }
        let kind = unknown.isType ? "type" : "member"
        let place = unknown.place.isEmpty ? "" : " of \(unknown.place)"
        let advice = Spelling.advice(for: unknown.word, in: unknown.known, what: "\(kind)s")
        let end = advice.hasSuffix("?") ? "" : "."
        return "the \(kind) \(unknown.word.prefix(64).debugDescription)\(place) is not known; \(advice)\(end)"
    }
}
