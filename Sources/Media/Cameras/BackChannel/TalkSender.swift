import Codecs
import DatagramPort
import RTP
import RTSP
import Transport

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
        defer { talk.note(stream) }
        try talk.unlessSilenced { () throws(CodecError) in
            try stream.run(
                at: now, ntp: NTPTimestamp(unixNanoseconds: WallClock.now), backlog: backlog,
                pull: { talk.pull(into: $0) },
                send: { output, packet in
                    driver.client.sendInterleaved(
                        channel: output == .media ? channels.media : channels.control, packet)
                })
            // What is left for later would be sent with the next write, silenced or not. A connection that is lost
            // tells its session at the next write.
            _ = driver.writeOutput()
        }
    }

    /// Sends an RTCP goodbye, unless the camera was switched off.
    func finish(over driver: inout RTSPDriver) {
        talk.unlessSilenced {
            stream.finish(ntp: NTPTimestamp(unixNanoseconds: WallClock.now)) { _, packet in
                driver.client.sendInterleaved(channel: channels.control, packet)
            }
            _ = driver.writeOutput()
        }
    }
}
