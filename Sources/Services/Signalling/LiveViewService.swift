import Cameras
import DTLS
import DatagramPort
import ICE
import MediaRelay
import PeerConnection
import SDP
import Stations
import Transport

/// Live views as leases: who watches which camera until when, and who talks to it.
///
/// All of this is control; the media never comes here. A session is made of an entry in the ``SessionLedger``, a viewer
/// in the relay, and perhaps the camera's floor; they end together.
public actor LiveViewService {
    /// What the service needs to know.
    public struct Configuration: Sendable {
        /// The gateway's certificate and key.
        public var identity: DTLSIdentity
        /// How long sessions last and how many there may be.
        public var limits: SessionLimits
        /// Addresses to offer to viewers besides those of the host's interfaces.
        public var addresses: [TransportAddress]
        /// Looks the addresses of the host's interfaces up: they may change while the gateway runs.
        public var interfaceAddresses: @Sendable () -> [TransportAddress] = { hostAddresses().map(\.address) }
        /// How long a start waits for a camera that has not told its tracks yet.
        public var cameraTimeout: Duration = .seconds(10)
        /// How long the way to a camera's speaker may take to open.
        public var speakerTimeout: Duration = .seconds(10)
        /// How long a talker may send nothing before they lose the floor.
        public var talkbackPatience: Duration = .seconds(5)
        /// Whether a talker hears nothing of the camera while they speak: what the camera's microphone takes of its own
        /// speaker would howl, or come back as an echo.
        public var mutesReturnPath = true
        /// How long after the last word the talker still hears nothing: their words are on the way to the camera's
        /// speaker and back from its microphone.
        public var voiceHold: Duration = .milliseconds(600)
        /// How long a view may take to connect before it gives way to others where places are scarce.
        public var connectingGrace: Duration = .seconds(10)
        /// The intervals of connectivity checks, and how long a viewer may take to connect.
        public var connectivity = ICETiming()
        /// The clock by which leases end.
        public var now: @Sendable () -> Instant = { MonotonicClock.now }

        /// Describes a service.
        public init(identity: DTLSIdentity, limits: SessionLimits, addresses: [TransportAddress]) {
            self.identity = identity
            self.limits = limits
            self.addresses = addresses
        }
    }

    struct Session {
        /// One of the tracks that the session is sent.
        struct Stream {
            var track: StationTrack
            /// The codec as the viewer named it.
            var codec: MediaCodec
            var egress: EgressConfiguration
        }

        let station: CameraStation
        let status: ViewerStatus
        var streams: [Stream]
        var notes: [String]
        let talkbackCodecs: [UInt8: MediaCodec]
        var transport: SessionTransport
        /// The camera is pulled as long as the session lives.
        let hold: CameraHold
        /// What is made for the session, as long as it lives.
        var uses: [TrackID: CameraHold]
        var talk: Talk?
        /// What became of the talk before.
        var lastTalk: TalkbackSnapshot?
    }

    let registry: SignallingRegistry
    /// Programs whose media is a camera.
    let publishing: Publishing
    /// Pictures of cameras.
    let snapshots: Snapshots
    var configuration: Configuration { registry.configuration }
    var relay: MediaRelay { registry.relay }
    var ledger: SessionLedger
    /// What has ended lately: ending it again is no error.
    var ended = EndedSessions()
    var floor: TalkbackFloor
    /// The clip that each device plays or played last.
    var clips: [String: PlayedClip] = [:]
    var nextTalk: UInt64 = 0
    /// Who waits for a speaker to open, by the talk.
    var openings: [UInt64: SpeakerOpening] = [:]
    var floorTimer: Task<Void, Never>?
    /// What cameras' speakers tell, in their order.
    let speakerEvents: AsyncStream<(talk: UInt64, talker: TalkbackFloor.Talker, state: SpeakerState)>.Continuation
    var sessions: [String: Session] = [:]
    var random = RandomSource.system
    var now: Instant { registry.now }
    private var expiry: Task<Void, Never>?
    private var armedFor: Instant?
    /// What the relay tells of viewers, in its order: a viewer has connected before it has gone.
    let viewerEvents: AsyncStream<(sessionID: String, event: ViewerEvent)>.Continuation

    /// A service without cameras.
    public init(configuration: Configuration, relay: MediaRelay) {
        registry = SignallingRegistry(configuration: configuration, relay: relay)
        publishing = Publishing(registry)
        snapshots = Snapshots(registry: registry)
        self.ledger = SessionLedger(limits: configuration.limits)
        floor = TalkbackFloor(patience: configuration.talkbackPatience)
        let (speakers, speakerContinuation) = AsyncStream.makeStream(
            of: (talk: UInt64, talker: TalkbackFloor.Talker, state: SpeakerState).self)
        speakerEvents = speakerContinuation
        let (events, continuation) = AsyncStream.makeStream(of: (sessionID: String, event: ViewerEvent).self)
        viewerEvents = continuation
        Task { [weak self] in
            for await (sessionID, event) in events { await self?.viewerChanged(sessionID, event) }
        }
        Task { [weak self] in
            for await event in speakers { await self?.speakerChanged(event.talk, event.talker, event.state) }
        }
    }

    deinit {
        viewerEvents.finish()
        speakerEvents.finish()
    }

    /// Adds a camera. One with the same identifier is replaced.
    public func add(_ station: CameraStation) {
        registry.add(station)
    }

    /// Takes a camera away; its sessions end.
    /// - Parameter reason: what its viewers are told, for example that it starts anew with other settings.
    public func remove(_ deviceID: String, reason: String = "the camera was removed") async {
        if let talker = floor.holder(of: deviceID) { releaseFloor(talker, reason: reason) }
        registry.remove(deviceID)
        clips[deviceID] = nil
        for lease in ledger.leases.values.sorted(by: { $0.sessionID < $1.sessionID }) where lease.deviceID == deviceID {
            end(lease.sessionID, reason: reason)
        }
        await publishing.end(of: deviceID, reason: "the camera was removed")
    }

    /// Calls `handler` whenever a session, a publisher or a talk starts or ends, and when a session connects.
    public func observe(_ handler: @escaping @Sendable (LiveViewChange) -> Void) {
        registry.observe(handler)
    }

    /// Ends every session, for a shutdown.
    public func endAll(reason: String) async {
        for sessionID in sessions.keys.sorted() { end(sessionID, reason: reason) }
        for talker in floor.talkers { releaseFloor(talker, reason: reason) }
        await publishing.end(reason: reason)
    }

    func announce(_ change: LiveViewChange) {
        registry.announce(change)
    }
}

/// A change in the life of a session, a publisher or a talk.
public enum LiveViewChange: Sendable, Equatable {
    /// A session has been answered.
    case started(mediaSessionId: String, deviceID: String, principal: String)
    /// Its media flows.
    case connected(mediaSessionId: String, deviceID: String)
    /// The camera's video is damaged, so that no picture can be made of it; or, with nil, one can be made again. Told
    /// once for each such time.
    case pictures(deviceID: String, damage: String?)
    /// It is over.
    case ended(mediaSessionId: String, deviceID: String, reason: String)
    /// A publisher has been answered.
    case publisherStarted(sessionID: String, deviceID: String, principal: String)
    /// A publisher is over.
    case publisherEnded(sessionID: String, deviceID: String, reason: String)
    /// Somebody speaks from a camera's speaker: a session, or a clip. `talkID` names the talk.
    case talkStarted(talkID: String, deviceID: String, principal: String)
    /// A talk that had started is over.
    case talkEnded(talkID: String, deviceID: String, reason: String)
}

extension LiveViewService: StationUser {}

extension LiveViewService {
    /// Ends a session, whoever wants it; nothing happens when it has ended already.
    func end(_ sessionID: String, reason: String) {
        guard let lease = ledger.end(sessionID) else { return }
        close(lease, reason: reason)
    }

    private func close(_ lease: SessionLedger.Lease, reason: String) {
        ended.note(
            lease.sessionID, .liveView, deviceID: lease.deviceID, principal: lease.principal, at: now)
        releaseFloor(.session(lease.sessionID), reason: reason)
        if let session = sessions.removeValue(forKey: lease.sessionID) {
            session.status.noteEnd(reason: reason)
            session.hold.end()
            for use in session.uses.values { use.end() }
            relay.removeViewer(lease.sessionID, reason: reason)
        }
        announce(.ended(mediaSessionId: lease.sessionID, deviceID: lease.deviceID, reason: reason))
        armExpiry()
    }

    /// The relay tells that a viewer has changed.
    func viewerChanged(_ sessionID: String, _ event: ViewerEvent) {
        guard let lease = ledger.leases[sessionID] else { return }
        switch event {
        case .connected: announce(.connected(mediaSessionId: sessionID, deviceID: lease.deviceID))
        case .ended(let reason): end(sessionID, reason: reason)
        }
    }

    /// Lets a timer run until the next lease ends.
    func armExpiry() {
        let next = ledger.nextExpiry
        guard next != armedFor else { return }
        armedFor = next
        expiry?.cancel()
        guard let next else { return }
        expiry = Task { [weak self] in
            guard let now = await self?.now else { return }
            if next > now { try? await Task.sleep(for: next - now) }
            guard !Task.isCancelled else { return }
            await self?.expire()
        }
    }

    /// Ends the sessions whose lease is over.
    func expire() {
        armedFor = nil
        for lease in ledger.expire(at: now) { close(lease, reason: "the lease was not extended") }
        armExpiry()
    }
}
