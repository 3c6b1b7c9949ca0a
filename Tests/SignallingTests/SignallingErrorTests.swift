import Cameras
import Codecs
import SDP
import Stations
import Testing

@testable import Signalling

/// What clients read of a refusal, and what they can do about it.
@Suite struct SignallingErrorTests {
    private static let codecError = CodecError(codec: "H265", operation: "decode", reason: "no decoder")
    private static let fault = TrackFault.untranscodable(codec: "H265", codecError)

    @Test(arguments: [
        (SignallingError.unknownDevice("attic"), SignallingError.Kind.notFound, "no camera runs for device \"attic\""),
        (.unknownClip(device: "door"), .notFound, "door has no recent clip with this identifier"),
        (.foreignClip, .permissionDenied, "somebody else started this clip; only they and the owner may end it"),
        (
            .takesNoPublisher(device: "door"), .failedPrecondition,
            "you cannot publish to door; only cameras with source: publisher accept a publisher"
        ),
        (
            .mayNotPublish(device: "door"), .permissionDenied,
            "the token does not permit publishing to door; it needs the scope media"
        ),
        (.stopped(device: "phone"), .unavailable, "phone has been stopped"),
        (
            .publishersChangeTooOften(device: "phone", wait: .seconds(1)), .limitReached,
            "the publishers of phone change too often; wait 1 s, and let only one program publish"
        ),
        (
            .floorTaken(device: "door", by: .clip), .failedPrecondition,
            "a clip is being played to door; try again when it has ended"
        ),
        (
            .endedWhileOpening(.session), .failedPrecondition,
            "the talk was ended before the camera's speaker was open"
        ),
        (
            .unusableClip(.tooLong(seconds: 31.2)), .invalid, "the clip is 31.0 s long; the limit is 30 s"
        ),
        (
            .limitReached(.camera("door", views: 8, .share(8))), .limitReached,
            "camera door has 8 live views: this token already uses its share of 8 places; end one first"
        ),
        (
            .maximumDurationReached(seconds: 60), .failedPrecondition,
            "the session has reached its maximum duration of 60 seconds; start a new one"
        ),
        (
            .noMediaBeforeDeadline(device: "door"), .deadlineExceeded,
            "door sent no media before the request's deadline"
        ),
        (
            .refusedOffer(OfferRefusal(.invalid(.invalidDescription(.repeatedTag("0"), line: 7)), line: 7)), .invalid,
            "line 7: two media sections have the identification tag 0"
        ),
        (
            .unusableCredentials(.usernameFragment(.length(1)), line: 2), .invalid,
            "line 2: a=ice-ufrag has 1 characters; RFC 8839 asks for 4 to 256"
        ),
        (
            .unusableCredentials(.password(.unprintable), line: nil), .invalid,
            "a=ice-pwd contains characters other than printable ASCII"
        ),
        (
            .refusedOffer(OfferRefusal(.playsNothing(camera: "door", media: [], faults: [fault]), line: 3)),
            .codecMismatch, "this viewer can play nothing from door: H265 cannot be transcoded: no decoder"
        ),
    ])
    func everyErrorHasWordsAndAKind(_ error: SignallingError, _ kind: SignallingError.Kind, _ words: String) {
        #expect(error.kind == kind && error.words == words)
    }

    @Test func `a viewer that plays none of the video learns what the camera sends`() {
        let codec = MediaCodec(name: "H264", clockRate: 90_000)
        let sent = TrackDescription(kind: .video, codec: codec, payloadType: 96, reordersPictures: true)
        let mismatch = VideoMismatch(
            camera: "door", sent: [sent], played: [], remedies: [.changeCodec], faults: [Self.fault])
        let words = OfferRefusal(.noPlayableVideo(mismatch), line: nil).words
        #expect(words.hasPrefix("no common video codec: door sends H264"), "\(words)")
        #expect(words.contains(" with B-frames, the viewer plays none; "), "\(words)")
        #expect(words.hasSuffix("(H265 cannot be transcoded: no decoder)"), "\(words)")
    }

    @Test func `a client that has to wait learns for how many whole seconds`() {
        let waits: [Duration] = [.milliseconds(1), .seconds(1), .milliseconds(1_001)]
        let errors = waits.map { SignallingError.publishersChangeTooOften(device: "phone", wait: $0) }
        let seconds = errors.map(\.retryAfterSeconds)
        #expect(seconds == [1, 1, 2])
        #expect(SignallingError.stopped(device: "phone").retryAfterSeconds == nil)
    }

    @Test(arguments: [
        (
            StationError.noMedia(camera: "door", .connecting), SignallingError.Kind.unavailable,
            "door is not sending media: "
        ),
        (.noVideo(camera: "door"), .failedPrecondition, "door sends no video"),
        (
            .damagedVideo(camera: "door", PictureDamage(codec: "H265", error: codecError), recent: .seconds(10)),
            .unavailable, "door sends video that cannot be decoded (H265: no decoder), and there is no picture from the"
        ),
        (.unreadableVideo(codec: "H265", codecError), .failedPrecondition, "the gateway cannot make a picture from"),
        (.noKeyFrame(camera: "door", within: .seconds(10)), .deadlineExceeded, "door has sent no key frame for 10 s"),
        (
            .nothingToShow(camera: "door", within: .seconds(15)), .unavailable,
            "door has sent nothing that can be shown for 15 s"
        ),
        (
            .nothingToShow(
                camera: "door", within: .seconds(15), .source(.backingOff(seconds: 4, reason: .connectionClosed))),
            .unavailable,
            "door has sent nothing that can be shown for 15 s: the camera closed the connection; the next try is in 4 s"
        ),
        (.pictureNotEncoded(codecError), .internalFault, "the picture could not be encoded as JPEG: no decoder"),
        (.refused(camera: "door", .off), .failedPrecondition, "door is switched off"),
        (
            .switchedOffMeanwhile(camera: "door"), .unavailable,
            "door was switched off or changed in the meantime; try again"
        ),
        (.runsElsewhere(camera: "door"), .unavailable, "another gateway of the home runs door"),
    ])
    func aStationsErrorReachesTheClient(_ error: StationError, _ kind: SignallingError.Kind, _ words: String) {
        let error = SignallingError.station(error)
        #expect(error.kind == kind && error.words.hasPrefix(words), "\(error.words)")
    }

    @Test(arguments: [
        (
            SpeakerRefusal.unreachable(.redirectionCircle), SignallingError.Kind.unavailable,
            "the camera's speaker cannot be reached: the camera redirects in a loop"
        ),
        (
            .noAnswer(within: .seconds(8)), .unavailable,
            "the camera's speaker cannot be reached: it did not answer within 8 s"
        ),
        (
            .sessionRefused(.connectionClosed), .failedPrecondition,
            "the camera refuses the session for its speaker: the camera closed the connection; "
                + "it may serve one client at a time"
        ),
        (
            .sourceStopped, .unavailable,
            "the connection to the camera's speaker was lost: the camera's source has been stopped"
        ),
        (
            .gatewayFault(.noThread), .internalFault,
            "the gateway could not open the camera's speaker: no thread could be started"
        ),
    ])
    func aSpeakersRefusalReachesTheTalker(_ refusal: SpeakerRefusal, _ kind: SignallingError.Kind, _ words: String) {
        let error = SignallingError.speaker(refusal)
        #expect(error.kind == kind && error.words == words)
    }
}
