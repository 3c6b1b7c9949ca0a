import MediaRelay
import TURN
import Transport

extension DoctorFinding {
    /// Whether a server that viewers are given works, with the credentials that they get.
    static func viewerServer(_ server: TriedServer) -> DoctorFinding {
        let kind = server.isRelay ? "TURN" : "STUN"
        let name = "The \(kind) server \(server.url) of media.iceServers"
        switch server.outcome {
        case .answered(let delay):
            return DoctorFinding(
                .viewerServers, .good,
                server.isRelay
                    ? "\(name) relays with the credentials that viewers get; it answers after \(delay.inWords)."
                    : "\(name) answers after \(delay.inWords).")
        case .inUse: return DoctorFinding(.viewerServers, .good, "\(name) relays.")
        case .failed(let failure):
            let message =
                failure == .wrongCredentials
                ? "\(name) refuses the user name or the password that viewers get."
                : "\(name) does not serve: \(failure)."
            return DoctorFinding(
                .viewerServers, failure.isCertain ? .failure : .warning, message,
                advice: failure.advice(.viewers, overUDP: server.transport == .udp, kind: kind))
        case .unknown(let reason):
            return DoctorFinding(
                .viewerServers, .warning, "\(name) has no address: \(reason).",
                advice: "Check the name in media.iceServers, and this machine's name server.")
        case .malformed:
            return DoctorFinding(
                .viewerServers, .warning,
                "media.iceServers names \(server.url), which is not the URL of a STUN or TURN server. Browsers may refuse "
                    + "to start a live view with it.",
                advice: "Write for example stun:stun.example.org:3478 or turn:turn.example.org?transport=tcp.")
        case .withoutCredentials:
            return DoctorFinding(
                .viewerServers, .failure,
                "\(name) has no username or no credential, so browsers refuse to start a live view.",
                advice: "Add username and credential to this server in media.iceServers, or remove it.")
        case .untried:
            return DoctorFinding(
                .viewerServers, .note, "\(name) is reached over DTLS, which the gateway cannot try.",
                advice: "Try it with a browser in a network that blocks direct paths.")
        }
    }
}

extension TURNFailure {
    /// Whether every other client fares the same. One that does not reach the server may be alone with that.
    fileprivate var isCertain: Bool {
        switch self {
        case .wrongCredentials, .contradictory, .insecure: true
        // The server has no room at the moment.
        case .refused(let code): code != 486 && code != 508
        case .noAnswer, .unreachable, .disconnected: false
        }
    }
}
