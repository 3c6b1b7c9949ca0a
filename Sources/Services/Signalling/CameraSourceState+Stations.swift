import Cameras
import HomeTypes

extension CameraSourceState {
    /// The home's name of a source's state.
    init(_ state: SourceState) {
        self =
            switch state {
            case .idle: .idle
            case .resolving: .resolving
            case .connecting: .connecting
            case .authenticating: .authenticating
            case .describing: .describing
            case .settingUp, .playing: .settingUp
            case .flowing: .flowing
            case .stalled: .stalled
            case .backingOff: .backingOff
            case .givenUp: .givenUp
            case .stopped: .stopped
            }
    }
}
