import Foundation
import HomeTypes

/// Which of the home's changes the history records.
extension History {
    /// Records an event of the home. Other changes are not recorded here, because states need their previous values.
    func take(_ change: HomeChange, at time: Date) {
        let now = Self.milliseconds(time)
        switch change {
        case .doorbellPressed(let device, _, _):
            event(.press, device, Google.DoorbellPressTrait.name, "DoorbellPressed", now)
        case .detection(let device, _, let detection):
            let name = detection.kind.eventName
            let reference = "\(detection.eventSessionId)/\(name)"
            switch detection.phase {
            case .ended: take(.end(reference: reference, device: device, at: now))
            case .began: event(.cameraEvent, device, detection.kind.traitName, name, now, reference: reference)
            case .momentary, .unrecognized_: event(.cameraEvent, device, detection.kind.traitName, name, now)
            }
        case .recordingBegan(let device, _, let begin):
            event(
                .recording, device, Google.PushAvStreamTransportTrait.name, "PushTransportBegin", now,
                reference: Self.reference(begin.connectionID, begin.cmafSessionNumber))
        case .recordingEnded(let device, _, let end):
            take(
                .end(reference: Self.reference(end.connectionID, end.cmafSessionNumber), device: device, at: now))
        case .traitEvent(let device, _, let event):
            let kind: HistoryRow.Kind =
                switch event.trait {
                case Matter.SwitchTrait.name: .press
                case Google.CameraSnapshotTrait.name: .cameraEvent
                default: .stateChange
                }
            self.event(kind, device, event.trait, event.name, now, endpoint: event.endpoint)
        case .deviceRemoved(let device): take(.removed(device: device))
        case .structure, .structureRemoved, .room, .roomRemoved, .device, .deviceAdded, .session, .alarm,
            .configuration, .missed:
            break
        }
    }

    private static func reference(_ connection: UInt16, _ session: UInt64?) -> String {
        "recording/\(connection)/\(session.map(String.init) ?? "")"
    }

    private func event(
        _ kind: HistoryRow.Kind, _ device: String, _ trait: String, _ name: String, _ time: Int64,
        endpoint: UInt16? = nil, reference: String? = nil
    ) {
        take(
            .event(
                HistoryRow(
                    id: 0, time: time, device: device, kind: kind, endpoint: endpoint, trait: trait, name: name,
                    reference: reference)))
    }
}

extension HomeHub {
    /// A page of the history.
    /// - Parameters:
    ///   - structure: only of devices in this structure.
    ///   - room: only of devices in this room.
    ///   - access: what the caller may read. The rest of the home does not appear.
    /// - Throws: `unimplemented` if this gateway does not keep a history.
    public nonisolated func history(
        _ query: HistoryQuery, structure: String? = nil, room: String? = nil, access: Access
    ) async throws(HomeError) -> HistoryRecordPage {
        try await keptHistory.page(query) { [directory] id in
            let object = directory.device(id)
            guard access.permits(.read, object) else { return false }
            if let structure, directory.structure(ofDevice: id) != structure { return false }
            if let room, directory.record(ofDevice: id)?.roomID != room { return false }
            return true
        }
    }

    /// What a caller can ask the history for.
    /// - Throws: `unimplemented` if this gateway does not keep a history.
    public nonisolated func historyFilters(
        structure: String? = nil, access: Access
    ) async throws(HomeError) -> HistoryContents {
        try await keptHistory.filters { [directory] id in
            let object = directory.device(id)
            return access.permits(.read, object)
                && (structure == nil || directory.structure(ofDevice: id) == structure)
        }
    }

    private nonisolated var keptHistory: History {
        get throws(HomeError) {
            guard let historyKeeper else {
                throw .unimplemented("this gateway does not keep a history: its config says history: false")
            }
            return historyKeeper
        }
    }
}
