import HomeTypes
import Signalling

extension HomeError {
    /// The subcode of a failed precondition that no change of state can fix: viewer and camera share no codec.
    public static let noCommonCodec = 1

    /// The home's error for an error of the signalling service.
    public init(_ error: SignallingError) {
        self =
            switch error {
            case .invalidOffer(let message): .invalidArgument(message)
            case .unknownDevice(let id): .notFound("no camera runs for device \(id.prefix(64).debugDescription)")
            case .unknownSession:
                .notFound("there is no such session: it has ended, never existed, or belongs to somebody else")
            case .unknownClip(let message): .notFound(message)
            case .permissionDenied(let message): .permissionDenied(message)
            case .codecMismatch(let message):
                HomeError(.failedPrecondition, message, subcodes: [Self.noCommonCodec])
            case .cameraUnavailable(let message): .unavailable(message)
            case .failedPrecondition(let message): .failedPrecondition(message)
            // Somebody else holds the floor. The request conflicts with the present state, and trying later may help.
            case .talkbackBusy(let message): .failedPrecondition(message)
            case .invalidClip(let message): .invalidArgument(message)
            case .limitReached(let message): .resourceExhausted(message)
            case .deadlineExceeded(let message): .deadlineExceeded(message)
            case .internalFault(let message): .internal(message)
            }
    }
}
