import Transport

/// What an RTMP client wants.
public enum RTMPServerEvent: Hashable, Sendable {
    /// It asks to publish. Nothing more is read before ``RTMPServerSession/accept(_:)`` or
    /// ``RTMPServerSession/refuse(_:saying:)``.
    case publish(RTMPPublishRequest)
    /// It has stopped publishing. It may ask again.
    case unpublished
    /// It asked for a stream, which it was refused. Nothing more is read.
    case askedToPlay
}

/// The server's side of RTMP for clients that publish (Adobe RTMP Specification 1.0, Enhanced RTMP 2). It does no I/O: the
/// caller moves the bytes in and out, and decides who may publish.
///
/// A client that has not been accepted can make it hold some hundred kilobytes at most, and a publisher some megabytes.
public struct RTMPServerSession: Sendable {
    enum Stage: Equatable {
        /// Waits for C0 and C1.
        case greeting
        /// Waits for C2.
        case acknowledgement
        /// Waits for `connect`.
        case connecting
        /// Waits for `publish`.
        case idle
        /// The caller decides about a publisher.
        case asking
        /// Receives media.
        case publishing
        /// Nothing more is read.
        case over
    }

    private(set) var stage = Stage.greeting
    private var random: RandomSource
    private var greeting: [UInt8] = []
    private var chunks = RTMPChunkReader()
    private var tags = FLVTags()
    var writer = RTMPMessageWriter()
    private var events: [RTMPServerEvent] = []
    private var received: UInt32 = 0
    /// What has come since the client published last.
    private var unpublished = 0
    private var acknowledged: UInt32 = 0
    private var window = RTMPServerSession.usualWindow
    /// What `connect` said.
    var application = ""
    var program = ""
    /// The message stream that is published.
    var publishedStream: UInt32 = 0

    private static let handshakeLength = 1536
    /// The longest message of a client that may not publish yet: commands have some hundred bytes.
    static let longestCommand = 1 << 16
    /// How much a client may send while it does not publish: the handshake, commands, and what comes behind `publish` before
    /// that is answered. Without a bound, chunks of no use could occupy the server, whose limits only count connections.
    static let maximumUnpublished = 1 << 18
    /// How many bytes are on their way at most before they are acknowledged.
    static let usualWindow: UInt32 = 2_500_000

    /// A session that waits for its client.
    /// - Parameter random: makes the bytes of the handshake.
    public init(random: RandomSource) {
        self.random = random
        chunks.maximumLength = Self.longestCommand
    }

    /// The tracks of the publisher that have been found so far.
    public var tracks: [StreamTrack] { tags.list.tracks }
    /// What the publisher sends besides the tracks.
    public var leftOut: [UnsupportedPart] { tags.list.leftOut }
    /// Whether the publisher has announced tracks that are not described yet.
    public var awaitsTracks: Bool { tags.awaitsTracks }
    /// Whether the handshake has been completed.
    public var hasShakenHands: Bool { stage != .greeting && stage != .acknowledgement }
    /// Whether bytes are to be read: not while the caller decides, and not at the end.
    public var wantsInput: Bool { stage != .asking && stage != .over }
    /// Whether nothing more is read. What is written already still has to go out.
    public var isOver: Bool { stage == .over }

    /// Takes what has to be sent.
    public mutating func takeOutput() -> [UInt8] { writer.take() }

    /// The next thing that the client wants; nil where there is none.
    public mutating func pollEvent() -> RTMPServerEvent? { events.isEmpty ? nil : events.removeFirst() }

    /// Whether the driver has taken all events. A debug build traps if it hands in more before that. What has to
    /// be sent may wait: a connection may accept a part of it.
    public var isDrained: Bool { events.isEmpty }

    /// Handles bytes of the client, and passes each unit of a publisher that they complete to `body`.
    /// - Throws: when the connection cannot go on. The units and events before that have been passed on.
    public mutating func handle(
        _ bytes: UnsafeRawBufferPointer, _ body: (StreamUnit) -> Void
    ) throws(RTMPServerError) {
        guard stage != .over else { return }
        expectDrained(isDrained)
        received &+= UInt32(truncatingIfNeeded: bytes.count)
        if stage != .publishing {
            unpublished += bytes.count
            guard unpublished <= Self.maximumUnpublished else { throw .tooEager }
        }
        var rest = bytes
        while !hasShakenHands, !rest.isEmpty { rest = try shakeHands(rest) }
        guard hasShakenHands else { return }
        chunks.append(rest)
        try takeMessages(body)
        if received &- acknowledged >= max(window, 4096) / 2 {
            acknowledged = received
            writer.control(3, received)
        }
    }

    /// Lets the client publish, and takes what it has sent meanwhile.
    public mutating func accept(_ body: (StreamUnit) -> Void) throws(RTMPServerError) {
        guard stage == .asking else { return }
        stage = .publishing
        unpublished = 0
        tags = FLVTags()
        chunks.maximumLength = StreamUnit.maximumLength
        answerPublish()
        try takeMessages(body)
    }

    /// Ends the session: the client may not publish, or no longer. It gets the reason and what to do.
    public mutating func refuse(_ refusal: RTMPRefusal, saying words: String) {
        guard stage != .over else { return }
        if hasShakenHands {
            status(refusal.rawValue, isError: true, saying: words, on: publishedStream)
        }
        stage = .over
    }

    // MARK: Handshake

    /// Takes a part of the handshake (section 5.2), and returns what follows it. Servers whose S1 says no version get no
    /// digest from clients that would send one, so the plain kind is the answer to both.
    private mutating func shakeHands(
        _ bytes: UnsafeRawBufferPointer
    ) throws(RTMPServerError) -> UnsafeRawBufferPointer {
        let length = stage == .greeting ? 1 + Self.handshakeLength : Self.handshakeLength
        let count = min(length - greeting.count, bytes.count)
        greeting.append(contentsOf: bytes[..<count])
        if stage == .greeting, let version = greeting.first, version != 3 { throw .notRTMP(firstByte: version) }
        if greeting.count == length {
            if stage == .greeting {
                // S0, S1 and S2, which repeats C1.
                var answer = [3] + [UInt8](repeating: 0, count: 8)
                while answer.count < length { answer.append(UInt8(truncatingIfNeeded: random.next())) }
                writer.write(answer + greeting[1...])
                stage = .acknowledgement
            } else {
                stage = .connecting
            }
            greeting = []
        }
        return UnsafeRawBufferPointer(rebasing: bytes[count...])
    }

    // MARK: Messages

    private mutating func takeMessages(_ body: (StreamUnit) -> Void) throws(RTMPServerError) {
        var allowance = UnitAllowance()
        while wantsInput, let message = try nextMessage() {
            switch message.type {
            case 4: writer.answerPing(message.bytes)
            case 5 where message.bytes.count >= 4:
                window = message.bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
            case 20: try take(AMF0Reader.values(of: message.bytes), on: message.stream)
            // AMF3, whose commands begin with a byte that says that AMF0 follows.
            case 17: try take(AMF0Reader.values(of: Array(message.bytes.dropFirst())), on: message.stream)
            case 15: takeMedia(message, skipping: 1, within: &allowance, body)
            default: takeMedia(message, within: &allowance, body)
            }
            guard !allowance.isExceeded else { throw .format(.tooLong(.messageContent)) }
            guard !writer.isFull else { throw .unreadAnswers }
        }
    }

    private mutating func nextMessage() throws(RTMPServerError) -> RTMPChunkReader.Message? {
        do throws(StreamFormatError) {
            return try chunks.next()
        } catch {
            throw .format(error)
        }
    }

    /// Media of somebody who does not publish has no effect.
    private mutating func takeMedia(
        _ message: RTMPChunkReader.Message, skipping count: Int = 0, within allowance: inout UnitAllowance,
        _ body: (StreamUnit) -> Void
    ) {
        guard stage == .publishing else { return }
        var message = message
        if count > 0 {
            message.bytes.removeFirst(min(count, message.bytes.count))
            message.type = FLVTags.Kind.data.rawValue
        }
        allowance.add(input: message.bytes.count)
        tags.take(message, within: &allowance, body)
    }

    // MARK: What commands change

    func requireStage(_ wanted: Stage, for command: String) throws(RTMPServerError) {
        guard stage == wanted else { throw .unexpected(command: Self.printable(command)) }
    }

    mutating func recordConnected() { stage = .idle }

    mutating func ask(to publish: RTMPPublishRequest) {
        stage = .asking
        events.append(.publish(publish))
    }

    /// The client has stopped publishing. Returns whether it did publish.
    mutating func stopPublishing() -> Bool {
        guard stage == .publishing else { return false }
        stage = .idle
        events.append(.unpublished)
        return true
    }

    mutating func recordAskedToPlay() {
        stage = .over
        events.append(.askedToPlay)
    }

    /// A text of the client as one line for the log and for an answer.
    static func printable(_ text: String) -> String {
        String(text.prefix(64).filter { $0.isASCII && $0 >= " " && $0 != "\u{7F}" })
    }
}
