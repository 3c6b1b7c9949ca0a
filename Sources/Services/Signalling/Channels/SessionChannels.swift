import Cameras
import DataChannels
import Foundation
import MediaRelay
import SDP
import Stations
import Transport

/// The data channels of live views: what the gateway reports on them, and the commands that viewers send on them.
///
/// Commands go the way of the HTTP API's commands: the home's hub applies them (``setHandler(_:)``).
public final class SessionChannels: Sendable {
    /// Applies a command, and returns its result as JSON.
    public typealias Handler = @Sendable (ChannelCommand) async -> Result<Data, ChannelRefusal>

    struct Entry {
        let line: any ChannelLine
        let station: CameraStation
        let principal: String
        /// Ends the reports of the camera's state.
        let observer: Int
        var open: Set<UInt16> = []
        /// Channels that have not got the state yet.
        var uninformed: Set<UInt16> = []
        /// What has been said of each kind.
        var said: [ChannelMessage.Kind: String] = [:]
        /// How many commands have not been answered.
        var running = 0
        /// Requests to end the session. Its end takes the channels with it, so it answers them before.
        var endRequests: [EndRequest] = []
    }

    struct EndRequest: Equatable {
        var id: String
        var channel: UInt16
    }

    /// How many commands of a session may be under way.
    static let maximumRunning = 8
    /// The result of a command that returns nothing.
    static let empty = Data("{}".utf8)

    let talks: TalkFloor
    let sessions = Locked([String: Entry]())
    let handler = Locked<Handler?>(nil)
    /// The sessions that have something new to say.
    let changes = ChangedSessions()
    private let host = DataChannelHost()
    private let relay: MediaRelay
    private let reader = Locked<(@Sendable (String) async -> ChannelState?)?>(nil)
    private let events: AsyncStream<(sessionID: String, event: DataChannelEvent)>.Continuation

    init(_ registry: SignallingRegistry, talks: TalkFloor) {
        self.talks = talks
        relay = registry.relay
        let (events, continuation) = AsyncStream.makeStream(of: (sessionID: String, event: DataChannelEvent).self)
        self.events = continuation
        registry.changes.mirror(to: changes)
        registry.observe { [weak self] change in
            switch change {
            // All who watch the device see who holds its floor.
            case .talkStarted(_, let deviceID, _), .talkEnded(_, let deviceID, _): self?.recordChange(of: deviceID)
            default: break
            }
        }
        Task { [weak self] in
            for await (sessionID, event) in events { self?.take(event, of: sessionID) }
        }
        let changes = changes
        Task { [weak self] in
            while let changed = await changes.next() {
                for sessionID in changed { await self?.report(sessionID) }
            }
        }
    }

    deinit {
        events.finish()
        changes.finish()
        host.stop()
    }

    /// Sets who applies the commands.
    public func setHandler(_ handler: @escaping Handler) {
        self.handler.withLock { $0 = handler }
    }

    /// What the host of the channels has done.
    public func counters() async -> DataChannelCounters { await host.counters() }

    /// Sets who knows the state of a live view.
    func setReader(_ reader: @escaping @Sendable (String) async -> ChannelState?) {
        self.reader.withLock { $0 = reader }
    }

    func state(of sessionID: String) async -> ChannelState? {
        await reader.withLock { $0 }?(sessionID)
    }

    // MARK: Sessions

    /// A live view with data channels starts.
    func begin(
        _ sessionID: String, station: CameraStation, principal: String, _ negotiated: NegotiatedDataChannels
    ) -> DataChannelLine {
        let (relay, events) = (relay, events)
        let line = host.makeLine(
            remotePort: negotiated.remotePort, longestMessage: negotiated.maximumMessageSize,
            transmit: { relay.sendData(sessionID, $0) }, handler: { events.yield((sessionID, $0)) })
        begin(sessionID, station: station, principal: principal, over: line)
        return line
    }

    /// A live view speaks over `line`.
    func begin(_ sessionID: String, station: CameraStation, principal: String, over line: any ChannelLine) {
        let changes = changes
        let observer = station.observe { event in
            switch event {
            case .state, .tracks: changes.add(sessionID)
            case .senderReport, .buttonPressed, .detection: break
            }
        }
        let entry = Entry(line: line, station: station, principal: principal, observer: observer)
        sessions.withLock { $0[sessionID] = entry }
    }

    /// A live view has ended. Returns when the reason has been handed to the viewer's connection.
    func end(_ sessionID: String, because reason: SessionEnd) async {
        guard let entry = sessions.withLock({ $0.removeValue(forKey: sessionID) }) else { return }
        entry.station.stopObserving(entry.observer)
        for request in entry.endRequests {
            Self.answer(request.id, .success(Self.empty), on: request.channel, over: entry.line)
        }
        let last = ChannelMessage(
            .session, ChannelMessage.Session(mediaSessionId: sessionID, state: .ended, reason: reason.words))
        await withCheckedContinuation { continuation in
            entry.line.end(saying: last.text) { continuation.resume() }
        }
    }

    private func recordChange(of deviceID: String) {
        let affected = sessions.withLock { all in all.filter { $0.value.station.id == deviceID }.keys.sorted() }
        for sessionID in affected { changes.add(sessionID) }
    }
}

/// Hands the packets of a viewer's data channels to their host.
final class ChannelSink: ViewerDataSink {
    private let line: DataChannelLine

    init(_ line: DataChannelLine) { self.line = line }

    func receive(_ packet: UnsafeRawBufferPointer) { line.receive(packet) }
}
