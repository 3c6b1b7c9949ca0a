import HTTPMedia
import ONVIF
import RTSP
import SDP
import StreamFormats
import Testing
import Transport

@testable import Cameras

/// What people read when a camera sends nothing.
@Suite struct CameraFailureTests {
    @Test(arguments: [
        (CameraFailure.unreachable(CameraUnreachable("no route to host")), "no route to host"),
        (.connectionClosed, "the camera closed the connection"),
        (.connectionBroken(errorNumber: 104), "the connection was lost: Connection reset by peer"),
        (.redirectionCircle, "the camera redirects in a loop"),
        (
            .pictures(.redirected(to: "http://192.0.2.9/x")),
            "the camera redirects to http://192.0.2.9/x, which is not followed; write that address into the config"
        ),
        (.pictures(.redirected(to: "")), "the camera redirects without saying where; check the address"),
        (
            .stream(.leadsElsewhere(address: "http://192.0.2.9/x", .notEncrypted)),
            "the stream leads to http://192.0.2.9/x, which is not requested: it is not encrypted, and the stream began "
                + "with HTTPS"
        ),
        (
            .onvif(.status(302)),
            "the camera redirects ONVIF requests (HTTP status 302), which is not followed. If it wants HTTPS, write its "
                + "https:// address into the config"
        ),
        (.rtsp(.refused(method: .describe, status: 404, reason: "")), "the camera refused DESCRIBE with status 404"),
        (.nothingToPlay(notes: []), "the camera offers nothing that can be played: its description has no m= line"),
        (.noMedia, "the camera accepts sound but sends no media"),
        (.stalled(.audio), "the audio has stalled"),
        (.nothingCame(.video, .udp), "the camera agreed to play but sent no video over UDP"),
        (.nothingCame(.audio, .tcp), "the camera agreed to play but sent no audio over TCP"),
        (.sessionEnded, "the camera ended the session"),
        (.streamEnded, "the camera ended the stream (RTCP BYE)"),
        (.noPorts, "no pair of UDP ports is free"),
        (.noThread, "no thread could be started"),
        (.noPublisher(after: nil), "waiting for a publisher"),
        (.noPublisher(after: .stopped), "the publisher has stopped; waiting for a publisher"),
    ])
    func aFailureHasItsWords(_ failure: CameraFailure, _ words: String) {
        #expect(failure.words == words)
        #expect(SourceState.backingOff(seconds: 2.2, reason: failure).words == "\(words); the next try is in 3 s")
    }

    @Test(arguments: [
        (CameraFailure.stream(.ignoresRanges), "ignores Range"),
        (
            .stream(.refusedElsewhere(address: "http://192.0.2.9/x", status: 401)),
            "write the address of its playlist there into the config"
        ),
        (.passwordWithheld(address: "rtsp://192.0.2.9/x"), "write that address into the config"),
        (
            .rtsp(.redirectionRefused(to: "rtsp://192.0.2.9/x", .notEncrypted)),
            "encrypted connection to one that is not"
        ),
        (.rtsp(.malformedMessage(.http)), "give the address of its RTSP port"),
        (.rtsp(.unauthorized(.credentialsRefused)), "does not accept the user name and password"),
        (.rtsp(.unauthorized(.passwordWithheld)), "although it accepted Digest before"),
        (.stream(.refusedElsewhere(address: "http://192.0.2.9/x", status: 401)), "asks for a password"),
        (.onvif(.unauthorized(.passwordWithheld)), "clear text"),
        (.rtsp(.unauthorized(.hashUnavailable)), "Turn on Digest with SHA-256"),
        (.onvif(.unauthorized(.hashUnavailable)), "Turn on Digest with SHA-256"),
        (.pictures(.hashUnavailable), "Turn on Digest with SHA-256"),
    ])
    func aLongFailureSaysWhatIsWrongOrWhatToDo(_ failure: CameraFailure, _ words: String) {
        #expect(failure.words.contains(words), "\(failure.words)")
    }

    private static let kinds: [(CameraFailure, CameraFailure.Kind)] = [
        (.unreachable(CameraUnreachable("", cause: .unknownName)), .unknownName),
        (.unreachable(CameraUnreachable("", cause: .timedOut)), .timedOut),
        (.unreachable(CameraUnreachable("", cause: .insecure)), .insecure),
        (.onvif(.unreachable("", cause: .noRoute)), .noRoute),
        (.onvif(.noAnswer(seconds: 10)), .silent),
        (.onvif(.status(401)), .credentials),
        (.onvif(.status(404)), .wrongAddress),
        (.onvif(.status(302)), .wrongAddress),
        (.onvif(.noSecondProfile), .unplayable),
        (.onvif(.unsupported(.videoProfile)), .unplayable),
        (.onvif(.noParser), .gateway),
        (.rtsp(.unauthorized(.credentialsRefused)), .credentials),
        // The password is right, and is kept back.
        (.rtsp(.unauthorized(.passwordWithheld)), .passwordWithheld),
        (.onvif(.unauthorized(.passwordWithheld)), .passwordWithheld),
        (.pictures(.passwordWithheld), .passwordWithheld),
        (.passwordWithheld(address: ""), .passwordWithheld),
        // Nothing was sent, so no account comes closer to its lock.
        (.rtsp(.unauthorized(.hashUnavailable)), .passwordWithheld),
        (.pictures(.hashUnavailable), .passwordWithheld),
        (.rtsp(.refused(method: .describe, status: 404, reason: "")), .wrongAddress),
        (.rtsp(.refused(method: .setup, status: 453, reason: "")), .busy),
        (.rtsp(.noTrack(.refused(method: .setup, status: 453, reason: ""))), .busy),
        (.rtsp(.noTrack(.refused(method: .setup, status: 404, reason: ""))), .wrongAddress),
        (.rtsp(.noTrack(.refused(method: .setup, status: 500, reason: ""))), .unplayable),
        (.rtsp(.noTrack(nil)), .unplayable),
        (.rtsp(.transportRefused(.datagrams, status: 461)), .other),
        (.unreachable(CameraUnreachable(answer: .tunnelRefused(status: 404))), .wrongAddress),
        (.unreachable(CameraUnreachable(answer: .tunnelRefused(status: 503))), .busy),
        (.unreachable(CameraUnreachable(answer: .redirectionRefused(to: "", .ownHost))), .wrongAddress),
        (.unreachable(CameraUnreachable(answer: .unauthorized(.credentialsRefused))), .credentials),
        (.unreachable(CameraUnreachable(answer: .unauthorized(.passwordWithheld))), .passwordWithheld),
        (.stream(.format(.refused(.unpublished))), .wrongAddress),
        (.pictures(.credentialsMissing), .credentials),
        (.pictures(.notPictures(contentType: "text/html")), .wrongAddress),
        (.pictures(.refused(status: 403)), .credentials),
        (.stream(.refusedElsewhere(address: "", status: 503)), .busy),
        // The password of the config is not sent there.
        (.stream(.refusedElsewhere(address: "", status: 401)), .refusedElsewhere),
        (.stream(.refusedElsewhere(address: "", status: 403)), .refusedElsewhere),
        (.stream(.format(.encrypted(.method("")))), .unplayable),
        (.nothingCame(.video, .udp), .noMedia),
        (.connectionClosed, .ended),
        (.noPorts, .gateway),
        (.noPublisher(after: nil), .noPublisher),
    ]

    @Test(arguments: kinds)
    func aFailureHasItsKind(_ failure: CameraFailure, _ kind: CameraFailure.Kind) {
        #expect(failure.kind == kind)
    }

    @Test func aPasswordThatWasHeldBackIsNotARefusalExceptForONVIF() {
        for (failure, kind) in Self.kinds {
            if case .onvif = failure {
                #expect(!failure.isPasswordWithheld, "its requests carry a digest of the password")
            } else {
                #expect(failure.isPasswordWithheld == (kind == .passwordWithheld))
            }
        }
    }
}
