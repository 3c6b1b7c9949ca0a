import DatagramPort
import SCTP
import Transport

/// The work of a host's thread. It lives only there.
final class DataChannelWorker {
    /// One session's association and channels.
    struct Session {
        let line: DataChannelLine
        var association: SCTPAssociation?
        var table: DataChannelTable
        /// Texts that wait for room, the newest of each kind.
        var waiting: [WaitingText: [UInt8]] = [:]
        /// Streams whose reset waits for an earlier one.
        var waitingResets: Set<UInt16> = []
    }

    struct WaitingText: Hashable {
        let channel: UInt16
        let kind: String
    }

    private let queue: DataChannelQueue
    let limits: DataChannelLimits
    let endpoint: SCTPEndpoint
    var sessions: [SCTPLine: Session] = [:]
    var linesByAssociation: [SCTPAssociation: SCTPLine] = [:]
    var counters = DataChannelCounters()

    private var lastTick = MonotonicClock.now
    /// Until when the timers run often: something was sent or received not long ago.
    private var busyUntil = MonotonicClock.now

    /// How often the timers run while something happens.
    private static let shortPause = Duration.milliseconds(20)
    /// How often they run while sessions are quiet. Nothing waits for an answer then, except of a peer that has vanished.
    private static let longPause = Duration.milliseconds(500)
    private static let busyTime = Duration.seconds(2)

    /// Nil if the process has a host already.
    init?(queue: DataChannelQueue, limits: DataChannelLimits, sctp: SCTPEndpoint.Limits) {
        guard let endpoint = try? SCTPEndpoint(limits: sctp) else { return nil }
        self.queue = queue
        self.limits = limits
        self.endpoint = endpoint
    }

    /// Works until the host is stopped.
    func run() {
        var isStopped = false
        while !isStopped {
            let work = queue.take(within: pause)
            isStopped = work.isStopped
            let now = MonotonicClock.now
            if !work.isEmpty { busyUntil = now + Self.busyTime }
            tick(at: now)
            for packet in work.packets { receive(packet.bytes, of: packet.line) }
            for command in work.commands { run(command) }
            flush()
        }
        for session in Array(sessions.values) { end(session.line, saying: nil) }
    }

    private var pause: Duration? {
        if MonotonicClock.now < busyUntil { return Self.shortPause }
        return sessions.isEmpty ? nil : Self.longPause
    }

    private func tick(at now: Instant) {
        // After a pause without a deadline nothing was due.
        let elapsed = min(now - lastTick, Self.longPause * 2)
        guard elapsed >= .milliseconds(10) else { return }
        lastTick = now
        SCTPEndpoint.advance(by: elapsed)
        takeEvents()
        for (line, session) in sessions where !session.waiting.isEmpty || !session.waitingResets.isEmpty {
            sendWaiting(line)
        }
    }

    // MARK: Packets

    private func receive(_ packet: [UInt8], of line: DataChannelLine) {
        // One association for a session, between the ports that were agreed on: anything else could only cost memory.
        guard packet.count >= 12, UInt16(packet[0]) << 8 | UInt16(packet[1]) == line.remotePort,
            UInt16(packet[2]) << 8 | UInt16(packet[3]) == endpoint.port
        else {
            counters.strayPackets &+= 1
            return
        }
        if sessions[line.line] == nil {
            sessions[line.line] = Session(line: line, table: DataChannelTable(streams: endpoint.limits.streams))
            endpoint.add(line.line)
        }
        packet.withUnsafeBytes { endpoint.handle($0, line: line.line) }
        takeEvents()
        sendWaiting(line.line)
        flush()
    }

    /// Hands what the library wants to send to the shards.
    private func flush() {
        for line in SCTPEndpoint.waitingLines {
            guard let session = sessions[line] else { continue }
            session.line.transmit(endpoint.takePackets(of: line))
        }
    }

    // MARK: Commands

    private func run(_ command: DataChannelQueue.Command) {
        switch command {
        case .send(let line, let text, let channel, let kind):
            send(text, on: line.line, channel: channel, kind: kind)
        case .end(let line, let text, let whenDone):
            end(line, saying: text)
            whenDone()
        case .read(let answer):
            counters.associations = linesByAssociation.count
            counters.droppedPackets = queue.dropped
            answer(counters)
        }
    }

    /// Answers what nobody will do.
    static func refuse(_ work: DataChannelQueue.Work) {
        for command in work.commands {
            switch command {
            case .send: break
            case .end(_, _, let whenDone): whenDone()
            case .read(let answer): answer(DataChannelCounters())
            }
        }
    }

    private func end(_ line: DataChannelLine, saying text: [UInt8]?) {
        guard let session = sessions[line.line] else { return }
        if let text { send(text, on: line.line, channel: nil, kind: "end") }
        if let association = session.association {
            flush()
            endpoint.abort(association)
            takeEvents()
        }
        flush()
        forget(line.line)
    }

    func forget(_ line: SCTPLine) {
        guard let session = sessions.removeValue(forKey: line) else { return }
        if let association = session.association { linesByAssociation[association] = nil }
        endpoint.remove(line)
    }
}
