import Codecs
import RTSP
import SDP
import Transport

/// A talk within the source's session, on the source's thread.
final class SharedTalk {
    /// How far the talk has come.
    private enum Stage {
        /// The camera has not described itself.
        case waiting
        /// The speaker's track is set up under this number.
        case settingUp(BackChannelChoice, track: Int, TalkSender.Channels?)
        /// The camera plays the sound.
        case open(TalkSender, track: Int)
    }

    private let talk: BackChannelTalk
    private let shared: SharedSpeaker
    private let begun: Instant
    private var stage = Stage.waiting

    init(_ talk: BackChannelTalk, of shared: SharedSpeaker, at now: Instant) {
        self.talk = talk
        self.shared = shared
        begun = now
    }

    /// The number of the speaker's track among those that are set up; nil before it is chosen.
    var track: Int? {
        switch stage {
        case .waiting: nil
        case .settingUp(_, let track, _), .open(_, let track): track
        }
    }

    private var sender: TalkSender? { if case .open(let sender, _) = stage { sender } else { nil } }

    /// Chooses the speaker's track, which is set up with this number; returns its URI.
    func choose(from text: String, baseURI: String, url: RTSPURL, as number: Int) -> String? {
        let session: SessionDescription
        do throws(SDPError) {
            session = try SessionDescription(parsing: text)
        } catch {
            shared.finish(talk, .sessionRefused(.unreadableDescription(error)))
            return nil
        }
        do throws(SpeakerRefusal) {
            let choice = try BackChannelChoice(from: session, baseURI: baseURI, url: url)
            stage = .settingUp(choice, track: number, nil)
            return choice.codec.controlURI
        } catch {
            shared.finish(talk, error)
        }
        return nil
    }

    /// The camera accepts the sound on these channels.
    func agree(media: UInt8, control: UInt8) {
        guard case .settingUp(let choice, let track, _) = stage else { return }
        stage = .settingUp(choice, track: track, (media, control))
    }

    /// The camera does not accept the talk. The picture continues.
    func refuse(_ refusal: SpeakerRefusal) { shared.finish(talk, refusal) }

    /// The camera plays.
    func open(random: inout RandomSource, at now: Instant) {
        guard case .settingUp(let choice, let track, let channels?) = stage else { return }
        shared.succeed()
        stage = .open(
            TalkSender(talk, choice, over: channels, begun: begun, random: &random, at: now), track: track)
    }

    /// When the talk needs the thread next.
    func nextDeadline(at now: Instant) -> Instant {
        // The end of a talk is noticed within a packet's time; before the talk is open, almost as soon.
        sender?.nextFrame ?? now + .milliseconds(50)
    }

    /// Whether the talk is over, so that the session can do without the speaker.
    func isOver(at now: Instant) -> Bool {
        guard shared.talk === talk else { return true }
        guard talk.control.isStopping else { return false }
        return sender?.isOver(at: now) ?? true
    }

    /// Whether the camera was switched off, and nothing more of the talk may be sent.
    var isSilenced: Bool { talk.isSilenced }

    /// Sends the frames that are due.
    func send(over driver: inout RTSPDriver, at now: Instant) {
        do throws(CodecError) {
            try sender?.send(over: &driver, at: now)
        } catch {
            shared.finish(talk, .gatewayFault(.encoding(error)))
        }
    }

    /// Sends an RTCP goodbye; the talk is over.
    func finish(over driver: inout RTSPDriver) {
        sender?.finish(over: &driver)
        shared.finish(talk)
    }

    /// The session has ended by itself. Returns whether the talk was open.
    func breakOff(_ failure: CameraFailure) -> Bool {
        guard sender != nil else { return false }
        shared.finish(talk, .brokenOff(failure))
        return true
    }
}
