import Foundation
import HomeHub
import HomeTypes

/// The form in which changes travel: server-sent events (HTML Living Standard, section 9.2).
enum ServerSentEvents {
    /// The data of the event `session`.
    struct SessionEvent: Codable, Sendable, Equatable {
        var change: HomeChange.SessionChange
        var session: SessionSnapshot
    }

    /// The data of the event `deviceRemoved`.
    struct DeviceRemovedEvent: Codable, Sendable, Equatable {
        var deviceID: String
    }

    /// The data of the event `missed`.
    struct MissedEvent: Codable, Sendable, Equatable {
        var reason: String
    }

    /// The data of the event `DoorbellPressed`.
    struct DoorbellEvent: Codable, Sendable, Equatable {
        var deviceID: String
        var timestamp: Date
        var complementaryToneId: String?
        var doorbellPressTimeSeconds: Int64?
        var priority: Int64?
    }

    /// The data of what a camera notices: the events `Motion`, `Person`, `Sound` and their kin.
    struct DetectionData: Codable, Sendable, Equatable {
        var deviceID: String
        var trait: String
        var timestamp: Date
        var cameraTimestamp: Date?
        var phase: DetectionEvent.Phase
        var eventSessionId: String
    }

    /// How long a client waits before it comes back, in milliseconds; the stream's first line.
    static let opening = "retry: 2000\n\n"

    static func encode(_ event: HomeEvent) throws -> String {
        let name: String
        let data: String
        switch event.change {
        case .heartbeat:
            return ": still here\n\n"
        case .missed(let reason):
            name = "missed"
            data = try Self.json(MissedEvent(reason: reason))
        case .device(let device):
            name = "device"
            data = try Self.json(device)
        case .deviceAdded(let device):
            name = "deviceAdded"
            data = try Self.json(device)
        case .deviceRemoved(let deviceID):
            name = "deviceRemoved"
            data = try Self.json(DeviceRemovedEvent(deviceID: deviceID))
        case .session(let change, let session):
            name = "session"
            data = try Self.json(SessionEvent(change: change, session: session))
        case .doorbellPressed(let deviceID, let timestamp, let press):
            name = Google.DoorbellPressTrait.DoorbellPressedEvent.name
            data = try Self.json(
                DoorbellEvent(
                    deviceID: deviceID, timestamp: timestamp, complementaryToneId: press.complementaryToneId,
                    doorbellPressTimeSeconds: press.doorbellPressTimeSeconds, priority: press.priority))
        case .detection(let deviceID, let timestamp, let detection):
            name = detection.kind.eventName
            data = try Self.json(
                DetectionData(
                    deviceID: deviceID, trait: detection.kind.traitName, timestamp: timestamp,
                    cameraTimestamp: detection.cameraTimestamp, phase: detection.phase,
                    eventSessionId: detection.eventSessionId))
        }
        // An empty place would make the client forget the one that it has.
        let place = event.id.isEmpty ? "" : "id: \(event.id)\n"
        return "event: \(name)\n\(place)data: \(data)\n\n"
    }

    /// JSON on one line: the encoder escapes line feeds inside of strings and writes none between.
    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
