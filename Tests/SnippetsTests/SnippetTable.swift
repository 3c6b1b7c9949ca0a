/// The snippets of the documents, and how each of them is here.
enum SnippetTable {
    /// How a snippet was taken over.
    enum Form {
        case asPrinted
        /// It has been changed, for this reason.
        case changed(String)
    }

    private static let withoutCancellable = "the printed code drops the cancellable, so nothing would be received"

    static let forms: [(snippet: String, form: Form)] =
        [
            ("A1", .asPrinted), ("A2", .changed(withoutCancellable)), ("A3", .asPrinted),
            ("A4", .changed(withoutCancellable)), ("A5", .asPrinted), ("A6", .asPrinted), ("A7", .asPrinted),
            ("A8", .asPrinted), ("A9", .asPrinted),
            ("A10", .changed("compactMap of a truth value makes a list of truth values; filter is meant")),
            ("A11", .asPrinted), ("A12", .changed("commas before closing brackets and an ellipsis are not JSON")),
            ("A13", .asPrinted), ("A14", .asPrinted), ("A15", .asPrinted), ("A16", .asPrinted), ("A17", .asPrinted),
            ("A18", .asPrinted),
            ("O1", .asPrinted), ("O2", .asPrinted),
            ("O3", .changed("an assignment in place of a comparison, missing brackets, if let of a value")),
            ("O4", .asPrinted), ("O5", .changed("if let of a value that is not optional")),
            ("O6", .changed("a missing brace, a name that nothing declares, if let of a value")),
            ("O7", .asPrinted), ("O8", .asPrinted),
            ("C1", .asPrinted), ("C2", .asPrinted), ("C3", .asPrinted), ("C4", .asPrinted), ("C5", .asPrinted),
        ] + (1...15).map { ("E\($0)", automationChanges[$0].map { .changed($0) } ?? .asPrinted) }

    private static let automationChanges = [
        5: "the printed code leaves out which lights the user selects",
        13: "the automation is optional", 14: "the automation is optional", 15: "the automation is optional",
    ]
}
