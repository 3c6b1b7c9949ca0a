import HomeTypes
import Transport

/// Where the recordings of each connection go: the recorder's thread asks, and the connections decide.
public final class UploadDestinations: Sendable {
    private struct Key: Hashable {
        let device: String
        let connection: UInt16
    }

    private let byConnection = Locked<[Key: UploadDestination]>([:])

    /// Knows of no connection yet.
    public init() {}

    /// The connection of a recording that is about to begin.
    public func set(_ connection: TransportConnection, of device: String) {
        let destination = UploadDestination(connection.options)
        byConnection.withLock { $0[Key(device: device, connection: connection.id)] = destination }
    }

    /// Where a recording goes; nil when it stays in the local store.
    public func destination(of session: RecordingSession) -> UploadDestination? {
        byConnection.withLock { $0[Key(device: session.id.device, connection: session.connection)] }
    }
}

extension UploadDestination {
    /// Nil for the local store.
    init?(_ options: TransportOptions) {
        guard options.tlsEndpointID != 0 else { return nil }
        let container = options.containerOptions.cmafContainerOptions
        let interface: UploadInterface =
            switch container?.cmafInterface {
            case .interface2DASH: .dash
            case .interface2HLS: .hls
            case .interface1, .unrecognized_, nil: .interface1
            }
        self.init(
            endpoint: options.tlsEndpointID, url: options.url, interface: interface,
            segmentDuration: Int(container?.segmentDuration ?? 4_000),
            uploadsWhileRecording: interface != .hls && (container?.chunkDuration ?? 0) > 0)
    }
}
