import Transport

/// Records what the connections decide. The recorder of the cameras is adapted to it where the process is composed.
public protocol RecordingDriving: Sendable {
    /// Begins a recording. It must not wait.
    /// - Parameter began: called once, when the recording's first session has begun, from any thread. It is never called for
    ///   a recording that comes to nothing.
    func begin(_ order: RecordingOrder, began: @escaping @Sendable () -> Void)

    /// A trigger belongs to the recording that runs on a connection.
    func add(_ trigger: RecordingSession.Trigger, to connection: UInt16, of device: String)

    /// Ends the recording of a connection. It must not wait; what the recorder has received so far is still kept, except
    /// after a privacy switch.
    func end(_ connection: UInt16, of device: String, reason: RecordingEnd.Reason)

    /// A connection needs this much before its triggers from now on; nil for a connection that needs nothing.
    func setPreRoll(_ preRoll: Duration?, of connection: UInt16, of device: String)
}

/// A recording that is to begin.
public struct RecordingOrder: Sendable, Equatable {
    /// The device.
    public var device: String
    /// The connection with its options: streams, container and endpoint.
    public var connection: TransportConnection
    /// The number of the CMAF session.
    public var number: UInt64
    /// Why it is recorded.
    public var trigger: RecordingSession.Trigger
    /// When the trigger came, on the monotonic clock.
    public var triggeredAt: Instant
    /// How much before the trigger belongs to it.
    public var preRoll: Duration
    /// When the connection became active: nothing that was captured before belongs to it.
    public var notBefore: Instant
}

/// What the connections of the cameras report to the home.
public enum TransportChange: Sendable, Equatable {
    /// The connections, the streams or the privacy of a camera are other ones now.
    case connections(device: String)
    /// Connections of a camera have ended because their principals may no longer have its footage. Nothing more of theirs
    /// may be uploaded.
    case rightsEnded(device: String, connections: [TransportConnection])
    /// A recording has begun.
    case began(device: String, connection: UInt16, RecordingTrigger, number: UInt64)
    /// A recording has ended.
    case ended(device: String, connection: UInt16, number: UInt64, RecordingEnd.Reason)
    /// The connections of a camera cannot be kept on the disk. What is in force is written again until it can.
    case notKept(device: String, RecordingFault)
    /// They are kept again.
    case kept(device: String)
}
