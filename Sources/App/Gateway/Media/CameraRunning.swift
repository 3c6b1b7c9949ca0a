import HomeHub
import HomeTypes

/// Who runs the cameras of the config. The registry does; tests have their own.
public protocol CameraRunning: Sendable {
    /// Makes the running cameras these, in this order. What stays as it is, is not touched.
    /// - Returns: what became of each camera that was touched.
    func apply(_ cameras: [GatewayConfiguration.Camera]) async -> CameraChanges

    /// What was found out about a camera; nil where there is nothing to find out.
    func findings(of id: String) async -> CameraFindings?

    /// Connects to a camera anew, also one that was given up; its viewers stay. False where no such camera runs.
    func reconnect(_ id: String) async -> Bool
}

/// What became of the cameras when the config changed, by their identifiers.
public struct CameraChanges: Sendable {
    /// New.
    public var added: [String] = []
    /// With other settings than before.
    public var changed: [String] = []
    /// Gone.
    public var removed: [String] = []
    /// The drivers of cameras that are new to the home or stand on another station now.
    public var drivers: [any CameraDriver] = []

    /// Nothing has changed.
    public init() {}

    /// Whether no camera was touched.
    public var isEmpty: Bool { self.added.isEmpty && self.changed.isEmpty && self.removed.isEmpty }
}

/// The driver of a camera that could not be made: the home shows it with the reason.
struct UnusableCamera: CameraDriver {
    let deviceID: String
    let reason: String

    var hasSpeaker: Bool { false }
    var speakerReading: SpeakerReading? { nil }

    func updates() -> AsyncStream<CameraUpdate> {
        AsyncStream { continuation in
            continuation.yield(.source(CameraSourceStatus(state: .stopped, reason: self.reason)))
            continuation.finish()
        }
    }

    func press() async throws(HomeError) {
        throw HomeError.unavailable(self.reason)
    }
}
