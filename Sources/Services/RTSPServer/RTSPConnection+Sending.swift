import DatagramPort
import MediaRelay
import RTP
import RTSP
import Transport

/// What the server provides for sending.
struct SendingContext {
    /// Memory for the run that is being built; nobody reads its old content.
    let buffer: UnsafeMutableRawBufferPointer
    let ports: DatagramPorts?
    let clock: WallClockReading
    let limits: RTSPServerConfiguration
    let now: Instant
}

/// What one call sent.
struct SentCounts {
    var packets: UInt64 = 0
    var bytes: UInt64 = 0
    var refused: UInt64 = 0
}

extension RTSPConnection {
    /// Sends what waits: answers, reports and packets. Returns false if the connection has gone.
    func flush(_ context: SendingContext, counts: inout SentCounts) -> Bool {
        if isPlaying { sendDatagrams(context, counts: &counts) }
        // Every turn moves up to a buffer's size, and one connection must not occupy the thread.
        for _ in 0..<16 {
            guard sendUnsent(at: context.now) else { return false }
            if isBlocked { return true }
            if session.hasOutput(at: context.now) {
                unsent = session.takeOutput(at: context.now)
                unsentOffset = 0
                continue
            }
            guard isPlaying else { return true }
            let count = fillInterleaved(context, counts: &counts)
            guard count > 0 else { return true }
            guard send(UnsafeRawBufferPointer(rebasing: context.buffer[..<count]), at: context.now) else {
                return false
            }
        }
        return true
    }

    /// Whether something waits for the connection, so that it is worth asking whether the socket has room.
    func hasWork(at now: Instant) -> Bool {
        isBlocked || session.hasOutput(at: now)
            || isPlaying
                && tracks.contains { track in
                    if case .interleaved = track.transport { !track.queue.isEmpty } else { false }
                }
    }

    private func sendUnsent(at now: Instant) -> Bool {
        guard isBlocked else { return true }
        let outcome = unsent.withUnsafeBytes {
            socket.send(UnsafeRawBufferPointer(rebasing: $0[unsentOffset...]))
        }
        switch outcome {
        case .bytes(let count):
            recordTaken(count, at: now)
            unsentOffset += count
            if unsentOffset >= unsent.count {
                unsent.removeAll(keepingCapacity: true)
                unsentOffset = 0
                blockedSince = nil
            }
            return true
        case .wouldBlock:
            if blockedSince == nil { blockedSince = now }
            return true
        case .closed, .failed:
            return false
        }
    }

    /// A client that reads media is alive, even if it says nothing.
    private func recordTaken(_ count: Int, at now: Instant) {
        guard count > 0 else { return }
        if blockedSince != nil { blockedSince = now }
        if isPlaying, !usesDatagrams { session.recordLife(at: now) }
    }

    private func send(_ bytes: UnsafeRawBufferPointer, at now: Instant) -> Bool {
        var sent = 0
        switch socket.send(bytes) {
        case .bytes(let count):
            sent = count
            recordTaken(count, at: now)
        case .wouldBlock: break
        case .closed, .failed: return false
        }
        guard sent < bytes.count else { return true }
        unsent.removeAll(keepingCapacity: true)
        unsent.append(contentsOf: bytes[sent...])
        unsentOffset = 0
        blockedSince = now
        return true
    }

    /// Writes the reports and packets of the interleaved tracks in the order in which they arrived.
    private func fillInterleaved(_ context: SendingContext, counts: inout SentCounts) -> Int {
        let buffer = context.buffer
        var end = 0
        for index in tracks.indices {
            guard case .interleaved(_, let channel) = tracks[index].transport,
                let due = tracks[index].nextReport, due <= context.now, buffer.count - end > 512
            else { continue }
            let length = tracks[index].writeReport(
                canonicalName: canonicalName, clock: context.clock, interval: context.limits.reportInterval,
                at: context.now, into: UnsafeMutableRawBufferPointer(rebasing: buffer[(end + 4)...]))
            if length > 0 { end += Self.frame(channel, length, at: end, in: buffer) }
        }
        while let index = nextInterleavedTrack(), case .interleaved(let channel, _) = tracks[index].transport {
            guard let length = tracks[index].nextLength, length <= Int(UInt16.max) else {
                tracks[index].skipPacket()
                continue
            }
            guard buffer.count - end >= 4 + length else { break }
            let written = tracks[index].writeNext(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[(end + 4)...]))
            guard written > 0 else { break }
            end += Self.frame(channel, written, at: end, in: buffer)
            counts.packets += 1
            counts.bytes += UInt64(written)
        }
        return end
    }

    /// The interleaved track whose oldest packets arrived first.
    private func nextInterleavedTrack() -> Int? {
        var found: (index: Int, ordinal: UInt64)?
        for index in tracks.indices {
            guard case .interleaved = tracks[index].transport, let first = tracks[index].queue.first else { continue }
            if found.map({ first.ordinal < $0.ordinal }) ?? true { found = (index, first.ordinal) }
        }
        return found?.index
    }

    /// Writes the header of an interleaved packet (RFC 2326, section 10.12), which contains the length.
    static func frame(_ channel: UInt8, _ length: Int, at offset: Int, in buffer: UnsafeMutableRawBufferPointer) -> Int
    {
        buffer[offset] = UInt8(ascii: "$")
        buffer[offset + 1] = channel
        buffer[offset + 2] = UInt8(truncatingIfNeeded: length >> 8)
        buffer[offset + 3] = UInt8(truncatingIfNeeded: length)
        return 4 + length
    }

    /// Sends the reports and packets of the tracks that travel in datagrams: a little at once, a backlog in paced
    /// bursts.
    private func sendDatagrams(_ context: SendingContext, counts: inout SentCounts) {
        guard let ports = context.ports else { return }
        for index in tracks.indices {
            guard case .datagrams(let rtp, let rtcp) = tracks[index].transport else { continue }
            if let due = tracks[index].nextReport, due <= context.now {
                let length = tracks[index].writeReport(
                    canonicalName: canonicalName, clock: context.clock, interval: context.limits.reportInterval,
                    at: context.now, into: context.buffer)
                if length > 0 {
                    ports.rtcp.send(
                        UnsafeRawBufferPointer(context.buffer),
                        transmit: Transmit(destination: peer.withPort(rtcp), byteCount: length), from: local)
                }
            }
            if let burst = tracks[index].nextBurst, burst > context.now { continue }
            let isPaced = tracks[index].nextBurst != nil || tracks[index].packetsSent == 0
            let budget = isPaced ? context.limits.burstPackets : context.limits.burstPackets * 4
            var run = DatagramRun(buffer: context.buffer, destination: peer.withPort(rtp), local: local)
            var left = budget
            while left > 0, let length = tracks[index].nextLength {
                left -= 1
                if !run.fits(length) { run.send(through: ports.rtp, counts: &counts) }
                guard let room = run.room(length) else {
                    tracks[index].skipPacket()
                    continue
                }
                let written = tracks[index].writeNext(into: room)
                guard written > 0 else { break }
                run.add(written)
            }
            run.send(through: ports.rtp, counts: &counts)
            tracks[index].nextBurst =
                tracks[index].queue.isEmpty ? nil : context.now + context.limits.burstInterval
        }
    }

    /// Throws away what the client has not been sent yet. What the kernel has taken and not yet sent goes with the
    /// connection: then it is reset, because a slow client would be sent pictures for seconds otherwise.
    func discardUnsent() {
        guard isBlocked || socket.hasUnsentBytes else { return }
        socket.resetAtEnd()
        isReset = true
        unsent.removeAll()
        unsentOffset = 0
    }

    /// Says goodbye for every track (RFC 3550, section 6.6), as far as the socket accepts it at once.
    func sendGoodbye(_ context: SendingContext, reason: String? = nil) {
        for track in tracks {
            let body = UnsafeMutableRawBufferPointer(rebasing: context.buffer[4...])
            let length = track.writeGoodbye(canonicalName: canonicalName, reason: reason, into: body)
            guard length > 0 else { continue }
            switch track.transport {
            case .interleaved(_, let channel):
                // In the middle of a packet it would only be garbage.
                guard !isBlocked, !isReset else { continue }
                let count = Self.frame(channel, length, at: 0, in: context.buffer)
                _ = socket.send(UnsafeRawBufferPointer(rebasing: context.buffer[..<count]))
            case .datagrams(_, let port):
                context.ports?.rtcp.send(
                    UnsafeRawBufferPointer(body),
                    transmit: Transmit(destination: peer.withPort(port), byteCount: length), from: local)
            case nil:
                break
            }
        }
    }
}

/// Datagrams of one size, except the last, which may be shorter, sent in one call.
struct DatagramRun {
    let buffer: UnsafeMutableRawBufferPointer
    let destination: TransportAddress
    let local: TransportAddress
    private var count = 0
    private var segment = 0
    private var packets = 0
    private var isClosed = false

    init(buffer: UnsafeMutableRawBufferPointer, destination: TransportAddress, local: TransportAddress) {
        self.buffer = buffer
        self.destination = destination
        self.local = local
    }

    /// Whether a packet of `length` can join the earlier ones.
    func fits(_ length: Int) -> Bool {
        packets == 0 || !isClosed && length <= segment && packets < 40 && count + length <= 60_000
    }

    /// Where to write the next packet; nil if it is larger than a datagram.
    func room(_ length: Int) -> UnsafeMutableRawBufferPointer? {
        guard length <= 60_000, count + length <= buffer.count else { return nil }
        return UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
    }

    mutating func add(_ length: Int) {
        if packets == 0 { segment = length }
        isClosed = length < segment
        count += length
        packets += 1
    }

    /// Sends the run and starts an empty one.
    mutating func send(through port: UDPPort, counts: inout SentCounts) {
        guard packets > 0 else { return }
        let outcome = port.send(
            UnsafeRawBufferPointer(rebasing: buffer[..<count]),
            transmit: Transmit(destination: destination, byteCount: count, segmentSize: segment), from: local)
        if outcome == .sent {
            counts.packets += UInt64(packets)
            counts.bytes += UInt64(count)
        } else {
            // As on any network, it is lost; the player notices by the sequence numbers.
            counts.refused += UInt64(packets)
        }
        count = 0
        packets = 0
        segment = 0
        isClosed = false
    }
}
