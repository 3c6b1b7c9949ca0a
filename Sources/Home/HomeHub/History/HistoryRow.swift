import HomeTypes

/// An item as the history's file keeps it.
struct HistoryRow: Sendable, Hashable {
    /// The kinds by their numbers in the file.
    enum Kind: Int, Sendable {
        case cameraEvent = 0
        case press = 1
        case stateChange = 2
        case recording = 3

        var kind: HistoryRecord.Kind {
            switch self {
            case .cameraEvent: .cameraEvent
            case .press: .press
            case .stateChange: .stateChange
            case .recording: .recording
            }
        }

        init?(_ kind: HistoryRecord.Kind) {
            switch kind {
            case .cameraEvent: self = .cameraEvent
            case .press: self = .press
            case .stateChange: self = .stateChange
            case .recording: self = .recording
            case .unrecognized_: return nil
            }
        }
    }

    /// The number. It increases and is not used again.
    var id: Int64
    /// When it happened, in milliseconds since 1970.
    var time: Int64
    /// When it ended.
    var ended: Int64?
    var device: String
    var kind: Kind
    var endpoint: UInt16?
    var trait: String?
    /// The attribute, or the event.
    var name: String
    /// The values before and after, as JSON; nil if there was none.
    var old: String?
    var new: String?
    /// Names the item until it has ended; nil for what does not wait for an end.
    var reference: String?
}

/// An operation on the history's file.
enum HistoryOperation: Sendable, Hashable {
    /// Adds an item.
    case insert(HistoryRow)
    /// Replaces the last value and the end of an item.
    case extend(id: Int64, new: String?, ended: Int64)
    /// Ends the item that waits for it under this name.
    case end(reference: String, device: String, at: Int64)
}
