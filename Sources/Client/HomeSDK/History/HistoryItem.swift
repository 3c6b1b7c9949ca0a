import Foundation
import GatewayClient
import HomeTypes

/// Where an item of the history comes from.
public enum HistorySource: Sendable, Hashable {
    /// A device. The device itself is available while the home is followed and still has it.
    case device(HomeDevice?, id: String, endpoint: UInt16?)
}

/// Something that happened (Home APIs, history). A visitor finds out what it is with ``accept(_:)``.
public struct HistoryItem: Sendable, Hashable, Identifiable {
    /// What an item is about.
    public typealias Kind = HistoryRecord.Kind

    private let model: HomeModel
    let record: HistoryRecord
    /// Where it comes from.
    public let source: HistorySource

    init(_ model: HomeModel, _ record: HistoryRecord, device: DeviceRecord?) {
        self.model = model
        self.record = record
        source = .device(
            device.map { HomeDevice(model, $0) }, id: record.deviceID, endpoint: record.endpoint)
    }

    /// The identifier, which never changes.
    public var id: String { record.id }
    /// What it is about.
    public var kind: Kind { record.kind }
    /// When it happened or began.
    public var timestamp: Date { record.timestamp }
    /// When it ended; nil for an item without a duration, and for one that has not ended.
    public var endTimestamp: Date? { record.endTimestamp }

    /// What a camera has seen, as `Google.CameraHistoryTrait` describes it; nil for items of other kinds.
    public var cameraEvent: Google.CameraHistoryTrait.HistoryItemEvent? {
        guard record.kind == .cameraEvent || record.event == "DoorbellPressed", let event = record.event else {
            return nil
        }
        return .init(
            eventTracks: [
                .init(
                    eventTypes: [CameraHistoryEvents.type(ofEvent: event)], startTime: Self.milliseconds(timestamp),
                    endTime: endTimestamp.map(Self.milliseconds))
            ],
            mediaUrl: .init(
                thumbnailUrl: record.thumbnail.map { model.connection.address + $0 },
                previewUrl: record.clip.map { model.connection.address + $0 }))
    }

    /// A JPEG picture of the moment; nil if nothing was recorded.
    public func thumbnail() async throws(HomeError) -> Data? {
        guard let path = record.thumbnail else { return nil }
        return try await model.connection.get(path)
    }

    /// What was recorded around the moment, as an MP4 file of at most an hour; nil if nothing was recorded.
    /// - Throws: `resourceExhausted` for more than 256 MiB, which ``saveClip(to:)`` can save.
    public func clip() async throws(HomeError) -> Data? {
        guard let path = record.clip else { return nil }
        var data = Data()
        _ = try await model.connection.download(path) { (block) throws(HomeError) in
            guard data.count + block.count <= Self.largestClip else {
                throw .resourceExhausted("the clip has more than 256 MiB; save it to a file")
            }
            data.append(block)
        }
        return data
    }

    private static let largestClip = 256 << 20

    /// Saves what was recorded around the moment as an MP4 file, and replaces an existing file only when the clip is whole. A
    /// device or a pipe is not replaced: the clip is written to it as it comes, at the pace of the pipe's reader.
    /// - Returns: false if nothing was recorded.
    /// - Throws: `failedPrecondition` when the file cannot be written, or when nobody reads from the pipe.
    @discardableResult
    public func saveClip(to file: URL) async throws(HomeError) -> Bool {
        guard let path = record.clip else { return false }
        let target = try ClipFile(file)
        defer { target.close() }
        _ = try await model.connection.download(path) { (block) throws(HomeError) in try target.write(block) }
        try target.finish()
        return true
    }

    /// Passes the item to the visitor's method for its kind.
    public func accept<Visitor: HistoryItemVisitor>(_ visitor: Visitor) -> Visitor.Result {
        switch record.kind {
        case .cameraEvent: visitor.visitCameraEvent(self, event: record.event ?? "")
        case .press: visitor.visitPress(self)
        case .recording: visitor.visitRecording(self, recordingID: record.recordingID)
        case .stateChange:
            visitor.visitStateChange(
                self,
                HistoryStateChange(
                    trait: record.trait.flatMap { Vocabulary.trait(named: $0) },
                    attribute: record.attribute ?? record.event ?? "", from: record.from, to: record.to))
        case .unrecognized_: visitor.visitUnknown(self)
        }
    }

    private static func milliseconds(_ date: Date) -> UInt64 {
        UInt64(max(0, (date.timeIntervalSince1970 * 1_000).rounded()))
    }

    public static func == (first: HistoryItem, second: HistoryItem) -> Bool { first.record == second.record }

    public func hash(into hasher: inout Hasher) { hasher.combine(record) }
}

/// A transition of an attribute.
public struct HistoryStateChange: Sendable, Hashable {
    /// The trait; nil for the connectivity of the device.
    public var trait: (any Trait.Type)?
    /// The name of the attribute.
    public var attribute: String
    /// The value before; nil if there was none.
    public var from: JSONObject.Value?
    /// The value after; nil if there is none.
    public var to: JSONObject.Value?

    public static func == (first: HistoryStateChange, second: HistoryStateChange) -> Bool {
        first.trait?.identifier == second.trait?.identifier && first.attribute == second.attribute
            && first.from == second.from && first.to == second.to
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(trait?.identifier)
        hasher.combine(attribute)
        hasher.combine(from)
        hasher.combine(to)
    }
}

/// Has a method for each kind of item. A new kind becomes a new method, so an app finds out at compile time.
public protocol HistoryItemVisitor {
    /// What the methods return.
    associatedtype Result

    /// A camera has seen something.
    /// - Parameter event: the name of the event, for example `Motion`.
    func visitCameraEvent(_ item: HistoryItem, event: String) -> Result
    /// Somebody pressed a button.
    func visitPress(_ item: HistoryItem) -> Result
    /// An attribute has changed.
    func visitStateChange(_ item: HistoryItem, _ change: HistoryStateChange) -> Result
    /// A camera has recorded.
    /// - Parameter recordingID: the recording; nil if it was deleted.
    func visitRecording(_ item: HistoryItem, recordingID: String?) -> Result
    /// An item of a kind that this version does not know.
    func visitUnknown(_ item: HistoryItem) -> Result
}
