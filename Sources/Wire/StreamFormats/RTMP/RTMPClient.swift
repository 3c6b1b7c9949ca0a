import Transport

/// The client's side of RTMP, playing one live stream (Adobe RTMP Specification 1.0). It does no I/O: the caller moves the
/// bytes in and out.
public struct RTMPClient: Sendable {
    private enum State {
        /// Waits for S0, S1 and S2.
        case handshake
        /// Waits for the answer to `connect`.
        case connecting
        /// Waits for the answer to `createStream`.
        case creatingStream
        /// Waits for media, and receives it.
        case playing
    }

    private let address: RTMPAddress
    private var state = State.handshake
    private var greeting: [UInt8] = []
    private var chunks = RTMPChunkReader()
    private var tags = FLVTags()
    private var writer = RTMPMessageWriter()
    private var received: UInt32 = 0
    private var acknowledged: UInt32 = 0
    private var window: UInt32 = 2_500_000

    private static let handshakeLength = 1536

    /// A client that begins its handshake with random bytes.
    public init(_ address: RTMPAddress, random: inout RandomSource) {
        self.address = address
        // C0 is the version; C1 is a time, four zeros and random bytes.
        var greeting = [3] + [UInt8](repeating: 0, count: 8)
        while greeting.count < 1 + Self.handshakeLength {
            greeting.append(UInt8(truncatingIfNeeded: random.next()))
        }
        writer.write(greeting)
    }

    /// The tracks that have been found so far.
    public var tracks: [StreamTrack] { tags.list.tracks }
    /// What the stream has besides the tracks.
    public var leftOut: [UnsupportedPart] { tags.list.leftOut }
    /// Whether tracks have been announced that are not described yet.
    public var awaitsTracks: Bool { tags.awaitsTracks }
    /// Whether the server has agreed to play.
    public var isPlaying: Bool { state == .playing }

    /// Takes what has to be sent.
    public mutating func takeOutput() -> [UInt8] { writer.take() }

    /// Handles bytes of the server, and passes each unit that they complete to `body`.
    public mutating func handle(
        _ bytes: UnsafeRawBufferPointer, _ body: (StreamUnit) -> Void
    ) throws(StreamFormatError) {
        received &+= UInt32(truncatingIfNeeded: bytes.count)
        var rest = bytes
        if state == .handshake {
            let length = 1 + 2 * Self.handshakeLength
            let count = min(length - greeting.count, rest.count)
            greeting.append(contentsOf: rest[..<count])
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            guard greeting.first == 3 else { throw .notOfFormat(.rtmp) }
            guard greeting.count == length else { return }
            // C2 repeats S1.
            writer.write(greeting[1...Self.handshakeLength])
            greeting = []
            state = .connecting
            connect()
        }
        chunks.append(rest)
        var allowance = UnitAllowance()
        while let message = try chunks.next() {
            allowance.add(input: message.bytes.count)
            try take(message, within: &allowance, body)
            guard !allowance.isExceeded else { throw .tooLong(.messageContent) }
        }
        if received &- acknowledged >= window / 2 {
            acknowledged = received
            writer.control(3, received)
        }
    }

    // MARK: Messages

    private mutating func take(
        _ message: RTMPChunkReader.Message, within allowance: inout UnitAllowance, _ body: (StreamUnit) -> Void
    ) throws(StreamFormatError) {
        switch message.type {
        case 4: writer.answerPing(message.bytes)
        case 5 where message.bytes.count >= 4:
            window = message.bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
        case 20: try takeCommand(message.bytes)
        default: tags.take(message, within: &allowance, body)
        }
    }

    private mutating func takeCommand(_ bytes: [UInt8]) throws(StreamFormatError) {
        let values = AMF0Reader.values(of: bytes)
        guard case .string(let name)? = values.first else { return }
        let information = values.last { if case .object = $0 { true } else { false } }
        switch name {
        case "_error": throw .refused(Self.refusal(information))
        case "close": throw .refused(.closed)
        case "onStatus":
            let code = information?.text(of: "code") ?? ""
            if information?.text(of: "level") == "error" || code.hasSuffix("StreamNotFound") {
                throw .refused(Self.refusal(information))
            }
            if code.hasSuffix("UnpublishNotify") || code.hasSuffix("Play.Stop") {
                throw .refused(.unpublished)
            }
        case "_result":
            guard values.count > 1, case .number(let transaction) = values[1] else { return }
            if state == .connecting, transaction == 1 {
                state = .creatingStream
                // The server may keep what it sends until it is acknowledged: so much is on its way at most.
                writer.control(5, window)
                writer.command([.string("createStream"), .number(2), .null], stream: 0)
            } else if state == .creatingStream, transaction == 2, case .number(let stream)? = values.last,
                (0...65_535).contains(stream)
            {
                state = .playing
                // The stream is live only: -1000.
                writer.command(
                    [.string("play"), .number(0), .null, .string(address.stream), .number(-1000)],
                    stream: UInt32(stream))
            }
        default: break
        }
    }

    /// What a server says about a refusal, as one line.
    private static func refusal(_ information: AMF0Value?) -> StreamFormatError.Refusal {
        let text = information?.text(of: "description") ?? information?.text(of: "code") ?? ""
        let line = String(text.prefix(200).filter { $0.isASCII && !$0.isNewline && $0 >= " " })
        return line.isEmpty ? .withoutReason : .said(line)
    }

    // MARK: Output

    private mutating func connect() {
        let fields: [AMF0Value.Field] = [
            .init(name: "app", value: .string(address.application)),
            .init(name: "flashVer", value: .string("LNX 9,0,124,2")),
            .init(name: "tcUrl", value: .string(address.serverURL)), .init(name: "fpad", value: .boolean(false)),
            .init(name: "capabilities", value: .number(15)), .init(name: "audioCodecs", value: .number(4071)),
            .init(name: "videoCodecs", value: .number(252)), .init(name: "videoFunction", value: .number(1)),
        ]
        writer.command([.string("connect"), .number(1), .object(fields)], stream: 0)
    }
}
