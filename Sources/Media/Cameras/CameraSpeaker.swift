/// A camera's speaker, which plays a talker's sound. One talker at a time has it, from ``begin(_:)`` to ``end()``.
/// Calls may come from any thread, but only one at a time.
public protocol CameraSpeaker: Sendable {
    /// A viewer is about to talk: opens the path to the camera. Returns at once.
    ///
    /// `report` gets ``SpeakerState/open`` or ``SpeakerState/refused(_:)``, and a refusal also later, when the path
    /// breaks. It may be called before this returns, on any thread, and must not wait.
    func begin(_ report: @escaping @Sendable (SpeakerState) -> Void)
    /// Plays samples of mono sound at 48 kHz.
    func play(_ samples: UnsafeBufferPointer<Int16>)
    /// The talker has ended. Queued sound may still play. Returns at once.
    func end()
    /// The camera was switched off: ends the talk without its last words. Nothing of it leaves for the camera once this
    /// has returned, nor of a talk before it whose last words are still being sent.
    func silence()
    /// What has been delivered since the last ``begin(_:)``.
    var delivery: SpeakerDelivery { get }
}

extension CameraSpeaker {
    /// A speaker with nothing to open.
    public func begin(_ report: @escaping @Sendable (SpeakerState) -> Void) { report(.open) }
    /// A speaker that sends nothing after the end.
    public func silence() { end() }
    /// A speaker that has no counters.
    public var delivery: SpeakerDelivery { SpeakerDelivery() }
}

/// The state of the path to a camera's speaker.
public enum SpeakerState: Sendable, Equatable {
    /// No one talks.
    case closed
    /// The camera is being asked.
    case opening
    /// Talk reaches the camera.
    case open
    /// The camera does not accept talk, or no longer accepts it.
    case refused(SpeakerRefusal)
}

/// What happened to a talker's sound on its path to a camera.
public struct SpeakerDelivery: Sendable, Equatable {
    /// The state of the path.
    public var state: SpeakerState
    /// The codec that the camera is sent, for example `PCMU/8000`; nil before it is agreed.
    public var codec: String?
    /// Milliseconds of the talker's sound that arrived.
    public var millisecondsReceived: Double = 0
    /// Milliseconds that wait to be sent.
    public var millisecondsQueued: Double = 0
    /// Milliseconds that were sent, silence that filled gaps included.
    public var millisecondsSent: Double = 0
    /// Milliseconds of the talker's sound that were dropped because they had become too old.
    public var millisecondsDropped: Double = 0
    /// Milliseconds of silence that were sent where nothing had come from the talker.
    public var millisecondsOfSilence: Double = 0
    /// Packets that were sent to the camera.
    public var packetsSent: UInt64 = 0
    /// Bytes of their payloads.
    public var bytesSent: UInt64 = 0
    /// Packets that were not sent because the connection accepted nothing.
    public var packetsDropped: UInt64 = 0
    /// How long the path took to open, in milliseconds; nil before it is open.
    public var millisecondsToOpen: Double?

    /// Starts with nothing delivered.
    public init(state: SpeakerState = .closed) {
        self.state = state
    }
}
