import Cameras
import DatagramPort
import Foundation
import HomeTypes
import SDP
import Stations
import Transport

extension CameraSourceStatus {
    /// A reason may hold what the camera wrote, and somebody reads it in a terminal.
    init(_ snapshot: CameraStation.Snapshot) {
        let tracks = snapshot.tracks.map { CameraTrack(kind: $0.kind.name, codec: $0.codec.name) }
        let reason = snapshot.reason?.words.onOneLine
        let refused = snapshot.refusal.map { CameraSourceCause($0) }
        switch snapshot.state {
        case .idle: self.init(state: .idle, reason: reason, cause: refused, tracks: tracks)
        case .resolving: self.init(state: .resolving, tracks: tracks)
        case .connecting: self.init(state: .connecting, tracks: tracks)
        case .authenticating: self.init(state: .authenticating, tracks: tracks)
        case .describing: self.init(state: .describing, tracks: tracks)
        case .settingUp, .playing: self.init(state: .settingUp, tracks: tracks)
        case .flowing: self.init(state: .flowing, reason: reason, cause: refused, tracks: tracks)
        case .stalled(let track):
            self.init(
                state: .stalled, reason: "track \(track) has sent nothing for a while", cause: .silent, tracks: tracks)
        case .backingOff(let seconds, let failure):
            let trouble = SourceTrouble(
                failure.words.onOneLine, attempts: seconds == 0 ? nil : .next(seconds: Int(seconds.rounded(.up))))
            self.init(
                state: .backingOff, trouble: trouble, cause: CameraSourceCause(failure.kind), tracks: tracks)
        case .givenUp(let until, let failures, let failure):
            let left = max(0, (until - MonotonicClock.now).inSeconds)
            self.init(
                state: .givenUp, trouble: SourceTrouble(failure.words.onOneLine, attempts: .failed(failures)),
                cause: CameraSourceCause(failure.kind), tracks: tracks,
                retryAt: Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + left).rounded()))
        case .stopped: self.init(state: .stopped, tracks: tracks)
        }
    }
}

extension CameraSourceCause {
    init(_ kind: CameraFailure.Kind) {
        self =
            switch kind {
            case .unknownName: .unknownName
            case .refused: .refused
            case .noRoute: .noRoute
            case .timedOut: .timedOut
            case .silent: .silent
            case .insecure: .insecure
            case .credentials: .credentials
            case .passwordWithheld: .passwordWithheld
            case .refusedElsewhere: .refusedElsewhere
            case .wrongAddress: .wrongAddress
            case .busy: .busy
            case .unplayable: .unplayable
            case .noMedia: .noMedia
            case .ended: .ended
            case .gateway: .gateway
            case .noPublisher: .noPublisher
            case .other: .other
            }
    }

    init(_ refusal: OutputRefusal) { self = refusal == .off ? .switchedOff : .privacy }
}
