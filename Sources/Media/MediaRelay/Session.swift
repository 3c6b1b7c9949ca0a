import ICE
import PeerConnection
import RTP
import Transport

/// One session of the relay: a connection, and what leads datagrams to it. It lives only on its shard's thread.
///
/// Its type says what it is to the relay: a ``Viewer`` gets tracks and may talk, a ``Publisher`` sends a camera's tracks. What
/// both do is written here and in ``RelayShard``; where they differ, they override a method.
class Session {
    // What each frame of a viewer needs comes first, and the beginning of the connection beside it (see Egress).
    final var isConnected = false
    /// Where media is sent: kept here, so that the hot loop does not have to ask the connection.
    final var remoteAddress: TransportAddress?
    /// Our address at which the session's packets arrive: replies leave from it.
    final var localAddress: TransportAddress?
    /// When the connection wants to be looked at: kept here for the same reason.
    final var connectionDeadline: Instant?
    final var peer: PeerConnection

    final let handle: SessionHandle
    final let sessionID: String
    final let status: SessionStatus
    final let notify: @Sendable (SessionEvent) -> Void
    /// What the session may spend, together with others, on checks to addresses that have never answered.
    final let checkAccount: CheckAccount
    /// The addresses that authenticated checks came from: they lead back to this session.
    final var knownAddresses: [KnownAddress] = []
    /// The addresses that were sent a check and have not sent one themselves yet.
    final var askedAddresses: [TransportAddress] = []
    /// The username fragments that the session was given, newest last.
    final var fragments: [UsernameFragmentKey]
    /// Whether ``status`` says that an ICE restart would help.
    final var wantsRestart = false
    final var hasEnded = false

    init(
        handle: SessionHandle, sessionID: String, local: ICECredentials, peer: consuming PeerConnection,
        status: SessionStatus, notify: @escaping @Sendable (SessionEvent) -> Void, checkAccount: CheckAccount
    ) {
        self.handle = handle
        self.sessionID = sessionID
        let fragment = UsernameFragmentKey(local.usernameFragment.utf8)
        self.fragments = fragment.map { [$0] } ?? []
        self.peer = peer
        self.status = status
        self.notify = notify
        self.checkAccount = checkAccount
    }

    /// When the session has to be looked at next.
    var nextDeadline: Instant? { connectionDeadline }

    /// The transport is up, and the peer has its keys.
    func transportConnected(at now: Instant) {}

    /// The connection uses another path.
    func pathChanged(at now: Instant) {}

    /// Takes the answer to a probe of the path, if one has come.
    func takeProbeAnswer(through sender: inout MediaSender, limits: RelayLimits, at now: Instant) {}

    /// Handles a plain RTP packet that the peer sent.
    func receiveRTP(_ bytes: UnsafeRawBufferPointer, at now: Instant) {}

    /// Handles a plain compound RTCP packet that the peer sent.
    func receiveRTCP(_ bytes: UnsafeRawBufferPointer, through sender: inout MediaSender, at now: Instant) {}

    /// Handles a packet of the peer's data channels.
    func receiveData(_ bytes: UnsafeRawBufferPointer) {}

    /// Sends what waited for this moment.
    func handleDeadline(through sender: inout MediaSender, limits: RelayLimits, at now: Instant) {}

    /// Does what is due beside the connection. Answers why the session is over, if it is.
    func serviceMedia(
        through sender: inout MediaSender, limits: RelayLimits, scratch: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> RelayEnd? { nil }

    /// Says goodbye to the peer, so that it learns why the session ends.
    /// - Parameter words: the reason.
    func sendGoodbye(
        saying words: String, through sender: inout MediaSender, scratch: UnsafeMutableRawBufferPointer
    ) {}

    /// Counts that the transport is up.
    func countConnection(in counters: inout RelayCounters) {}

    /// Counts the session that has ended, with what it has done.
    func countEnd(in counters: inout RelayCounters) {}

    /// Gives up what the session holds of the relay: it has ended.
    func leave() {}
}

extension Session {
    /// The longest compound RTCP packet that is sent, in bytes, before its encryption. With what SRTCP and a TURN
    /// channel add, it fits every path; see `PayloadLimit.everyPath`.
    static var maximumRTCPLength: Int { 1_200 }

    /// Sends the compound RTCP packet that `writer` has put at the beginning of `scratch`; nothing before a path is found.
    func sendRTCP(
        _ writer: ByteWriter, _ scratch: UnsafeMutableRawBufferPointer, through sender: inout MediaSender
    ) {
        guard !writer.overflowed, let destination = remoteAddress else { return }
        let count = peer.protectRTCP(scratch, byteCount: writer.count)
        guard count > 0 else { return }
        sender.send(
            UnsafeRawBufferPointer(rebasing: scratch[..<count]),
            Transmit(destination: destination, byteCount: count), from: localAddress)
    }

    /// Datagrams of the peer that were refused: forged, damaged, or repeated.
    var refusedDatagrams: UInt64 {
        let refusals = peer.refusals
        return refusals.stun + refusals.dtls + refusals.srtp + refusals.data + refusals.unknown
    }
}
