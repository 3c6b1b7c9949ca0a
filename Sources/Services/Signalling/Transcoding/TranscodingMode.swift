/// Whether VP8 is made of video that a viewer cannot play.
public enum TranscodingMode: String, Sendable, Hashable, CaseIterable {
    /// Where a viewer can play none of the camera's streams, and the ``TranscodingBudget`` has room.
    case automatic = "auto"
    /// The same, whatever it costs: not limited by the budget.
    case always
    /// Never.
    case never
}
