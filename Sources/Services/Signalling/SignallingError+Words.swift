import Cameras
import Codecs
import SDP
import Stations

extension SignallingError {
    /// Why it was not done, and what would help, as the client reads it.
    public var words: String {
        switch self {
        case .unreadableOffer(let error): "the offer is not a session description: \(error)"
        case .refusedOffer(let refusal): refusal.words
        case .unreadableFragment(let error): "the fragment cannot be read: \(error)"
        case .unusableCredentials(let fault, let line): (line.map { "line \($0): " } ?? "") + fault.description
        case .unknownDevice(let id): "no camera runs for device \(id.prefix(64).debugDescription)"
        case .unknownSession: "the session has ended, never existed, or belongs to somebody else"
        case .unknownClip(let device): "\(device) has no recent clip with this identifier"
        case .foreignClip: "somebody else started this clip; only they and the owner may end it"
        case .station(let error): error.words
        case .noMediaBeforeDeadline(let device): "\(device) sent no media before the request's deadline"
        case .stopped(let device): "\(device) has been stopped"
        case .takesNoPublisher(let device):
            "you cannot publish to \(device); only cameras with source: publisher accept a publisher"
        case .mayNotPublish(let device): "the token does not permit publishing to \(device); it needs the scope media"
        case .publishersChangeTooOften(let device, _):
            "the publishers of \(device) change too often; wait \(retryAfterSeconds ?? 1) s, and let only one program publish"
        case .noSpeaker(let device): "\(device) has no speaker"
        case .noMicrophone: "this live view was started without a microphone; start it again with sendrecv audio"
        case .floorTaken(let device, by: .session):
            "somebody else is talking to \(device); try again when they have finished"
        case .floorTaken(let device, by: .clip):
            "a clip is being played to \(device); try again when it has ended"
        case .endedWhileOpening(let kind): "the \(kind.noun) was ended before the camera's speaker was open"
        case .speaker(let refusal): refusal.words
        case .unusableClip(let fault): fault.words
        case .limitReached(let limit): limit.words
        case .maximumDurationReached(let seconds):
            "the session has reached its maximum duration of \(seconds) seconds; start a new one"
        case .noTalkbackDecoder(let error): "the talkback decoder could not be made: \(error)"
        case .noTalkThread: TalkEnd.noThread.words
        }
    }
}

extension TalkKind {
    fileprivate var noun: String {
        switch self {
        case .session: "talk"
        case .clip: "clip"
        }
    }
}

extension ClipFault {
    /// What is wrong, and what would be right.
    public var words: String {
        switch self {
        case .tooLarge(let bytes): "the clip has \(bytes) bytes; the limit is \(TalkClip.maximumBytes)"
        case .unreadable(let error): "\(error)"
        case .silent: "the clip contains no sound"
        case .tooLong(let seconds):
            "the clip is \(seconds.rounded()) s long; the limit is \(Int(TalkClip.maximumSeconds)) s"
        }
    }
}

extension ViewLimit {
    /// The limit, and what to do.
    public var words: String {
        switch self {
        case .gateway(let views, let refusal): "the gateway holds \(views) live views: \(refusal.words); end one first"
        case .camera(let camera, let views, let refusal):
            "camera \(camera) has \(views) live views: \(refusal.words); end one first"
        case .principal(let principal, let views):
            "\(principal) already holds \(views) live views, the limit; end one first"
        }
    }
}
