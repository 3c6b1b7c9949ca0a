/// Whether video that a viewer cannot play is transcoded to VP8.
public enum TranscodingMode: String, Sendable, Hashable, CaseIterable {
    /// If a viewer can play none of the camera's streams, and the ``TranscodingBudget`` has room.
    case automatic = "auto"
    /// The same, whatever it costs: the budget does not limit it.
    case always
    /// Never.
    case never
}
