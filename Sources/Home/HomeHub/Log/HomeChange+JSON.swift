import Foundation
import HomeTypes
import Signalling

/// The JSON of changes, which the event stream sends and the log keeps.
extension HomeChange {
    /// A change in the form that the log keeps.
    struct Encoded {
        var name: String
        var subject: String
        var effect: LogEntry.Effect?
        var principal: String?
        var data: String
    }

    /// The data of the event `session`.
    private struct SessionData: Codable {
        var change: SessionChange
        var session: SessionSnapshot
    }

    /// The data of the event `deviceRemoved`.
    private struct RemovedData: Codable {
        var deviceID: String
    }

    /// The data of the event `structureRemoved`.
    private struct RemovedStructure: Codable {
        var structureID: String
    }

    /// The data of the event `roomRemoved`.
    private struct RemovedRoom: Codable {
        var roomID: String
    }

    /// The data of the event `missed`.
    private struct MissedData: Codable {
        var reason: String
        /// Absent if events may be missing.
        var eventsFollow: Bool?
    }

    /// The data of the event `DoorbellPressed`.
    private struct PressData: Codable {
        var deviceID: String
        var timestamp: Date
        var complementaryToneId: String?
        var doorbellPressTimeSeconds: Int64?
        var priority: Int64?
    }

    /// The data of the events `PushTransportBegin` and `PushTransportEnd`.
    private struct RecordingData: Codable {
        var deviceID: String
        var timestamp: Date
        var connectionID: UInt16
        var triggerType: Google.PushAvStreamTransportTrait.TransportTriggerTypeEnum?
        var activationReason: Google.PushAvStreamTransportTrait.TriggerActivationReasonEnum?
        var containerType: Google.PushAvStreamTransportTrait.ContainerFormatEnum?
        var cmafSessionNumber: UInt64?
    }

    /// The data of what a camera detects: the events `Motion`, `Person`, `Sound` and the like.
    private struct DetectionData: Codable {
        var deviceID: String
        var trait: String
        var timestamp: Date
        var cameraTimestamp: Date?
        var phase: DetectionPhase
        var eventSessionId: String
    }

    /// What the entries of a device are about.
    public static func subject(ofDevice id: String) -> String { "device/\(id)" }

    /// Whether entries with a subject are about a device.
    static func isDevice(subject: String) -> Bool { subject.hasPrefix("device/") }

    /// What the entries of a structure are about.
    static func subject(ofStructure id: String) -> String { "structure/\(id)" }

    /// Alarms of one kind for one device or automation replace one another. The subject of an automation's alarm also
    /// says who may see it.
    static func subject(of alarm: HomeAlarm) -> String {
        if let automation = alarm.automationID {
            return AutomationAlarmSubject(
                kind: alarm.kind.rawValue, automationID: automation, structureID: alarm.structureID ?? "",
                owner: alarm.owner ?? ""
            ).text
        }
        return "alarm/\(alarm.kind.rawValue)" + (alarm.deviceID.map { "/\($0)" } ?? "")
    }

    func encoded() -> Encoded {
        switch self {
        case .structure(let structure):
            return Encoded(
                name: "structure", subject: Self.subject(ofStructure: structure.id), effect: .replaces,
                data: Self.json(structure))
        case .structureRemoved(let id):
            return Encoded(
                name: "structureRemoved", subject: Self.subject(ofStructure: id), effect: .removes,
                data: Self.json(RemovedStructure(structureID: id)))
        case .room(let room):
            return Encoded(name: "room", subject: "room/\(room.id)", effect: .replaces, data: Self.json(room))
        case .roomRemoved(let id):
            return Encoded(
                name: "roomRemoved", subject: "room/\(id)", effect: .removes, data: Self.json(RemovedRoom(roomID: id)))
        case .device(let device), .deviceAdded(let device):
            var name = "device"
            if case .deviceAdded = self { name = "deviceAdded" }
            return Encoded(
                name: name, subject: Self.subject(ofDevice: device.id), effect: .replaces, data: Self.json(device))
        case .deviceRemoved(let id):
            return Encoded(
                name: "deviceRemoved", subject: Self.subject(ofDevice: id), effect: .removes,
                data: Self.json(RemovedData(deviceID: id)))
        case .session(let change, let session):
            return Encoded(
                name: "session", subject: "session/\(session.session.mediaSessionId)",
                effect: change == .ended ? .removes : .replaces, principal: session.session.principal,
                data: Self.json(SessionData(change: change, session: session)))
        case .doorbellPressed(let id, let timestamp, let press):
            return Encoded(
                name: Google.DoorbellPressTrait.DoorbellPressedEvent.name, subject: Self.subject(ofDevice: id),
                data: Self.json(
                    PressData(
                        deviceID: id, timestamp: timestamp, complementaryToneId: press.complementaryToneId,
                        doorbellPressTimeSeconds: press.doorbellPressTimeSeconds, priority: press.priority)))
        case .detection(let id, let timestamp, let detection):
            return Encoded(
                name: detection.kind.eventName, subject: Self.subject(ofDevice: id),
                data: Self.json(
                    DetectionData(
                        deviceID: id, trait: detection.kind.traitName, timestamp: timestamp,
                        cameraTimestamp: detection.cameraTimestamp, phase: detection.phase,
                        eventSessionId: detection.eventSessionId)))
        case .recordingBegan(let id, let timestamp, let begin):
            return Encoded(
                name: Google.PushAvStreamTransportTrait.PushTransportBeginEvent.name,
                subject: Self.subject(ofDevice: id),
                data: Self.json(
                    RecordingData(
                        deviceID: id, timestamp: timestamp, connectionID: begin.connectionID,
                        triggerType: begin.triggerType, activationReason: begin.activationReason,
                        containerType: begin.containerType, cmafSessionNumber: begin.cmafSessionNumber)))
        case .recordingEnded(let id, let timestamp, let end):
            return Encoded(
                name: Google.PushAvStreamTransportTrait.PushTransportEndEvent.name,
                subject: Self.subject(ofDevice: id),
                data: Self.json(
                    RecordingData(
                        deviceID: id, timestamp: timestamp, connectionID: end.connectionID,
                        containerType: end.containerType, cmafSessionNumber: end.cmafSessionNumber)))
        case .traitEvent(let id, let timestamp, let event):
            return Encoded(
                name: event.name, subject: Self.subject(ofDevice: id),
                data: Self.json(TraitEventData(deviceID: id, timestamp: timestamp, event: event)))
        case .alarm(let alarm):
            let effect: LogEntry.Effect? =
                switch alarm.state {
                case .raised: .replaces
                case .cleared: .removes
                case .occurred: nil
                }
            return Encoded(
                name: "alarm", subject: Self.subject(of: alarm), effect: effect, data: Self.json(alarm))
        case .configuration(let summary):
            return Encoded(
                name: "configuration", subject: ConfigurationSummary.subject, effect: .replaces,
                data: Self.json(summary))
        case .missed(let reason, let eventsFollow):
            return Encoded(
                name: "missed", subject: "",
                data: Self.json(MissedData(reason: reason, eventsFollow: eventsFollow ? true : nil)))
        }
    }

    /// Reads a change; nil for one that this version does not know.
    init?(name: String, data: String) {
        func read<Value: Decodable>(_ type: Value.Type) -> Value? {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try? decoder.decode(type, from: Data(data.utf8))
        }
        switch name {
        case "structure":
            guard let structure = read(StructureSnapshot.self) else { return nil }
            self = .structure(structure)
        case "structureRemoved":
            guard let removed = read(RemovedStructure.self) else { return nil }
            self = .structureRemoved(structureID: removed.structureID)
        case "room":
            guard let room = read(RoomSnapshot.self) else { return nil }
            self = .room(room)
        case "roomRemoved":
            guard let removed = read(RemovedRoom.self) else { return nil }
            self = .roomRemoved(roomID: removed.roomID)
        case "device":
            guard let device = read(DeviceSnapshot.self) else { return nil }
            self = .device(device)
        case "deviceAdded":
            guard let device = read(DeviceSnapshot.self) else { return nil }
            self = .deviceAdded(device)
        case "deviceRemoved":
            guard let removed = read(RemovedData.self) else { return nil }
            self = .deviceRemoved(deviceID: removed.deviceID)
        case "session":
            guard let session = read(SessionData.self) else { return nil }
            self = .session(session.change, session.session)
        case "alarm":
            guard let alarm = read(HomeAlarm.self) else { return nil }
            self = .alarm(alarm)
        case "configuration":
            guard let summary = read(ConfigurationSummary.self) else { return nil }
            self = .configuration(summary)
        case "missed":
            guard let missed = read(MissedData.self) else { return nil }
            self = .missed(reason: missed.reason, eventsFollow: missed.eventsFollow ?? false)
        case Google.DoorbellPressTrait.DoorbellPressedEvent.name:
            guard let press = read(PressData.self) else { return nil }
            self = .doorbellPressed(
                deviceID: press.deviceID, at: press.timestamp,
                .init(
                    complementaryToneId: press.complementaryToneId,
                    doorbellPressTimeSeconds: press.doorbellPressTimeSeconds, priority: press.priority))
        case Google.PushAvStreamTransportTrait.PushTransportBeginEvent.name:
            guard let begin = read(RecordingData.self), let type = begin.triggerType else { return nil }
            self = .recordingBegan(
                deviceID: begin.deviceID, at: begin.timestamp,
                .init(
                    connectionID: begin.connectionID, triggerType: type, activationReason: begin.activationReason,
                    containerType: begin.containerType, cmafSessionNumber: begin.cmafSessionNumber))
        case Google.PushAvStreamTransportTrait.PushTransportEndEvent.name:
            guard let end = read(RecordingData.self) else { return nil }
            self = .recordingEnded(
                deviceID: end.deviceID, at: end.timestamp,
                .init(
                    connectionID: end.connectionID, containerType: end.containerType,
                    cmafSessionNumber: end.cmafSessionNumber))
        default:
            if let event = read(TraitEventData.self)?.read(as: name) {
                self = event
                return
            }
            guard let kind = DetectionKind.allCases.first(where: { $0.eventName == name }),
                let detection = read(DetectionData.self)
            else { return nil }
            self = .detection(
                deviceID: detection.deviceID, at: detection.timestamp,
                DetectionEvent(
                    kind: kind, phase: detection.phase, eventSessionId: detection.eventSessionId,
                    cameraTimestamp: detection.cameraTimestamp))
        }
    }

    private static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // JSON without line breaks. Only a number that is not finite cannot be JSON, and these values do not contain
        // one.
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

extension DeviceEvent {
    /// An event of the log; nil for an entry that is not an event.
    init?(_ entry: LogEntry, log: String) {
        let id = LogCursor(log: log, incarnation: entry.incarnation, sequence: entry.sequence).text
        switch HomeChange(name: entry.name, data: entry.data) {
        case .doorbellPressed(let device, _, let press)?:
            self.init(id: id, deviceID: device, at: entry.timestamp, press)
        case .detection(let device, _, let detection)?:
            self.init(id: id, deviceID: device, at: entry.timestamp, detection)
        case .recordingBegan(let device, _, let begin)?:
            self.init(id: id, deviceID: device, at: entry.timestamp, begin)
        case .recordingEnded(let device, _, let end)?:
            self.init(id: id, deviceID: device, at: entry.timestamp, end)
        default: return nil
        }
    }

    /// The change that the event reports; nil for one of a kind that this version does not know.
    var change: HomeChange? {
        if event == Google.DoorbellPressTrait.DoorbellPressedEvent.name {
            return .doorbellPressed(
                deviceID: deviceID, at: timestamp,
                .init(
                    complementaryToneId: complementaryToneId,
                    doorbellPressTimeSeconds: doorbellPressTimeSeconds, priority: priority))
        }
        guard let kind = DetectionKind.allCases.first(where: { $0.eventName == event }) else { return nil }
        return .detection(
            deviceID: deviceID, at: timestamp,
            DetectionEvent(
                kind: kind, phase: phase ?? .momentary, eventSessionId: eventSessionId ?? "",
                cameraTimestamp: cameraTimestamp))
    }
}
