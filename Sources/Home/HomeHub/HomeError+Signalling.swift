import HomeTypes
import Signalling

extension HomeError {
    /// The subcode of a failed precondition that no change of state can fix: viewer and camera do not have a codec in
    /// common.
    public static let noCommonCodec = 1

    /// The home's error for an error of the signalling service.
    public init(_ error: SignallingError) {
        if case .unknownDevice = error {
            self = HomeError.notFound(error.words)
                .advising(request: "GET /v1/devices lists them", command: "gatehouse devices lists them")
            return
        }
        self =
            switch error.kind {
            case .invalid: .invalidArgument(error.words)
            case .notFound: .notFound(error.words)
            case .permissionDenied: .permissionDenied(error.words)
            case .codecMismatch: HomeError(.failedPrecondition, error.words, subcodes: [Self.noCommonCodec])
            case .failedPrecondition: .failedPrecondition(error.words)
            case .unavailable: .unavailable(error.words)
            case .limitReached: .resourceExhausted(error.words)
            case .deadlineExceeded: .deadlineExceeded(error.words)
            case .internalFault: .internal(error.words)
            }
    }
}
