import Glibc
import Synchronization
import Transport

/// A camera on the loopback interface that speaks bytes: a script answers each request with what goes over the wire,
/// and nothing of the client's own reading or writing is used.
final class CameraSimulator: Sendable {
    /// A request as it came.
    struct Request: Sendable, Equatable {
        /// The lines before the empty one.
        var head: String
        /// Counts the connections from 0.
        var connection: Int
        var method: String { String(head.prefix { $0 != " " }) }
        var uri: String { head.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

        /// The value of a header line; nil if there is none.
        func header(_ name: String) -> String? {
            for line in head.split(separator: "\r\n").dropFirst() where line.lowercased().hasPrefix(name + ":") {
                return String(line.dropFirst(name.count + 1).drop { $0 == " " })
            }
            return nil
        }
    }

    /// What the camera does next.
    enum Step: Sendable {
        /// Text, in which `$CSEQ`, `$UDP`, `$RTCP` and `$CLIENT` are the request's number, the camera's ports, and the
        /// client's ports.
        case text(String)
        case bytes([UInt8])
        /// One write for each byte.
        case drip([UInt8])
        /// A datagram to the RTP port of a track, in the order of their SETUP, from the camera's own port.
        case datagram([UInt8], track: Int)
        case controlDatagram([UInt8], track: Int)
        /// The same from another port of the camera's host.
        case datagramFromOtherPort([UInt8], track: Int)
        /// The same from another host.
        case datagramOfStranger([UInt8], track: Int)
        case close
        /// A reset instead of a polite end.
        case reset
    }

    enum Note: Sendable, Equatable {
        case request(Request)
        case datagram([UInt8])
        case controlDatagram([UInt8])
        case interleaved([UInt8])
        case closed
    }

    typealias Script = @Sendable (Request) -> [Step]

    let port: UInt16
    let notes: AsyncStream<Note>
    private let continuation: AsyncStream<Note>.Continuation
    private let script: Script
    private let isIPv6: Bool
    private let listener: Int32
    private let media: Int32
    private let control: Int32
    private let otherPort: Int32
    private let stranger: Int32
    private let ends: [Int32]

    struct NoSocket: Error {}

    init(isIPv6: Bool = false, _ script: @escaping Script) throws {
        self.script = script
        self.isIPv6 = isIPv6
        (notes, continuation) = AsyncStream.makeStream()
        listener = try Self.bound(SOCK_STREAM, isIPv6 ? nil : 0x7F00_0001)
        listen(listener, 8)
        port = Self.port(listener)
        media = try Self.bound(SOCK_DGRAM, isIPv6 ? nil : 0x7F00_0001)
        control = try Self.bound(SOCK_DGRAM, isIPv6 ? nil : 0x7F00_0001)
        otherPort = try Self.bound(SOCK_DGRAM, isIPv6 ? nil : 0x7F00_0001)
        stranger = try Self.bound(SOCK_DGRAM, 0x7F00_0002)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw NoSocket() }
        self.ends = ends
        let box = Unmanaged.passRetained(self)
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<CameraSimulator>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        pthread_detach(thread)
    }

    /// Ends the camera with everything that is connected to it.
    func stop() {
        var byte: UInt8 = 1
        _ = Glibc.write(ends[1], &byte, 1)
    }

    /// The first record that `accepts`; nil if the camera has ended before.
    func note(_ accepts: (Note) -> Bool) async -> Note? {
        for await note in notes where accepts(note) { return note }
        return nil
    }

    /// Whether this host has the loopback address of IPv6.
    static let hasIPv6: Bool = {
        guard let descriptor = try? bound(SOCK_DGRAM, nil) else { return false }
        close(descriptor)
        return true
    }()

    /// A socket at an address of IPv4, or at `::1`.
    private static func bound(_ type: __socket_type, _ host: UInt32?) throws -> Int32 {
        let family = host == nil ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let status = withAddress(host, port: 0) { bind(descriptor, $0, $1) }
        guard status == 0 else { throw NoSocket() }
        return descriptor
    }

    private static func withAddress<Result>(
        _ host: UInt32?, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        if let host {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = host.bigEndian
            address.sin_port = port.bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        address.sin6_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }

    private static func port(_ descriptor: Int32) -> UInt16 {
        // Both families keep the port in the same place.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return UInt16(bigEndian: address.sin6_port)
    }

    // MARK: The camera's thread

    private final class Connection {
        let descriptor: Int32
        let number: Int
        var bytes: [UInt8] = []
        var clientPorts: [UInt16] = []
        var isOver = false

        init(_ descriptor: Int32, _ number: Int) {
            self.descriptor = descriptor
            self.number = number
        }
    }

    private func run() {
        var connections: [Connection] = []
        var accepted = 0
        defer {
            for connection in connections { close(connection.descriptor) }
            for descriptor in [listener, media, control, otherPort, stranger] + ends { close(descriptor) }
            continuation.finish()
        }
        while true {
            var waiting = [ends[0], listener, media, control].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            waiting += connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            _ = poll(&waiting, nfds_t(waiting.count), -1)
            if waiting[0].revents != 0 { return }
            for (index, connection) in connections.enumerated() where waiting[4 + index].revents != 0 {
                read(connection)
            }
            for connection in connections where connection.isOver {
                close(connection.descriptor)
                continuation.yield(.closed)
            }
            connections.removeAll { $0.isOver }
            for (index, descriptor) in [media, control].enumerated() where waiting[2 + index].revents != 0 {
                var buffer = [UInt8](repeating: 0, count: 2048)
                let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { continue }
                let bytes = Array(buffer[..<count])
                continuation.yield(index == 0 ? .datagram(bytes) : .controlDatagram(bytes))
            }
            if waiting[1].revents != 0 {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { continue }
                var yes: Int32 = 1
                setsockopt(
                    descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
                connections.append(Connection(descriptor, accepted))
                accepted += 1
            }
        }
    }

    private func read(_ connection: Connection) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(connection.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            connection.isOver = true
            return
        }
        connection.bytes += buffer[..<count]
        while !connection.isOver, let first = connection.bytes.first {
            if first == 0x24 {
                guard connection.bytes.count >= 4 else { return }
                let end = 4 + Int(connection.bytes[2]) << 8 + Int(connection.bytes[3])
                guard connection.bytes.count >= end else { return }
                continuation.yield(.interleaved(Array(connection.bytes[..<end])))
                connection.bytes.removeFirst(end)
                continue
            }
            let text = String(decoding: connection.bytes, as: UTF8.self)
            guard let end = text.firstRange(of: "\r\n\r\n") else { return }
            let head = String(text[..<end.lowerBound])
            connection.bytes.removeFirst(head.utf8.count + 4)
            handle(Request(head: head, connection: connection.number), connection)
        }
    }

    private func handle(_ request: Request, _ connection: Connection) {
        continuation.yield(.request(request))
        if let transport = request.header("transport"), let ports = transport.firstRange(of: "client_port=") {
            connection.clientPorts.append(UInt16(transport[ports.upperBound...].prefix { $0.isNumber }) ?? 0)
        }
        for step in script(request) where !connection.isOver {
            switch step {
            case .text(let text):
                let client = connection.clientPorts.last ?? 0
                let filled = text.replacing("$CSEQ", with: request.header("cseq") ?? "0")
                    .replacing("$UDP", with: "\(Self.port(media))")
                    .replacing("$RTCP", with: "\(Self.port(control))")
                    .replacing("$CLIENT", with: "\(client)-\(client &+ 1)")
                write(Array(filled.utf8), to: connection)
            case .bytes(let bytes): write(bytes, to: connection)
            case .drip(let bytes): for byte in bytes { write([byte], to: connection) }
            case .datagram(let bytes, let track): send(bytes, media, connection, track, 0)
            case .controlDatagram(let bytes, let track): send(bytes, control, connection, track, 1)
            case .datagramFromOtherPort(let bytes, let track): send(bytes, otherPort, connection, track, 0)
            case .datagramOfStranger(let bytes, let track): send(bytes, stranger, connection, track, 0)
            case .close: connection.isOver = true
            case .reset:
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(
                    connection.descriptor, SOL_SOCKET, SO_LINGER, &linger,
                    socklen_t(MemoryLayout<Glibc.linger>.size))
                connection.isOver = true
            }
        }
    }

    private func write(_ bytes: [UInt8], to connection: Connection) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes[offset...].withUnsafeBytes {
                Glibc.send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            offset += count
        }
    }

    private func send(_ bytes: [UInt8], _ descriptor: Int32, _ connection: Connection, _ track: Int, _ offset: UInt16) {
        guard connection.clientPorts.indices.contains(track) else { return }
        let port = connection.clientPorts[track] &+ offset
        _ = Self.withAddress(isIPv6 ? nil : 0x7F00_0001, port: port) { address, length in
            sendto(descriptor, bytes, bytes.count, 0, address, length)
        }
    }
}

extension CameraSimulator {
    static let description = """
        v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=test\r\nt=0 0\r\na=control:*\r\n\
        m=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\na=control:video\r\n\
        m=audio 0 RTP/AVP 8\r\na=control:audio\r\n
        """

    /// The answers of a camera that does everything right, but for what `special` answers instead.
    static func answers(
        description: String = description,
        transport: String = "RTP/AVP;unicast;client_port=$CLIENT;server_port=$UDP-$RTCP",
        media: [Step] = [], special: @escaping Script = { _ in [] }
    ) -> Script {
        { request in
            let steps = special(request)
            guard steps.isEmpty else { return steps }
            switch request.method {
            case "DESCRIBE":
                return [
                    .text(
                        "RTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\nContent-Type: application/sdp\r\n"
                            + "Content-Length: \(description.utf8.count)\r\n\r\n\(description)")
                ]
            case "SETUP":
                let asked = request.header("transport") ?? ""
                let answer = asked.contains("interleaved") ? asked : transport
                return [
                    .text("RTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\nSession: 4711;timeout=60\r\nTransport: \(answer)\r\n\r\n")
                ]
            case "PLAY":
                return [.text("RTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\nSession: 4711\r\n\r\n")] + media
            default:
                return [.text("RTSP/1.0 200 OK\r\nCSeq: $CSEQ\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY\r\n\r\n")]
            }
        }
    }
}
