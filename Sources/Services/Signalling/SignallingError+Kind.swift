import Cameras
import Stations

extension SignallingError {
    /// What a client can do about an error. The home's error codes follow from it.
    public enum Kind: Hashable, Sendable {
        /// What was sent cannot be used: the client has to send something else.
        case invalid
        /// It does not exist, or not for this principal.
        case notFound
        /// Another principal may do it.
        case permissionDenied
        /// Camera and viewer share no codec. No wait helps; other settings may.
        case codecMismatch
        /// The camera or the session is not in a state that allows it.
        case failedPrecondition
        /// The camera is not delivering; it may later.
        case unavailable
        /// There are too many.
        case limitReached
        /// The camera took too long.
        case deadlineExceeded
        /// The gateway failed.
        case internalFault
    }

    /// What the client can do about it.
    public var kind: Kind {
        switch self {
        case .unreadableOffer, .unreadableFragment, .unusableCredentials, .unusableClip: .invalid
        case .refusedOffer(let refusal): refusal.isCodecMismatch ? .codecMismatch : .invalid
        case .unknownDevice, .unknownSession, .unknownClip: .notFound
        case .foreignClip, .mayNotPublish: .permissionDenied
        case .station(let error): Self.kind(of: error)
        case .speaker(let refusal): Self.kind(of: refusal)
        case .stopped: .unavailable
        case .takesNoPublisher, .noSpeaker, .noMicrophone, .endedWhileOpening, .maximumDurationReached:
            .failedPrecondition
        // The request conflicts with the present state, and trying later may help.
        case .floorTaken: .failedPrecondition
        case .limitReached, .publishersChangeTooOften: .limitReached
        case .noMediaBeforeDeadline: .deadlineExceeded
        case .noTalkbackDecoder, .noTalkThread: .internalFault
        }
    }

    private static func kind(of error: StationError) -> Kind {
        switch error {
        case .noMedia, .damagedVideo, .nothingToShow, .transcodingRefused, .switchedOffMeanwhile, .runsElsewhere:
            .unavailable
        case .noVideo, .unreadableVideo, .refused: .failedPrecondition
        case .noKeyFrame: .deadlineExceeded
        case .pictureNotEncoded: .internalFault
        }
    }

    private static func kind(of refusal: SpeakerRefusal) -> Kind {
        switch refusal {
        case .unreachable, .noAnswer, .brokenOff, .sourceStopped: .unavailable
        case .unauthorized, .noBackChannel, .noCommonCodec, .needsDatagrams, .sessionRefused: .failedPrecondition
        case .gatewayFault: .internalFault
        }
    }
}
