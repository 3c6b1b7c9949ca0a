import ONVIF

/// What a source has found out about a camera besides its tracks.
public struct CameraReport: Sendable, Equatable {
    /// What was learned, by its names; see ``CameraProfile``.
    public var profile: [String: String] = [:]
    /// The transport of the packets now, for example `tcp`; nil before the camera plays.
    public var transport: String?
    /// The keep-alive in use; nil before the camera plays.
    public var keepAlive: String?
    /// The codec that the camera's speaker accepts, for example `PCMA/8000`; empty if it describes none.
    public var speaker: [String] = []
    /// Which parts of the camera's description are not pulled, and what else one should know.
    public var notes: [CameraNote] = []

    /// Nothing is known.
    public init() {}

    /// Adds the state of the smaller stream to the notes.
    mutating func add(_ state: SourceState, _ substream: CameraReport?) {
        // Nothing is wrong with a camera that has one stream.
        if case .givenUp(_, _, .onvif(.noSecondProfile)) = state {
            notes.append(.noSmallerStream)
            return
        }
        notes.append(.substreamState(state, transport: substream?.transport))
        notes += (substream?.notes ?? []).map(CameraNote.substream)
    }
}
