import PushAvStreamTransport
import Stations

/// The recording connections of the home, and what switches the cameras' outputs.
public struct HomeTransports: Sendable {
    /// The connections.
    public var service: TransportService
    /// Changes which outputs of a camera are allowed. When it returns, refused outputs have stopped, and allowed ones
    /// may begin.
    public var setOutputs: @Sendable (_ deviceID: String, OutputPolicy) async -> Void

    /// Names the parts.
    public init(
        service: TransportService,
        setOutputs: @escaping @Sendable (_ deviceID: String, OutputPolicy) async -> Void = { _, _ in }
    ) {
        self.service = service
        self.setOutputs = setOutputs
    }
}
