import MediaRelay
import Stations

extension SignallingError {
    /// An error of a camera's station, as clients of live views get it.
    public init(_ error: StationError) {
        switch error {
        case .cameraUnavailable(let reason): self = .cameraUnavailable(reason)
        case .transcodingRefused(let refusal): self = .cameraUnavailable(refusal.words)
        case .failedPrecondition(let reason): self = .failedPrecondition(reason)
        case .refused(let camera, let refusal): self = .failedPrecondition("\(camera) \(refusal.words)")
        case .runsElsewhere(let camera): self = .cameraUnavailable("another gateway of the home runs \(camera)")
        case .deadlineExceeded(let reason): self = .deadlineExceeded(reason)
        case .internalFault(let reason): self = .internalFault(reason)
        }
    }

    /// Runs `body`, and throws a station's error as clients get it.
    static func translating<Value>(_ body: () throws(StationError) -> Value) throws(SignallingError) -> Value {
        do throws(StationError) {
            return try body()
        } catch {
            throw SignallingError(error)
        }
    }
}
