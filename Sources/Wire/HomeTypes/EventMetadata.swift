import Foundation

/// How important an event is (Matter core specification, section 7.14.1.2). The kind of the event decides it.
public enum EventImportance: String, Sendable, Hashable, CaseIterable {
    /// Something for troubleshooting.
    case debug
    /// Something that people and apps may want to know.
    case info
    /// Something that matters for safety, or for whether the device works.
    case critical
}

/// What comes with an event besides its fields. It is not part of the event's own JSON.
public struct EventMetadata: Sendable, Hashable {
    /// When the event happened, in seconds since 1970.
    public var timestamp: TimeInterval

    /// Describes an event's circumstances.
    public init(timestamp: TimeInterval = 0) {
        self.timestamp = timestamp
    }
}

extension EventMetadata: Codable {
    public init(from decoder: any Decoder) throws { self.init() }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

extension KeyedDecodingContainer {
    /// An event's JSON does not contain metadata. Synthesized decoding of events calls this.
    public func decode(_ type: EventMetadata.Type, forKey key: Key) throws -> EventMetadata { EventMetadata() }
}

extension KeyedEncodingContainer {
    /// Writes nothing. Synthesized encoding of events calls this.
    public mutating func encode(_ metadata: EventMetadata, forKey key: Key) throws {}
}
