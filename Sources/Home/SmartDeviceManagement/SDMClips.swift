import Foundation
public import HomeHub
import HomeTypes

/// Finds the recordings that belong to events, for the messages that a clip is available. It does not have a clock.
public struct SDMClips: Sendable {
    /// How many seconds before a recording the event that started it may be.
    static let lead = 30.0

    private struct Recording {
        var beganAt: Date
        var connection: UInt16
    }

    private struct Session {
        var id: String
        var at: Date
    }

    /// The newest event of each device.
    private var sessions: [String: Session] = [:]
    /// The recordings that are in progress, by device.
    private var recordings: [String: [Recording]] = [:]

    /// Knows no event yet.
    public init() {}

    /// A clip of an event.
    public struct Clip: Sendable, Equatable {
        /// The device.
        public var device: String
        /// The event's session.
        public var session: String
        /// From when to when it was recorded.
        public var beganAt: Date
        public var endedAt: Date
    }

    /// Handles a change of the home; returns the clip that it has completed.
    public mutating func take(_ change: HomeChange, id: String) -> Clip? {
        switch change {
        case .doorbellPressed(let device, let time, _): sessions[device] = Session(id: id, at: time)
        case .detection(let device, let time, let detection) where detection.phase != .ended:
            sessions[device] = Session(id: detection.eventSessionId, at: time)
        case .recordingBegan(let device, let time, let event):
            recordings[device, default: []].append(Recording(beganAt: time, connection: event.connectionID))
        case .recordingEnded(let device, let time, let event):
            guard let index = recordings[device]?.firstIndex(where: { $0.connection == event.connectionID }),
                let recording = recordings[device]?.remove(at: index), recording.beganAt < time,
                let session = sessions[device], session.at <= time,
                session.at >= recording.beganAt.addingTimeInterval(-Self.lead)
            else { return nil }
            return Clip(device: device, session: session.id, beganAt: recording.beganAt, endedAt: time)
        case .deviceRemoved(let device):
            sessions[device] = nil
            recordings[device] = nil
        default: break
        }
        return nil
    }
}
