/// The channels of one association (RFC 8831, RFC 8832). It does no I/O: it takes messages and resets of streams, and returns
/// what has to be sent and what has happened.
///
/// A deviation from RFC 8832, section 6: a peer may open a channel on any stream, not only on those of its side, as some peers
/// do. This side answers on the same stream and opens none by itself, unless ``open(_:asDTLSClient:)`` is called.
public struct DataChannelTable: Sendable {
    /// What has to be done, in this order.
    public enum Step: Equatable, Sendable {
        /// Send a message.
        case send(SCTPMessage)
        /// Reset the stream that this side sends on.
        case reset(stream: UInt16)
        /// A channel is open, in both directions.
        case opened(stream: UInt16, DataChannelParameters)
        /// A text has come.
        case text(stream: UInt16, [UInt8])
        /// Bytes have come.
        case binary(stream: UInt16, [UInt8])
        /// A channel has been closed by the peer.
        case closed(stream: UInt16)
    }

    /// What the payload of a message is (RFC 8831, section 8).
    enum Payload {
        static let control: UInt32 = 50
        static let text: UInt32 = 51
        static let binary: UInt32 = 53
        static let emptyText: UInt32 = 56
        static let emptyBinary: UInt32 = 57
    }

    private struct Channel {
        var parameters: DataChannelParameters
        /// Whether the peer knows of it: it has opened it, has acknowledged it, or has sent a message on it.
        var isOpen: Bool
    }

    /// How many channels may be open at once.
    public static let maximumChannels = 16
    /// The longest label and protocol name together, in bytes.
    public static let longestNames = 1024

    private let streams: UInt16
    private var channels: [UInt16: Channel] = [:]
    /// Messages of streams without a channel, and messages that could not be understood.
    public private(set) var refusals: UInt64 = 0

    /// No channels yet.
    /// - Parameter streams: how many streams the association has in each direction.
    public init(streams: UInt16 = SCTPEndpoint.Limits().streams) {
        self.streams = streams
    }

    /// The streams of the open channels, in order.
    public var openStreams: [UInt16] { channels.filter(\.value.isOpen).keys.sorted() }

    /// Opens a channel.
    /// - Parameter isDTLSClient: whether this side is the DTLS client, which opens channels on even streams (RFC 8832,
    ///   section 6).
    /// - Returns: the stream, and what has to be done; nil if there is no room.
    public mutating func open(
        _ parameters: DataChannelParameters, asDTLSClient isDTLSClient: Bool
    ) -> (stream: UInt16, steps: [Step])? {
        guard channels.count < Self.maximumChannels,
            let stream = stride(from: isDTLSClient ? 0 : 1, to: streams, by: 2).first(where: { channels[$0] == nil })
        else { return nil }
        channels[stream] = Channel(parameters: parameters, isOpen: false)
        return (stream, [.send(Self.control(stream, .open(parameters)))])
    }

    /// The message that carries a text on a channel; nil if the channel is not open.
    public func message(text: [UInt8], stream: UInt16) -> SCTPMessage? {
        guard let channel = channels[stream] else { return nil }
        // SCTP has no empty messages (RFC 8831, section 6.6).
        return SCTPMessage(
            stream: stream, protocolIdentifier: text.isEmpty ? Payload.emptyText : Payload.text,
            // Nothing may overtake the message that opens the channel (RFC 8832, section 6).
            isOrdered: channel.parameters.isOrdered || !channel.isOpen, reliability: channel.parameters.reliability,
            payload: text.isEmpty ? [0] : text)
    }

    /// Handles a message.
    public mutating func handle(_ payload: [UInt8], stream: UInt16, protocolIdentifier: UInt32) -> [Step] {
        if protocolIdentifier == Payload.control { return handleControl(payload, stream: stream) }
        guard let channel = channels[stream] else {
            refusals &+= 1
            return []
        }
        var steps: [Step] = []
        if !channel.isOpen { steps.append(markOpen(stream, channel)) }
        switch protocolIdentifier {
        case Payload.text: steps.append(.text(stream: stream, payload))
        case Payload.emptyText: steps.append(.text(stream: stream, []))
        case Payload.binary: steps.append(.binary(stream: stream, payload))
        case Payload.emptyBinary: steps.append(.binary(stream: stream, []))
        default: refusals &+= 1
        }
        return steps
    }

    private mutating func handleControl(_ payload: [UInt8], stream: UInt16) -> [Step] {
        switch payload.withUnsafeBytes({ DataChannelMessage($0) }) {
        case .open(let parameters):
            let names = parameters.label.utf8.count + parameters.protocolName.utf8.count
            guard stream < streams, channels[stream] == nil, channels.count < Self.maximumChannels,
                names <= Self.longestNames
            else {
                // Whatever was on the stream is no longer sure to be what the peer thinks it is.
                refusals &+= 1
                let wasOpen = channels.removeValue(forKey: stream)?.isOpen == true
                return (wasOpen ? [.closed(stream: stream)] : []) + (stream < streams ? [.reset(stream: stream)] : [])
            }
            channels[stream] = Channel(parameters: parameters, isOpen: true)
            return [
                .send(Self.control(stream, .acknowledgement)), .opened(stream: stream, parameters),
            ]
        case .acknowledgement:
            guard let channel = channels[stream], !channel.isOpen else { return [] }
            return [markOpen(stream, channel)]
        case nil:
            refusals &+= 1
            return []
        }
    }

    private mutating func markOpen(_ stream: UInt16, _ channel: Channel) -> Step {
        channels[stream]?.isOpen = true
        return .opened(stream: stream, channel.parameters)
    }

    /// Handles a reset of the peer's streams, which closes their channels (RFC 8831, section 6.7).
    /// - Parameter streams: the streams; none means all.
    public mutating func handleReset(_ streams: [UInt16]) -> [Step] {
        let affected = streams.isEmpty ? channels.keys.sorted() : streams
        return affected.flatMap { stream -> [Step] in
            guard channels.removeValue(forKey: stream) != nil else { return [] }
            return [.closed(stream: stream), .reset(stream: stream)]
        }
    }

    /// Closes a channel.
    public mutating func close(_ stream: UInt16) -> [Step] {
        channels.removeValue(forKey: stream) == nil ? [] : [.reset(stream: stream)]
    }

    private static func control(_ stream: UInt16, _ message: DataChannelMessage) -> SCTPMessage {
        SCTPMessage(stream: stream, protocolIdentifier: Payload.control, payload: message.bytes)
    }
}
