import Cameras

extension CameraStation.Snapshot {
    /// What the state of a camera's source does not say.
    public enum Reason: Sendable, Equatable {
        /// Nothing may leave the camera.
        case refused(OutputRefusal)
        /// The camera is pulled on demand, and nobody needs it.
        case onDemand
        /// The camera sends, and some of its tracks do not reach every viewer.
        case faults([TrackFault])
    }

    /// Why nothing of a camera can be shown.
    public enum Trouble: Sendable, Equatable {
        /// Its source does not bring media.
        case source(SourceState)
        /// Its source does. Something else is wrong.
        case other(Reason)
    }

    /// Why nothing may leave the camera; nil while something may.
    public var refusal: OutputRefusal? {
        guard case .refused(let refusal)? = reason else { return nil }
        return refusal
    }

    /// In words, why the camera, or a part of it, is not flowing; nil while all is well.
    public var explanation: String? { reason?.words ?? (state == .flowing ? nil : state.words) }

    /// Why nothing of the camera can be shown; nil where nothing is known to be wrong.
    public var trouble: Trouble? { state == .flowing ? reason.map(Trouble.other) : .source(state) }
}

extension CameraStation.Snapshot.Trouble {
    /// The trouble as a person reads it beside the camera's name.
    public var words: String {
        switch self {
        case .source(let state): state.words
        case .other(let reason): reason.words
        }
    }
}

extension CameraStation.Snapshot.Reason {
    /// The reason as a person reads it beside the camera's name.
    public var words: String {
        switch self {
        case .refused(let refusal): "it \(refusal.words)"
        case .onDemand: "on demand: it is pulled only while somebody needs it"
        case .faults(let faults): faults.map(\.words).joined(separator: "; ")
        }
    }
}
