import Transport

/// The settings of a TURN client.
public struct TURNConfiguration: Sendable {
    /// The user name of the long-term credentials.
    public var username: String
    /// Their password.
    public var password: String
    /// Whether the server is reached over a stream (TCP, TLS). Then nothing is sent twice, and channels are padded.
    public var isStream = false
    /// The intervals.
    public var timing = TURNTiming()

    /// Describes a client.
    public init(username: String, password: String) {
        self.username = username
        self.password = password
    }
}

/// The intervals of a TURN client.
public struct TURNTiming: Sendable, BitwiseCopyable {
    /// How long a request waits for its answer before it is sent again; each further wait is twice as long
    /// (RFC 8489, section 6.2.1).
    public var initialRetransmission: Duration = .milliseconds(500)
    /// How often a request is sent. RFC 8489 proposes seven times, which takes 39.5 s. Five take 15.5 s: views that go through a
    /// dead server end after 30 s without consent (RFC 7675), and the next server should be found by then.
    public var maximumTransmissions = 5
    /// After how many transmissions of a refresh over UDP without an answer the server is taken to be silent: by
    /// default 3.5 s.
    public var silentTransmissions = 3
    /// How long a request over a stream waits for its answer.
    ///
    /// Deviation from RFC 8489, section 6.2.2, whose Ti is 39.5 s: the kernel of a server that hangs goes on
    /// acknowledging, so only this time shows it. Views that go through it end after 30 s without consent
    /// (RFC 7675), and the next server should be found by then, as it is over UDP (``maximumTransmissions``). A line
    /// that is slower than this carries no media.
    public var streamPatience: Duration = .seconds(15)
    /// How long a refresh over a stream is unanswered before the server is taken to be silent: as long as by default
    /// over UDP.
    public var streamSilence: Duration = .milliseconds(3_500)
    /// How often an allocation is refreshed, or sooner where its lifetime asks for that. RFC 8656 needs it only every nine
    /// minutes, but routers forget a path that is not used for half a minute, and a lost server should be noticed soon: viewers
    /// are offered its address all that time.
    public var allocationRefresh: Duration = .seconds(10)
    /// How long a permission is used before it is made again; it lasts five minutes (RFC 8656, section 9).
    public var permissionRefresh: Duration = .seconds(240)
    /// How long a channel is used before it is bound again; it lasts ten minutes (RFC 8656, section 12). A permission
    /// comes with it.
    public var channelRefresh: Duration = .seconds(240)
    /// How long no channel is asked for after the server has refused one.
    public var channelPause: Duration = .seconds(60)

    /// The intervals for ordinary use.
    public init() {}
}

/// The bounds that keep a server, or viewers that name many addresses, from growing a client.
enum TURNLimits {
    /// The most hosts that may send to the relayed address at a time.
    static let permissions = 256
    /// The most peers with a channel.
    static let channels = 256
    /// The most requests that wait for their answers, while new permissions and channels are asked for.
    static let requests = 64
    /// The most requests that wait for their answers, while permissions and channels are renewed. New ones leave them room: a
    /// viewer that names many hosts must not hold up the renewals of others.
    static let requestsWithRenewals = 128
    /// How often one request is repeated because the server has another nonce.
    static let nonces = 3
    /// The longest realm and nonce (RFC 8489, sections 14.9 and 14.10: fewer than 128 characters, 763 bytes).
    static let text = 763
    /// The shortest and the longest lifetime of an allocation in seconds that is believed.
    static let lifetime: ClosedRange<UInt32> = 30...86_400
    /// How many datagrams wait for permissions.
    static let held = 64
    /// The longest datagram that is relayed.
    static let datagram = 1600
}
