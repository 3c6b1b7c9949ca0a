import HomeHub
import HomeTypes
import PushAvStreamTransport
import Stations

/// Runs the cameras of the config. ``ConfiguredCameras`` does it; tests have their own.
public protocol CameraRunning: Sendable {
    /// Makes the running cameras match this list, in its order. A camera that is the same is not touched.
    /// - Returns: what happened to each camera that was touched.
    func apply(_ cameras: [GatewayConfiguration.Camera]) async -> CameraChanges

    /// What the gateway found out about a camera; nil if there is nothing to find out.
    func findings(of id: String) async -> CameraFindings?

    /// Reconnects to a camera, even one that was given up; its viewers stay. Returns false if no such camera runs.
    func reconnect(_ id: String) async -> Bool

    /// Shows recorded footage to the programs that read cameras.
    /// - Parameters:
    ///   - recovery: says when the store knows the recordings of earlier runs.
    ///   - permits: which outputs of a device are allowed; nil when nothing decides about it.
    func share(
        recordings store: any RecordingReading, recovery: RecordingRecovery,
        permits: @escaping @Sendable (String) async -> OutputPermits?)

    /// Accepts tokens in the addresses of programs that read cameras: `principal` is the holder of one that may watch a
    /// device.
    func share(accepting principal: @escaping @Sendable (_ token: String, _ device: String) -> String?)

    /// Accepts publishers by RTSP and RTMP, as far as the judge permits them.
    func share(publishing judge: PublisherJudge)

    /// Ends the programs that read a camera for a principal that may no longer watch it.
    func endReaders(of principal: String, unless mayWatch: @escaping @Sendable (_ device: String) -> Bool)
}

extension CameraRunning {
    /// If no other program reads cameras, nobody signs in.
    public func share(accepting principal: @escaping @Sendable (_ token: String, _ device: String) -> String?) {}

    /// If no other program publishes, nobody has to be judged.
    public func share(publishing judge: PublisherJudge) {}

    /// If no other program reads cameras, there is nothing to end.
    public func endReaders(of principal: String, unless mayWatch: @escaping @Sendable (_ device: String) -> Bool) {}

    /// If no other program reads cameras, there is nothing to show.
    public func share(
        recordings store: any RecordingReading, recovery: RecordingRecovery,
        permits: @escaping @Sendable (String) async -> OutputPermits?
    ) {}
}

/// What happened to the cameras when the config changed, by their identifiers.
public struct CameraChanges: Sendable {
    /// New.
    public var added: [String] = []
    /// With changed settings.
    public var changed: [String] = []
    /// Gone.
    public var removed: [String] = []
    /// The drivers of cameras that are new to the home or now have another station.
    public var drivers: [any CameraDriver] = []

    /// Nothing has changed.
    public init() {}

    /// Whether no camera was touched.
    public var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
}

/// The driver of a camera that could not be made: the home shows it with the reason.
struct UnusableCamera: CameraDriver {
    let deviceID: String
    let reason: String

    var hasSpeaker: Bool { false }
    var speakerReading: SpeakerReading? { nil }

    func updates() -> AsyncStream<CameraUpdate> {
        AsyncStream { continuation in
            continuation.yield(.source(CameraSourceStatus(state: .stopped, reason: reason, cause: .other)))
            continuation.finish()
        }
    }

    func press() async throws(HomeError) {
        throw HomeError.unavailable(reason)
    }
}
