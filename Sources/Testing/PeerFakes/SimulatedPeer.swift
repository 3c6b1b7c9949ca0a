import ICE
import NetworkSimulator
import PeerConnection
import RTP
import Transport

/// A peer connection on a simulated host. A subclass says what it does with what comes, and what it sends by itself.
open class SimulatedPeer: SimulatedEndpoint {
    public var connection: PeerConnection
    public var addresses: [TransportAddress]
    /// Whether the peer has gone silent: it neither receives nor sends anything.
    public var hasVanished = false
    /// What the connection has reported.
    public private(set) var events: [(at: Instant, event: PeerConnection.Event)] = []
    private var outbox: [[UInt8]] = []

    public init(_ configuration: PeerConnectionConfiguration, random: RandomSource, now: Instant) throws {
        connection = try PeerConnection(configuration: configuration, random: random, now: now)
        addresses = configuration.addresses.hosts
    }

    public var isConnected: Bool { connection.isConnected }

    /// When and why the connection failed.
    public var failure: (at: Instant, reason: PeerConnectionFailure)? {
        for case (let at, .failed(let reason)) in events { return (at, reason) }
        return nil
    }

    // MARK: What a subclass does

    /// Takes the plain text of an RTP packet, valid during the call.
    open func receiveRTP(_ packet: UnsafeRawBufferPointer, at now: Instant) {}

    /// Takes the plain text of a compound RTCP packet, valid during the call.
    open func receiveRTCP(_ packet: UnsafeRawBufferPointer, at now: Instant) {}

    /// Takes the plain text of a packet of data channels, valid during the call.
    open func receiveData(_ packet: UnsafeRawBufferPointer, at now: Instant) {}

    /// When the peer has something to do by itself.
    open var ownDeadline: Instant? { nil }

    /// Does what is due. Called after each turn, with what the turn has reported.
    open func work(_ events: [PeerConnection.Event], at now: Instant) {}

    // MARK: The endpoint

    open func receive(_ datagram: SimulatedDatagram) {
        guard !hasVanished else { return }
        var bytes = datagram.bytes
        bytes.withUnsafeMutableBytes {
            receive($0, from: datagram.source, to: datagram.destination, at: datagram.arrival)
        }
    }

    /// Takes a datagram, which is decrypted in place.
    public func receive(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, to destination: TransportAddress,
        at now: Instant
    ) {
        switch connection.handle(datagram, from: source, to: destination, at: now) {
        case .nothing: break
        case .data(let range): receiveData(UnsafeRawBufferPointer(rebasing: datagram[range]), at: now)
        case .rtp(let count): receiveRTP(UnsafeRawBufferPointer(rebasing: datagram[..<count]), at: now)
        case .rtcp(let count): receiveRTCP(UnsafeRawBufferPointer(rebasing: datagram[..<count]), at: now)
        }
        takeTurn(at: now)
    }

    public var nextDeadline: Instant? {
        hasVanished ? nil : [connection.nextDeadline, ownDeadline].compactMap { $0 }.min()
    }

    public func handleDeadline(at now: Instant) {
        connection.handleDeadline(at: now)
        takeTurn(at: now)
    }

    open func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)? {
        guard !hasVanished else { return nil }
        if let transmit = connection.pollTransmit(into: buffer, at: now) { return (transmit, addresses[0]) }
        guard let destination = connection.remoteAddress, !outbox.isEmpty else { return nil }
        let bytes = outbox.removeFirst()
        buffer.copyBytes(from: bytes)
        return (Transmit(destination: destination, byteCount: bytes.count), addresses[0])
    }

    /// Takes the connection's events, then does what is due.
    public func takeTurn(at now: Instant) {
        var reported: [PeerConnection.Event] = []
        while let event = connection.pollEvent() { reported.append(event) }
        events += reported.map { (now, $0) }
        work(reported, at: now)
    }

    // MARK: Sending

    /// Sends a compound RTCP packet.
    public func send(_ write: (inout ByteWriter) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 1500)
        let count = buffer.withUnsafeMutableBytes { bytes -> Int in
            var writer = ByteWriter(UnsafeMutableRawBufferPointer(rebasing: bytes[..<1400]))
            write(&writer)
            return connection.protectRTCP(bytes, byteCount: writer.count)
        }
        if count > 0 { outbox.append(Array(buffer[..<count])) }
    }

    /// Sends an RTP packet. `writeHeader` writes its header and returns the length.
    public func send(_ payload: [UInt8], index: UInt64, writeHeader: (UnsafeMutableRawBufferPointer) -> Int) {
        var buffer = [UInt8](repeating: 0, count: 1500)
        let count = buffer.withUnsafeMutableBytes { bytes -> Int in
            let header = writeHeader(bytes)
            return payload.withUnsafeBytes {
                connection.protectRTP(headerLength: header, payload: $0, output: bytes, index: index)
            }
        }
        if count > 0 { outbox.append(Array(buffer[..<count])) }
    }

    /// Sends a packet of data channels.
    public func sendData(_ packet: [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 1500)
        let count = buffer.withUnsafeMutableBytes { bytes in
            packet.withUnsafeBytes { connection.protectData($0, into: bytes) }
        }
        if count > 0 { outbox.append(Array(buffer[..<count])) }
    }

    /// Sends bytes as they are.
    public func sendRaw(_ bytes: [UInt8]) { outbox.append(bytes) }
}
