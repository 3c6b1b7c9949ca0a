import HomeTypes
import Transport

/// Where the recordings of each connection go: the recorder's thread asks, and the connections decide.
public final class UploadDestinations: Sendable {
    private struct Key: Hashable {
        let device: String
        let connection: UInt16
    }

    private struct State {
        var byConnection: [Key: UploadDestination] = [:]
        /// The principals of connections that have ended with their right. A recording of one may still be about to begin;
        /// see ``UploadDestinations/settle(_:of:)``.
        var ended: [Key: String] = [:]
    }

    private let state = Locked(State())

    /// Knows of no connection yet.
    public init() {}

    /// The connection of a recording that is about to begin.
    public func set(_ connection: TransportConnection, of device: String) {
        let key = Key(device: device, connection: connection.id)
        let destination = UploadDestination(connection.options)
        state.withLock { state in
            // Numbers come again only after all others, so this is not another connection of the same principal.
            if let owner = state.ended[key], owner == connection.owner { return }
            state.ended[key] = nil
            state.byConnection[key] = destination
        }
    }

    /// Nothing more is recorded on a connection until it is set again.
    public func forget(_ connection: UInt16, of device: String) {
        state.withLock { $0.byConnection[Key(device: device, connection: connection)] = nil }
    }

    /// A connection has ended because its principal may no longer have the footage: from now on nothing of it is uploaded.
    public func end(_ connection: TransportConnection, of device: String) {
        let key = Key(device: device, connection: connection.id)
        state.withLock { state in
            state.byConnection[key] = nil
            state.ended[key] = connection.owner
        }
    }

    /// Every order to record that was given before the end of a connection has arrived: there is nothing left to stop.
    public func settle(_ connection: TransportConnection, of device: String) {
        let key = Key(device: device, connection: connection.id)
        state.withLock { state in
            // The number may belong to somebody else, whose connection has ended meanwhile.
            if state.ended[key] == connection.owner { state.ended[key] = nil }
        }
    }

    /// How much is remembered of connections, for tests.
    var remembered: Int { state.withLock { $0.byConnection.count + $0.ended.count } }

    /// Where a recording goes; nil when it stays in the local store.
    public func destination(of session: RecordingSession) -> UploadDestination? {
        state.withLock { $0.byConnection[Key(device: session.id.device, connection: session.connection)] }
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
