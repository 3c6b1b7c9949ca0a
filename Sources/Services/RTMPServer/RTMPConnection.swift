import Cameras
import DatagramPort
import StreamFormats
import Transport

/// One client's connection, its session, and the camera that it publishes to. It lives on the server's thread.
final class RTMPConnection {
    /// How far the client has come.
    enum Stage: Equatable {
        /// It has not asked to publish.
        case greeting
        /// Somebody decides whether it may.
        case asking
        /// It may not, and gets the answer when `at` has come.
        case refused(PublisherRefusal, at: Instant)
        /// It may. Its tracks are not known yet.
        case describing
        /// It becomes the camera.
        case starting
        /// It is the camera.
        case publishing(sessionID: String)
        /// It has been sent the reason why it may not go on, and has this long to read it and close.
        case closing(until: Instant)
    }

    let id: UInt64
    let peer: TransportAddress
    let socket: TCPSocket
    var session: RTMPServerSession
    var stage = Stage.greeting
    var watch: ShardContext.Watch?
    /// What the watch waits for.
    var interest: ShardContext.Readiness = .readable
    /// What the client asked for last.
    var request: RTMPPublishRequest?
    /// Numbers the questions to other threads: only the answer to the newest counts.
    var ticket: UInt64 = 0
    /// Who publishes.
    var admitted: AdmittedPublisher?
    /// What has come before the publisher became the camera.
    var waiting = WaitingUnits()
    /// Where the units go.
    var output: PublishedOutput?
    /// When the stage began, or the last picture or sound came.
    var since: Instant
    /// Bytes that the socket has not accepted yet, from `unsentOffset` on.
    var unsent: [UInt8] = []
    var unsentOffset = 0
    /// Since when the socket has accepted nothing.
    var blockedSince: Instant?
    /// Whether the client has sent a correct token.
    var isVouchedFor = false
    /// What of the stream was reported to be left out.
    var leftOut: [UnsupportedPart] = []
    private(set) var isEnded = false

    init(
        id: UInt64, socket: consuming TCPSocket, peer: TransportAddress, session: RTMPServerSession, now: Instant
    ) {
        self.id = id
        self.socket = socket
        self.peer = peer
        self.session = session
        since = now
    }

    func recordEnd() { isEnded = true }

    var isBlocked: Bool { unsentOffset < unsent.count }

    /// Whether it is the camera.
    var isPublishing: Bool {
        if case .publishing = stage { true } else { false }
    }

    /// Whether bytes are read now. A client that does not read its answers is not read either, and what comes before a
    /// decision waits in the kernel.
    var wantsInput: Bool {
        switch stage {
        case .greeting, .describing, .publishing: session.wantsInput && !isBlocked
        case .asking, .refused, .starting: false
        case .closing: true
        }
    }

    /// When the stage has lasted too long.
    func stageDeadline(_ limits: RTMPServerConfiguration) -> Instant {
        switch stage {
        case .greeting where !session.hasShakenHands: since + min(limits.handshakeTimeout, limits.publishTimeout)
        case .greeting: since + limits.publishTimeout
        case .asking: since + limits.publishTimeout
        case .refused(_, let at): at
        case .describing, .publishing: since + limits.silenceTimeout
        case .starting: .distantFuture
        case .closing(let until): until
        }
    }

    /// When something is due.
    func nextDeadline(_ limits: RTMPServerConfiguration) -> Instant {
        var deadline = stageDeadline(limits)
        if let blockedSince { deadline = min(deadline, blockedSince + limits.stallTimeout) }
        return deadline
    }

    /// Sends what waits. Returns false if the connection has gone.
    func flush(at now: Instant) -> Bool {
        let answers = session.takeOutput()
        if !answers.isEmpty {
            if !isBlocked {
                unsent.removeAll(keepingCapacity: true)
                unsentOffset = 0
            }
            unsent += answers
        }
        // Answers are short: two calls nearly always send all of them.
        for _ in 0..<8 where isBlocked {
            let offset = unsentOffset
            let outcome = unsent.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
            switch outcome {
            case .bytes(let count):
                unsentOffset += count
                blockedSince = isBlocked ? now : nil
            case .wouldBlock:
                if blockedSince == nil { blockedSince = now }
                return true
            case .closed, .failed: return false
            }
        }
        return true
    }
}
