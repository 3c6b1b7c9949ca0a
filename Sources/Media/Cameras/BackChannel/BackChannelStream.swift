import Codecs
import DatagramPort
import RTP
import RTSP
import SDP
import Transport

/// The RTP stream to a camera's speaker: a frame every 20 ms of the gateway's clock, encoded, numbered and reported on.
/// It reads no clock and writes to no connection.
struct BackChannelStream: ~Copyable {
    /// What a packet is: media or control.
    enum Output {
        case media
        case control
    }

    /// Sends a packet: a header, which may be empty, and what follows it.
    typealias Send = (_ output: Output, _ header: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer) -> Void

    /// The duration of one frame.
    static let interval: Duration = .milliseconds(20)
    /// A stream that was held up for longer skips the frames instead of sending them in a burst.
    static let patience: Duration = .milliseconds(100)
    /// Packets are dropped while more than this waits in the connection.
    static let mostBacklog: Duration = .milliseconds(200)
    private static let reportInterval: Duration = .seconds(5)
    private static let maximumPacketSize = 8 * 1024

    private let payloadType: UInt8
    private let clockRate: Int
    /// AAC packets hold whole frames, and the marker says so (RFC 3640, section 3.1). For other codecs it marks the
    /// beginning of a talk (RFC 3551, section 4.1).
    private let marksEveryPacket: Bool
    private let ssrc: UInt32
    private var encoder: any AudioEncoder
    private var sequenceNumber: UInt16
    private var timestamp: UInt32
    private var nextReport: Instant
    private var frame = [Int16](repeating: 0, count: TalkQueue.frameLength)

    /// When the next frame is due.
    private(set) var nextFrame: Instant
    private(set) var packetsSent: UInt64 = 0
    private(set) var bytesSent: UInt64 = 0
    private(set) var packetsDropped: UInt64 = 0
    /// Frames that were sent.
    private(set) var framesSent: UInt64 = 0

    init(_ codec: BackChannelCodec, encoder: any AudioEncoder, random: inout RandomSource, at now: Instant) {
        payloadType = codec.payload.payloadType & 0x7F
        clockRate = max(1, codec.payload.codec.clockRate)
        marksEveryPacket = codec.payload.codec.isNamed("mpeg4-generic")
        self.encoder = encoder
        ssrc = UInt32.random(in: 1...UInt32.max, using: &random)
        sequenceNumber = UInt16.random(in: 0...0x7FFF, using: &random)
        timestamp = UInt32.random(in: .min ... .max, using: &random)
        nextFrame = now
        nextReport = now
    }

    /// The bytes that the connection accepts each second, by which its backlog is judged. It is at least the rate of a
    /// slow codec, so a stream that has just begun is not judged by its first packet.
    var bytesPerSecond: Double {
        guard framesSent > 0 else { return 8000 }
        let headers = Double(packetsSent) * 16
        return max(4000, (Double(bytesSent) + headers) / (Double(framesSent) * 0.02))
    }

    /// Sends the frames that are due. `pull` fills a frame, `send` sends a packet.
    mutating func run(
        at now: Instant, ntp: NTPTimestamp, backlog: Duration,
        pull: (UnsafeMutableBufferPointer<Int16>) -> Void, send: Send
    ) throws(CodecError) {
        if now - nextFrame > Self.patience {
            let late = (now - nextFrame).wholeNanoseconds / Self.interval.wholeNanoseconds
            nextFrame += Self.interval * Int(late)
            timestamp &+= UInt32(truncatingIfNeeded: Int64(clockRate) * late / 50)
        }
        while nextFrame <= now {
            nextFrame += Self.interval
            try sendFrame(isBlocked: backlog > Self.mostBacklog, pull: pull, send: send)
        }
        if nextReport <= now, packetsSent > 0 {
            nextReport = now + Self.reportInterval
            sendReport(ntp, send)
        }
    }

    /// Sends an RTCP goodbye.
    mutating func finish(ntp: NTPTimestamp, send: Send) {
        guard packetsSent > 0 else { return }
        writeControl(send) { writer in
            writer.writeSenderReport(report(ntp))
            writer.writeSourceDescription(ssrc: ssrc, canonicalName: "gatehouse")
            writer.writeGoodbye(ssrcs: [ssrc])
        }
    }

    private mutating func sendFrame(
        isBlocked: Bool, pull: (UnsafeMutableBufferPointer<Int16>) -> Void, send: Send
    ) throws(CodecError) {
        if framesSent == 0, clockRate != 48_000 {
            // The rate converter looks ahead. Without these 5 ms a packet would never be full in time, and each would
            // leave 20 ms late.
            let silence = [Int16](repeating: 0, count: 240)
            try silence.withUnsafeBufferPointer { samples throws(CodecError) in
                try encoder.encode(samples) { _, _ in }
            }
        }
        frame.withUnsafeMutableBufferPointer { pull($0) }
        framesSent &+= 1
        // These are copied out, so that the encoder's payloads can be written while the frame is borrowed.
        var (number, time, sent, bytes, dropped) = (sequenceNumber, timestamp, packetsSent, bytesSent, packetsDropped)
        let (type, source, marksAll) = (payloadType, ssrc, marksEveryPacket)
        try frame.withUnsafeBufferPointer { samples throws(CodecError) in
            try encoder.encode(samples) { payload, ticks in
                defer { time &+= UInt32(truncatingIfNeeded: ticks) }
                guard !isBlocked, payload.count + 12 <= Self.maximumPacketSize else {
                    dropped &+= 1
                    return
                }
                // The three words of the fixed header (RFC 3550, section 5.1).
                let marker: UInt32 = marksAll || sent == 0 ? 0x80_0000 : 0
                let first = 0x8000_0000 | marker | UInt32(type) << 16 | UInt32(number)
                let header = (first.bigEndian, time.bigEndian, source.bigEndian)
                withUnsafeBytes(of: header) { send(.media, $0, payload) }
                number &+= 1
                sent &+= 1
                bytes &+= UInt64(payload.count)
            }
        }
        (sequenceNumber, timestamp, packetsSent, bytesSent, packetsDropped) = (number, time, sent, bytes, dropped)
    }

    private func report(_ ntp: NTPTimestamp) -> RTCPSenderReport {
        RTCPSenderReport(
            ssrc: ssrc, ntp: ntp, rtpTimestamp: timestamp, packetCount: UInt32(truncatingIfNeeded: packetsSent),
            octetCount: UInt32(truncatingIfNeeded: bytesSent))
    }

    private mutating func sendReport(_ ntp: NTPTimestamp, _ send: Send) {
        writeControl(send) { writer in
            writer.writeSenderReport(report(ntp))
            writer.writeSourceDescription(ssrc: ssrc, canonicalName: "gatehouse")
        }
    }

    private func writeControl(_ send: Send, _ write: (inout ByteWriter) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { buffer in
            var writer = ByteWriter(buffer)
            write(&writer)
            guard !writer.overflowed else { return }
            let empty = UnsafeRawBufferPointer(start: nil, count: 0)
            send(.control, empty, UnsafeRawBufferPointer(rebasing: buffer[..<writer.count]))
        }
    }
}

/// Sends a talk's sound over an RTSP session whose camera plays it, on the session's thread.
final class TalkSender {
    /// The interleaved channels that the camera has agreed to.
    typealias Channels = (media: UInt8, control: UInt8)

    /// How long queued sound may still play after the talk.
    private static let lastWords: Duration = .milliseconds(250)

    private let talk: BackChannelTalk
    private let channels: Channels
    private var stream: BackChannelStream
    /// When the last sound has to be out; nil before the talker has ended.
    private var finishBy: Instant?

    /// The camera plays: the talk is open. `begun` is when it was asked for.
    init(
        _ talk: BackChannelTalk, _ choice: BackChannelChoice, over channels: Channels, begun: Instant,
        random: inout RandomSource, at now: Instant
    ) {
        self.talk = talk
        self.channels = channels
        stream = BackChannelStream(choice.codec, encoder: choice.encoder, random: &random, at: now)
        talk.open(codec: choice.codec.name, after: now - begun)
    }

    /// When the next frame is due.
    var nextFrame: Instant { stream.nextFrame }

    /// Whether nothing is left to send after the talker's end.
    func isOver(at now: Instant) -> Bool {
        if talk.isSilenced { return true }
        let deadline = finishBy ?? now + Self.lastWords
        finishBy = deadline
        return !talk.drain() || now >= deadline
    }

    /// Sends the frames that are due, unless the camera was switched off.
    func send(over driver: inout RTSPDriver, at now: Instant) throws(CodecError) {
        let backlog = Duration.milliseconds(Int(Double(driver.waitingOutput) / stream.bytesPerSecond * 1000))
        defer { talk.record(stream) }
        try talk.unlessSilenced { () throws(CodecError) in
            try stream.run(
                at: now, ntp: NTPTimestamp(unixNanoseconds: WallClock.now), backlog: backlog,
                pull: { talk.pull(into: $0) },
                send: { output, header, payload in
                    driver.client.sendInterleaved(
                        channel: output == .media ? channels.media : channels.control, header: header, payload)
                })
            // What is left for later would be sent with the next write, silenced or not. A connection that is lost
            // reports that to its session at the next write.
            _ = driver.writeOutput()
        }
    }

    /// Sends an RTCP goodbye, unless the camera was switched off.
    func finish(over driver: inout RTSPDriver) {
        talk.unlessSilenced {
            stream.finish(ntp: NTPTimestamp(unixNanoseconds: WallClock.now)) { _, header, payload in
                driver.client.sendInterleaved(channel: channels.control, header: header, payload)
            }
            _ = driver.writeOutput()
        }
    }
}
