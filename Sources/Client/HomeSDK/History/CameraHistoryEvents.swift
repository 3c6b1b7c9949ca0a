import HomeTypes

/// The events of cameras, as `Google.CameraHistoryTrait` and its filters name them, and as the gateway does.
enum CameraHistoryEvents {
    typealias EventType = Google.CameraHistoryTrait.EventType

    /// The gateway's names, with the filter and the type of each.
    private static let table: [(event: String, filter: String, type: EventType)] = [
        ("Motion", "EVENT_TYPE_MOTION", .motion), ("Person", "EVENT_TYPE_PERSON", .person),
        ("DoorbellPressed", "EVENT_TYPE_DOORBELL", .doorbell), ("Animal", "EVENT_TYPE_ANIMAL", .animal),
        ("Vehicle", "EVENT_TYPE_VEHICLE", .vehicle), ("Sound", "EVENT_TYPE_SOUND", .sound),
        ("Face", "EVENT_TYPE_FACE", .face), ("Package", "EVENT_TYPE_PACKAGE_DELIVERED", .packageDelivered),
    ]

    /// The gateway's names of all of them.
    static var names: [String] { table.map(\.event) }

    /// The filter for an event; nil for one that is not a camera's.
    static func filter(ofEvent name: String) -> String? { table.first { $0.event == name }?.filter }

    /// The events of a filter; empty for one that no event has.
    static func events(ofFilter filter: String) -> [String] { table.filter { $0.filter == filter }.map(\.event) }

    /// The type of an event.
    static func type(ofEvent name: String) -> EventType { table.first { $0.event == name }?.type ?? .unspecified }
}
