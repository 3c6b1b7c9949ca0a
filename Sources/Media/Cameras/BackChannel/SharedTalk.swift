import Codecs
import RTP
import RTSP
import SDP
import Transport

/// A talk within the source's session, on the source's thread.
final class SharedTalk {
    let talk: BackChannelTalk
    private let shared: SharedSpeaker
    private let begun: Instant
    private var choice: BackChannelChoice?
    private var channel: (media: UInt8, control: UInt8)?
    private var stream: BackChannelStream?
    private var finishBy: Instant?
    /// The number of the speaker's track among those that are set up; nil before it is chosen.
    private(set) var track: Int?

    init(_ talk: BackChannelTalk, of shared: SharedSpeaker, at now: Instant) {
        self.talk = talk
        self.shared = shared
        begun = now
    }

    /// Chooses the speaker's track, which is set up with this number; returns its URI.
    func choose(from text: String, baseURI: String, url: RTSPURL, as number: Int) -> String? {
        do {
            let session = try SessionDescription(parsing: text)
            let choice = try BackChannelChoice(from: session, baseURI: baseURI, url: url)
            (self.choice, track) = (choice, number)
            return choice.codec.controlURI
        } catch let refusal as SpeakerRefusal {
            shared.finish(talk, refusal)
        } catch {
            shared.finish(talk, .sessionRefused("its description cannot be read: \(error)"))
        }
        return nil
    }

    /// The camera accepts the sound on these channels.
    func agree(media: UInt8, control: UInt8) { channel = (media, control) }

    /// The camera does not accept the talk. The picture continues.
    func refuse(_ refusal: SpeakerRefusal) { shared.finish(talk, refusal) }

    /// The camera plays.
    func open(random: inout RandomSource, at now: Instant) {
        guard let choice, channel != nil, stream == nil else { return }
        stream = BackChannelStream(choice.codec, encoder: choice.encoder, random: &random, at: now)
        shared.succeed()
        talk.open(codec: choice.codec.name, after: now - begun)
    }

    /// When the talk needs the thread next.
    func nextDeadline(at now: Instant) -> Instant {
        // The end of a talk is noticed within a packet's time; before the talk is open, almost as soon.
        stream?.nextFrame ?? now + .milliseconds(50)
    }

    /// Whether the talk is over, so that the session can do without the speaker.
    func isOver(at now: Instant) -> Bool {
        guard shared.talk === talk else { return true }
        guard talk.control.isStopping else { return false }
        guard stream != nil else { return true }
        let deadline = finishBy ?? now + BackChannelSession.lastWords
        finishBy = deadline
        return !talk.drain() || now >= deadline
    }

    /// Sends the frames that are due.
    func send(to client: inout RTSPClient, unacknowledgedBytes: Int, at now: Instant) {
        guard var stream = stream.take(), let channel else { return }
        let waiting = client.waitingOutput + unacknowledgedBytes
        let backlog = Duration.milliseconds(Int(Double(waiting) / stream.bytesPerSecond * 1000))
        do {
            try stream.run(
                at: now, ntp: NTPTimestamp(unixNanoseconds: wallClockNanoseconds()), backlog: backlog,
                pull: { talk.pull(into: $0) },
                send: { output, packet in
                    client.sendInterleaved(channel: output == .media ? channel.media : channel.control, packet)
                })
        } catch {
            shared.finish(talk, .gatewayFault("\(error)"))
        }
        talk.note(stream)
        self.stream = consume stream
    }

    /// Sends an RTCP goodbye; the talk is over.
    func finish(to client: inout RTSPClient) {
        if var stream = stream.take(), let channel {
            stream.finish(ntp: NTPTimestamp(unixNanoseconds: wallClockNanoseconds())) { _, packet in
                client.sendInterleaved(channel: channel.control, packet)
            }
        }
        shared.finish(talk)
    }

    /// The session has ended by itself. Returns whether the talk was open.
    func breakOff(_ reason: String) -> Bool {
        guard stream != nil else { return false }
        shared.finish(talk, .brokenOff(reason))
        return true
    }
}
