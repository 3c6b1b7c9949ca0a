import Foundation

/// Something that happened in the home, as `GET /v1/history` lists it.
public struct HistoryRecord: Sendable, Codable, Hashable, Identifiable {
    /// What kind of thing happened.
    public enum Kind: String, Sendable, CaseIterable {
        /// A camera has detected something.
        case cameraEvent
        /// Somebody pressed a button: a doorbell's, or a switch.
        case press
        /// An attribute has changed, a device has become reachable or unreachable, or a trait has reported something
        /// else.
        case stateChange
        /// A camera has recorded.
        case recording
        /// A kind that this version does not know.
        case unrecognized_

        public static let allCases: [Kind] = [.cameraEvent, .press, .stateChange, .recording]
    }

    /// The identifier, which is opaque and stays.
    public var id: String
    /// What kind of thing happened.
    public var kind: Kind
    /// The device that it happened to.
    public var deviceID: String
    /// The part of the device; nil for the device as a whole.
    public var endpoint: UInt16?
    /// The name of the trait; nil for the connectivity of the device.
    public var trait: String?
    /// The name of the attribute that changed; nil for an event.
    public var attribute: String?
    /// The attribute's value before the change; nil if it had none.
    public var from: JSONObject.Value?
    /// The attribute's value after the change; nil if it has none.
    public var to: JSONObject.Value?
    /// The name of the event; nil for an attribute.
    public var event: String?
    /// When it happened, or began.
    public var timestamp: Date
    /// When it ended; nil for an item without a duration, and for one that has not ended.
    public var endTimestamp: Date?
    /// The path of a picture of that moment; nil if nothing was recorded, or if the caller may not see it.
    public var thumbnail: String?
    /// The path of an MP4 file of it.
    public var clip: String?
    /// The recording that shows it.
    public var recordingID: String?

    /// Describes an item.
    public init(id: String, kind: Kind, deviceID: String, timestamp: Date) {
        self.id = id
        self.kind = kind
        self.deviceID = deviceID
        self.timestamp = timestamp
    }
}

extension HistoryRecord.Kind: Codable {
    public init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unrecognized_
    }
}

/// A page of the history: the response of `GET /v1/history`.
public struct HistoryRecordPage: Sendable, Codable, Hashable {
    /// The items, newest first.
    public var items: [HistoryRecord]
    /// The `cursor` for the request for the next page; nil on the last page.
    public var cursor: String?

    /// A page.
    public init(items: [HistoryRecord] = [], cursor: String? = nil) {
        self.items = items
        self.cursor = cursor
    }
}

/// The possible filters of a query of the history: the response of `GET /v1/history/filters`.
public struct HistoryContents: Sendable, Codable, Hashable {
    /// The kinds of items.
    public var kinds: [HistoryRecord.Kind]
    /// The devices that have items.
    public var devices: [String]
    /// The names of the events that have occurred.
    public var events: [String]
    /// When the oldest item happened; nil for an empty history.
    public var oldest: Date?

    /// Describes what there is.
    public init(
        kinds: [HistoryRecord.Kind] = HistoryRecord.Kind.allCases, devices: [String] = [], events: [String] = [],
        oldest: Date? = nil
    ) {
        self.kinds = kinds
        self.devices = devices
        self.events = events
        self.oldest = oldest
    }
}
