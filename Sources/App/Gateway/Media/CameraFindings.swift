import Cameras

/// What the gateway found out about a camera besides its tracks, as the API shows it.
public struct CameraFindings: Sendable, Codable, Equatable {
    /// What the gateway learned, by its names; see `CameraProfile`.
    public var profile: [String: String] = [:]
    /// The transport of the packets now, for example `tcp`; nil before the camera plays.
    public var transport: String?
    /// The keep-alive in use; nil before the camera plays.
    public var keepAlive: String?
    /// The codec that the camera's speaker accepts, for example `PCMA/8000`; empty if it describes none.
    public var speaker: [String] = []
    /// In words, which parts of the camera's description are not pulled, and what else one should know.
    public var notes: [String] = []

    /// Nothing is known.
    public init() {}

    /// What a source has found out.
    init(_ report: CameraReport) {
        profile = report.profile
        transport = report.transport
        keepAlive = report.keepAlive
        speaker = report.speaker
        notes = report.notes.map(\.description)
    }
}
