import CUSRSCTP
import Synchronization

/// The way to one peer: a number that names it in this process.
public struct SCTPLine: Hashable, Sendable {
    let number: UInt

    private static let last = Atomic<UInt>(0)

    /// A new line.
    public init() {
        // The library takes it for an address in memory; these look like one that nobody uses.
        number = Self.last.add(16, ordering: .relaxed).newValue
    }

    init(number: UInt) { self.number = number }
}

/// An association: all streams between this side and one peer. Its endpoint gave it this number.
public struct SCTPAssociation: Hashable, Sendable {
    let number: UInt32
}

/// A message to send.
public struct SCTPMessage: Equatable, Sendable {
    /// How hard a message is tried (RFC 3758, RFC 7496).
    public enum Reliability: Equatable, Sendable {
        /// Until it has arrived.
        case reliable
        /// With at most this many retransmissions.
        case retransmissions(UInt32)
        /// For this many milliseconds.
        case milliseconds(UInt32)
    }

    /// The stream.
    public var stream: UInt16
    /// What the payload is: the payload protocol identifier (RFC 8831, section 8).
    public var protocolIdentifier: UInt32
    /// Whether it stays in order with the other messages of its stream.
    public var isOrdered: Bool
    /// How hard it is tried.
    public var reliability: Reliability
    /// The bytes. At least one: SCTP has no empty messages.
    public var payload: [UInt8]

    /// Describes a message.
    public init(
        stream: UInt16, protocolIdentifier: UInt32, isOrdered: Bool = true, reliability: Reliability = .reliable,
        payload: [UInt8]
    ) {
        self.stream = stream
        self.protocolIdentifier = protocolIdentifier
        self.isOrdered = isOrdered
        self.reliability = reliability
        self.payload = payload
    }
}

/// What an endpoint reports.
public enum SCTPEvent: Equatable, Sendable {
    /// An association has begun.
    case began(SCTPLine, SCTPAssociation)
    /// The peer has begun the association again: all of its streams are new.
    case restarted(SCTPAssociation)
    /// A message has come.
    case message(SCTPLine, SCTPAssociation, stream: UInt16, protocolIdentifier: UInt32, payload: [UInt8])
    /// A message has come that is longer than the limit. This is its beginning; end the association.
    case oversized(SCTPAssociation)
    /// The peer has reset streams that it sends on; none means all of them.
    case reset(SCTPAssociation, streams: [UInt16])
    /// An association has ended, by the peer or because it no longer answers.
    case ended(SCTPAssociation)

    /// Nil for an event that is of no interest.
    init?(_ event: gatehouse_sctp_event, _ memory: UnsafeRawBufferPointer) {
        let association = SCTPAssociation(number: event.association)
        let bytes = UnsafeRawBufferPointer(rebasing: memory[..<min(event.length, memory.count)])
        switch UInt32(bitPattern: event.kind) {
        case GATEHOUSE_SCTP_UP.rawValue: self = .began(SCTPLine(number: event.line), association)
        case GATEHOUSE_SCTP_RESTARTED.rawValue: self = .restarted(association)
        case GATEHOUSE_SCTP_DOWN.rawValue: self = .ended(association)
        case GATEHOUSE_SCTP_RESET.rawValue:
            self = .reset(
                association,
                streams: stride(from: 0, to: bytes.count & ~1, by: 2).map {
                    bytes.loadUnaligned(fromByteOffset: $0, as: UInt16.self)
                })
        case GATEHOUSE_SCTP_MESSAGE.rawValue where event.is_complete != 0:
            self = .message(
                SCTPLine(number: event.line), association, stream: event.stream,
                protocolIdentifier: event.`protocol`, payload: Array(bytes))
        case GATEHOUSE_SCTP_MESSAGE.rawValue: self = .oversized(association)
        default: return nil
        }
    }
}

/// Why an endpoint did not do what it was asked for.
public enum SCTPError: Error, Hashable, Sendable {
    /// The port cannot be opened; with the library's reason.
    case portUnavailable(UInt16, errno: Int32)
    /// The association's buffer is full: the peer takes what it is sent too slowly.
    case bufferFull
    /// A reset of a stream is under way; another one has to wait.
    case resetPending
    /// The library refused; with its reason.
    case refused(errno: Int32)
}

extension SCTPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .portUnavailable(let port, let number): "SCTP port \(port) cannot be opened (error \(number))"
        case .bufferFull: "the peer takes what it is sent too slowly"
        case .resetPending: "a stream is being reset already"
        case .refused(let number): "SCTP refused it (error \(number))"
        }
    }
}
