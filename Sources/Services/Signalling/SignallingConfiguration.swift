import DTLS
import DatagramPort
import ICE
import Transport

/// The settings of live views, talks and publishers.
public struct SignallingConfiguration: Sendable {
    /// The gateway's certificate and key.
    public var identity: DTLSIdentity
    /// How long sessions last and how many there may be.
    public var limits: SessionLimits
    /// Addresses to offer to viewers in addition to those of the host's interfaces.
    public var addresses: [TransportAddress]
    /// Returns the addresses of the host's interfaces, which may change while the gateway runs.
    public var interfaceAddresses: @Sendable () -> [TransportAddress] = { hostAddresses().map(\.address) }
    /// Returns where the router has agreed to forward to the TCP port of media from.
    public var forwardedTCPAddresses: @Sendable () -> [TransportAddress] = { [] }
    /// Looks up the name that stands for a candidate's address (multicast DNS), away from the threads of media. It calls back
    /// once: with the address, or with nil if nobody answers for the name. Nil: such candidates are ignored.
    public var resolveName:
        (@Sendable (_ name: String, _ found: @escaping @Sendable (TransportAddress?) -> Void) -> Void)?
    /// How long a start waits for a camera that has not announced its tracks yet.
    public var cameraTimeout: Duration = .seconds(10)
    /// How long the path to a camera's speaker may take to open.
    public var speakerTimeout: Duration = .seconds(10)
    /// How long a talker may send nothing before losing the floor.
    public var talkbackPatience: Duration = .seconds(5)
    /// Whether the camera's sound is left out for a talker while they speak. The camera's microphone picks up its own
    /// speaker, which would howl or come back as an echo.
    public var mutesReturnPath = true
    /// How long the camera's sound stays left out after the last word, which is still on its way to the speaker and
    /// back from the microphone.
    public var voiceHold: Duration = .milliseconds(600)
    /// How long a view may take to connect before it gives way to others where places are scarce.
    public var connectingGrace: Duration = .seconds(10)
    /// The intervals of connectivity checks, and how long a viewer may take to connect.
    public var connectivity = ICETiming()
    /// The gateway's identifier, which the sessions' identifiers hold; nil as long as it is not known.
    public var gateway: @Sendable () -> String? = { nil }
    /// The clock by which leases end, and by which publishers may replace one another.
    public var now: @Sendable () -> Instant = { MonotonicClock.now }

    /// Describes the services.
    public init(identity: DTLSIdentity, limits: SessionLimits, addresses: [TransportAddress]) {
        self.identity = identity
        self.limits = limits
        self.addresses = addresses
    }
}
