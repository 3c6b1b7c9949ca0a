import DatagramPort
public import ICE
import PeerConnection
import RTP
import SDP
import STUN
import Transport

/// All that lives on one thread: sessions, the tracks that they get, and a socket on the port that all shards share.
///
///     camera threads ─▶ TrackInlet ─┐
///     signalling ─────▶ mailbox ────┼─▶ this shard ─▶ one send per viewer and batch
///     socket ─▶ datagrams ──────────┤
///     other shards ─▶ HandOverQueue ┘
///
/// Every shard knows every track. What a camera sends always comes to the track's home shard, and to the others while
/// they have viewers of it (``TrackFeed``).
final class RelayShard {
    let limits: RelayLimits
    var sender: MediaSender
    /// The number of this shard among the relay's.
    let index: Int
    let links: ShardLinks
    var ready: ReadyList { links.lists[index] }
    var tracks: [TrackID: RelayTrack] = [:]
    var tracksByInlet: [ObjectIdentifier: RelayTrack] = [:]
    var tracksByHandle: [TrackHandle: RelayTrack] = [:]
    private var nextTrack: UInt64 = 0
    var viewers: [SessionHandle: Viewer] = [:]
    var publishers: [SessionHandle: Publisher] = [:]
    /// Sessions by the username fragment that we gave them: the way in for a check from an address not seen before.
    var byFragment: [UsernameFragmentKey: Session] = [:]
    /// Sessions by addresses that they have sent a check to and that nothing has come from yet. Answers name no session.
    var byAskedAddress: [TransportAddress: [Session]] = [:]
    /// Sessions by the addresses from which their authenticated checks came.
    var byAddress: [TransportAddress: Session] = [:]
    /// Where there are several shards: which of them holds an address whose door this one is.
    var holders: [TransportAddress: Int] = [:]
    /// What has been received for other shards since the last ``flushHandOvers()``.
    var handingOver: [HandOver]
    var handsOver = false
    /// What others have received for this shard and it has not handled yet, and memory for more.
    var received: [HandOver]
    /// Whether ``received`` holds anything after a turn.
    var receivedRemains = false
    /// The shards that want to be fed a track whose home this one is, with the numbers of their requests.
    var feeds: [TrackID: [Int: UInt64]] = [:]
    /// What each principal's sessions may spend on checks to addresses that have never answered.
    var checkAccounts: [String: CheckAccount] = [:]
    var earlyChecks = EarlyChecks()
    let deadlines = ShardDeadlines()
    var wallClocks: [String: SourceWallClock] = [:]
    let retention: ShardRetention
    /// Asks the STUN servers; nil where there are none.
    var finder: ReflexiveAddressFinder?
    /// Where TURN servers relay; empty while none does, or while the one in use does not answer.
    var relayedAddresses: [TransportAddress] = []
    var reportReflexiveAddresses: @Sendable ([ReflexiveAddress]) -> Void = { _ in }
    var counters = RelayCounters()
    var random: RandomSource

    let wallClock: WallClockReading
    private let memory: UnsafeMutableRawBufferPointer
    let scratch: UnsafeMutableRawBufferPointer
    private var waiting: [PacketBatch] = []
    private var readyInlets: [TrackInlet] = []
    /// Whether all datagrams that came last were reports, so that those that come next can wait for each other.
    var mayReadLater = false

    init(
        port: any DatagramSending, limits: RelayLimits, wallClock: WallClockReading, random: RandomSource,
        index: Int = 0, links: ShardLinks = .single(), retentionPool: RetentionPool? = nil
    ) {
        retention = ShardRetention(pool: retentionPool ?? RetentionPool(limit: limits.totalRetentionBytes))
        self.index = index
        self.links = links
        handingOver = Array(repeating: HandOver(), count: links.count)
        received = handingOver + Array(repeating: HandOver(), count: ShardLinks.outsideSources)
        self.limits = limits
        self.wallClock = wallClock
        self.random = random
        memory = .allocate(byteCount: SegmentRun.maximumBytes, alignment: 64)
        scratch = .allocate(byteCount: 4096, alignment: 64)
        sender = MediaSender(port: port, relayed: links.relayed, connected: links.connected, memory: memory)
    }

    deinit {
        memory.deallocate()
        scratch.deallocate()
    }

    /// Takes what the cameras have handed in to the viewers.
    func handleInlets(at now: Instant) {
        ready.take(into: &readyInlets)
        for inlet in readyInlets {
            counters.inletsAsked &+= 1
            // One whose track has gone may still be in the list.
            // What comes for one that is not fed yet stays where it is until the ring before it has come.
            if let track = tracksByInlet[ObjectIdentifier(inlet)], track.isFed { takeIn(track, from: inlet, at: now) }
        }
        readyInlets.removeAll(keepingCapacity: true)
    }

    func takeIn(_ track: RelayTrack, from inlet: TrackInlet, at now: Instant) {
        guard track.isFed else { return }
        if inlet.take(for: index, into: &waiting) { restart(track, at: now) }
        guard !waiting.isEmpty else { return }
        for batch in waiting where track.append(batch) {
            if track.ring.newestKeyFrame?.entry == track.ring.end - 1 { track.recordKeyFrame() }
            if !track.taps.isEmpty { track.feedTaps(at: now) }
        }
        // The ring holds them now; a reference left here would keep a batch from being used again.
        waiting.removeAll(keepingCapacity: true)
        let viewers = track.viewers
        let first = track.takeTurn()
        for place in viewers.indices {
            let next = first + place
            forward(track, to: viewers[next < viewers.count ? next : next - viewers.count], at: now)
        }
    }

    @inline(__always)
    func forward(_ track: RelayTrack, to viewer: Viewer, at now: Instant) {
        for index in viewer.egress.indices {
            if viewer.egress[index].nextTrack === track {
                viewer.completeMove(index, at: now)
                if viewer.egress[index].nextTrack != nil { track.repeatKeyFrameRequest(at: now) }
            }
            guard viewer.egress[index].track === track else { continue }
            viewer.mediaArrived(index, through: &sender, limits: limits, at: now)
            if let burst = viewer.egress[index].nextBurst { deadlines.schedule(.session(viewer.handle), at: burst) }
        }
    }

    /// Lets everything act whose time has come.
    func handleDeadline(at now: Instant) {
        while let key = deadlines.popDue(at: now) {
            switch key {
            case .session(let handle):
                if let session = session(handle) { handleDeadline(of: session, at: now) }
            case .track(let handle):
                tracksByHandle[handle]?.handleDeadline(at: now)
            case .reflexiveAddresses:
                askForReflexiveAddresses(at: now)
            }
        }
    }

    private func handleDeadline(of session: Session, at now: Instant) {
        let isConnectionDue = session.connectionDeadline.map { $0 <= now } ?? false
        if isConnectionDue { session.peer.handleDeadline(at: now) }
        session.handleDeadline(through: &sender, limits: limits, at: now)
        if isConnectionDue { service(session, at: now) } else { serviceMedia(session, at: now) }
    }

    func makeTrackHandle() -> TrackHandle {
        nextTrack += 1
        return TrackHandle(number: nextTrack)
    }

    /// When ``handleDeadline(at:)`` wants to be called.
    var nextDeadline: Instant? { deadlines.next }

    /// Drains a session's connection after anything has happened to it, and does what is due.
    func service(_ session: Session, at now: Instant) {
        transmit(session, at: now)
        session.localAddress = session.peer.localAddress
        session.remoteAddress = session.peer.remoteAddress
        reportRestartWish(of: session)
        while let event = session.peer.pollEvent() {
            switch event {
            case .firstCheck: session.status.record(.firstCheck, at: now)
            case .pathFound:
                session.status.record(session.peer.pathKind)
                session.status.record(.pair, at: now)
                closeSpareConnections(of: session)
            case .pathChanged:
                session.status.record(session.peer.pathKind)
                session.pathChanged(at: now)
                closeSpareConnections(of: session)
            case .connected:
                session.isConnected = true
                session.status.record(.dtls, at: now)
                session.countConnection(in: &counters)
                session.transportConnected(at: now)
                session.notify(.connected)
            case .failed(let failure):
                end(session, because: .connectionFailed(failure))
                return
            }
        }
        session.connectionDeadline = session.peer.nextDeadline
        serviceMedia(session, at: now)
    }

    /// Does what is due when nothing has happened to the connection itself, as with a packet of media or a report on it.
    ///
    /// A connection is two kilobytes, which come from memory where there are hundreds of viewers. So it is left alone here.
    func serviceMedia(_ session: Session, at now: Instant) {
        if let end = session.serviceMedia(through: &sender, limits: limits, scratch: scratch, at: now) {
            dismiss(session, because: end, at: now)
            return
        }
        if let deadline = session.nextDeadline {
            // One whose deadline stays in the past must not keep the others from theirs.
            deadlines.schedule(.session(session.handle), at: max(deadline, now + Self.shortestPause))
        }
    }

    private static let shortestPause = Duration.microseconds(100)

    /// Sends what a session's connection has to say.
    func transmit(_ session: Session, at now: Instant) {
        let account = session.checkAccount
        while let transmit = session.peer.pollTransmit(into: scratch, at: now, budget: &account.budget) {
            let datagram = UnsafeRawBufferPointer(rebasing: scratch[..<transmit.byteCount])
            if ICE.localUsernameFragment(inBindingRequest: datagram) != nil {
                recordAsked(transmit.destination, by: session)
            }
            sender.send(datagram, transmit, from: session.peer.transmitSource)
        }
    }

    /// Sends packets of a viewer's data channels.
    func sendData(_ packets: [[UInt8]], to viewer: Viewer) {
        guard let destination = viewer.remoteAddress else { return }
        for packet in packets {
            let count = packet.withUnsafeBytes { viewer.peer.protectData($0, into: scratch) }
            guard count > 0 else { continue }
            sender.send(
                UnsafeRawBufferPointer(rebasing: scratch[..<count]),
                Transmit(destination: destination, byteCount: count), from: viewer.localAddress)
        }
    }
}

/// What the shards have done since they started.
public struct RelayCounters: Sendable, Equatable {
    /// Viewers whose transport came up.
    public var connected: UInt64 = 0
    /// Viewers that have gone.
    public var ended: UInt64 = 0
    /// Datagrams that no session wanted.
    public var strayDatagrams: UInt64 = 0
    /// Checks that came from an address at which another session has fresh consent.
    public var contestedChecks: UInt64 = 0
    /// Candidates and checks of sessions that were ignored because of their address, or because there were too many.
    public var ignoredCandidates: UInt64 = 0
    /// Checks that waited because their principal had spent its budget.
    public var postponedChecks: UInt64 = 0
    /// Connectivity checks that were read before the message that added their session had run.
    public var earlyChecks: UInt64 = 0
    /// Datagrams that one shard received for another.
    public var handedOver: UInt64 = 0
    /// Datagrams that were dropped because the shard that they were for did not take them in time.
    public var handOverDrops: UInt64 = 0
    /// Datagrams sent, and the system calls that took.
    public var datagramsSent: UInt64 = 0
    /// System calls that sent them.
    public var sendCalls: UInt64 = 0
    /// Datagrams that the kernel refused.
    public var datagramsRefused: UInt64 = 0
    /// Viewers now.
    public var viewers = 0
    /// Viewers now, by the kind of their path. One without a path is not among them.
    public var viewersByPath: [ICEPathKind: Int] = [:]
    /// Viewers now, by the camera's stream whose picture they get.
    public var viewersByStream: [CameraStream: Int] = [:]
    /// Viewers now whose path carries less than their stream.
    public var viewersLimited = 0
    /// How often a viewer got a smaller stream because of its path, and the larger one again.
    public var streamSwitches = StreamSwitches()
    /// Publishers now.
    public var publishers = 0
    /// Bytes that the rings hold.
    public var ringBytes = 0
    /// Requests to keep more of a camera than viewers need.
    public var retentions = 0
    /// Those of them that cannot be met now.
    public var retentionsShort = 0
    /// How often a track could no longer meet a request.
    public var retentionShortfalls: UInt64 = 0
    /// Packets that came from cameras.
    public var packetsReceived: UInt64 = 0
    /// Inlets that a wake-up has looked at.
    var inletsAsked: UInt64 = 0
    /// What came from cameras and was thrown away, because the relay's thread did not take it in time.
    public var inletDrops = TrackInlet.Drops()

    /// Adds what another shard has done.
    static func += (left: inout RelayCounters, right: RelayCounters) {
        left.connected += right.connected
        left.ended += right.ended
        left.strayDatagrams += right.strayDatagrams
        left.contestedChecks += right.contestedChecks
        left.ignoredCandidates += right.ignoredCandidates
        left.postponedChecks += right.postponedChecks
        left.earlyChecks += right.earlyChecks
        left.handedOver += right.handedOver
        left.handOverDrops += right.handOverDrops
        left.datagramsSent += right.datagramsSent
        left.sendCalls += right.sendCalls
        left.datagramsRefused += right.datagramsRefused
        left.viewers += right.viewers
        left.viewersByPath.merge(right.viewersByPath, uniquingKeysWith: +)
        left.viewersByStream.merge(right.viewersByStream, uniquingKeysWith: +)
        left.viewersLimited += right.viewersLimited
        left.streamSwitches += right.streamSwitches
        left.publishers += right.publishers
        left.ringBytes += right.ringBytes
        left.retentions += right.retentions
        left.retentionsShort += right.retentionsShort
        left.retentionShortfalls += right.retentionShortfalls
        left.packetsReceived += right.packetsReceived
        left.inletsAsked += right.inletsAsked
        left.inletDrops += right.inletDrops
    }

    /// Adds what one session's ICE has counted.
    mutating func add(_ connectivity: ICECounters) {
        ignoredCandidates += UInt64(connectivity.filteredCandidates)
        postponedChecks += UInt64(connectivity.postponedChecks)
    }
}
