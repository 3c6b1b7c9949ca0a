import Cameras
import DTLS
import DatagramPort
import ICE
import MediaRelay
import PeerConnection
import SDP
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
        let station: CameraStation
        let status: ViewerStatus
        let codecs: [String]
        let notes: [String]
        let talkbackCodecs: [UInt8: MediaCodec]
        var localCredentials: ICECredentials
        var remoteCredentials: ICECredentials
        /// Our candidates, as the answer named them.
        let hosts: [TransportAddress]
        var generation = 1
        var talkback: TalkbackDecoder?
    }

    let configuration: Configuration
    let relay: MediaRelay
    var stations: [String: CameraStation] = [:]
    var ledger: SessionLedger
    var floor = TalkbackFloor()
    var sessions: [String: Session] = [:]
    var random = RandomSource.system
    var now: Instant { configuration.now() }
    private var expiry: Task<Void, Never>?
    private var armedFor: Instant?
    private var observers: [@Sendable (LiveViewChange) -> Void] = []
    /// What the relay tells of viewers, in its order: a viewer has connected before it has gone.
    let viewerEvents: AsyncStream<(sessionID: String, event: ViewerEvent)>.Continuation

    /// A service without cameras.
    public init(configuration: Configuration, relay: MediaRelay) {
        self.configuration = configuration
        self.relay = relay
        self.ledger = SessionLedger(limits: configuration.limits)
        let (events, continuation) = AsyncStream.makeStream(of: (sessionID: String, event: ViewerEvent).self)
        viewerEvents = continuation
        Task { [weak self] in
            for await (sessionID, event) in events { await self?.viewerChanged(sessionID, event) }
        }
    }

    deinit {
        viewerEvents.finish()
    }

    /// Adds a camera. One with the same identifier is replaced.
    public func add(_ station: CameraStation) {
        stations[station.id] = station
    }

    /// Takes a camera away; its sessions end.
    public func remove(_ deviceID: String) {
        stations[deviceID] = nil
        for lease in ledger.leases.values where lease.deviceID == deviceID {
            end(lease.sessionID, reason: "the camera was removed")
        }
    }

    /// Calls `handler` whenever a session starts, connects or ends.
    public func observe(_ handler: @escaping @Sendable (LiveViewChange) -> Void) {
        observers.append(handler)
    }

    /// Ends every session, for a shutdown.
    public func endAll(reason: String) {
        for sessionID in Array(sessions.keys) { end(sessionID, reason: reason) }
    }

    func announce(_ change: LiveViewChange) {
        for observer in observers { observer(change) }
    }
}

/// A change in the life of a session.
public enum LiveViewChange: Sendable, Equatable {
    /// A session has been answered.
    case started(mediaSessionId: String, deviceID: String)
    /// Its media flows.
    case connected(mediaSessionId: String, deviceID: String)
    /// It is over.
    case ended(mediaSessionId: String, deviceID: String, reason: String)
}

extension LiveViewService {
    /// Ends a session, whoever wants it; nothing happens when it has ended already.
    func end(_ sessionID: String, reason: String) {
        guard let lease = ledger.end(sessionID) else { return }
        close(lease, reason: reason)
    }

    private func close(_ lease: SessionLedger.Lease, reason: String) {
        releaseFloor(lease.sessionID)
        if let session = sessions.removeValue(forKey: lease.sessionID) {
            session.status.noteEnd(reason: reason)
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

    /// Gives back the floor that a session holds.
    func releaseFloor(_ sessionID: String) {
        guard floor.release(sessionID: sessionID) != nil else { return }
        relay.setTalkbackSink(sessionID, nil)
        sessions[sessionID]?.talkback?.finish()
        sessions[sessionID]?.talkback = nil
    }
}
