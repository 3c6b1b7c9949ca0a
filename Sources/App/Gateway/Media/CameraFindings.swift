import Cameras
import RTSP
import SDP
import Signalling

/// What the gateway found out about a camera besides its tracks, as the API shows it.
public struct CameraFindings: Sendable, Codable, Equatable {
    /// What the gateway learned, by its names; see `CameraProfile`.
    public var profile: [String: String] = [:]
    /// The transport of the packets now, for example `tcp`; nil before the camera plays.
    public var carriage: String?
    /// The keep-alive in use; nil before the camera plays.
    public var keepAlive: String?
    /// The codec that the camera's speaker accepts, for example `PCMA/8000`; empty if it describes none.
    public var speaker: [String] = []
    /// In words, which parts of the camera's description are not pulled, and what else one should know.
    public var notes: [String] = []

    /// Nothing is known.
    public init() {}

    /// What a source has found out; nil if there is nothing to find out, or nothing has been found out yet.
    init?(_ source: any CameraSource) {
        switch source {
        case let source as RTSPSource:
            self.init(source)
        case let source as ONVIFSource:
            guard let current = source.current else { return nil }
            self.init(current)
        case let source as MultiStreamSource:
            self = CameraFindings(source.main) ?? CameraFindings()
            self.add(source.substreamState, CameraFindings(source.substream))
        default:
            return nil
        }
    }

    /// Adds the state of the smaller stream to the notes.
    private mutating func add(_ state: SourceState, _ substream: CameraFindings?) {
        var words = state.words
        if let carriage = substream?.carriage { words += " over \(carriage)" }
        self.notes.append("substream: \(words)")
        self.notes += (substream?.notes ?? []).map { "substream: \($0)" }
    }

    private init(_ source: RTSPSource) {
        self.profile = source.profile.fields
        self.carriage = source.transportInUse.carriage?.rawValue
        self.keepAlive = source.transportInUse.keepAlive?.rawValue
        self.speaker = source.backChannel?.payloads.map { "\($0.codec.name)/\($0.codec.clockRate)" } ?? []
        self.notes = source.notes
    }
}
