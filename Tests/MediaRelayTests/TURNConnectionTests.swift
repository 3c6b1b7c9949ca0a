import DatagramPort
import Glibc
import TLSFakes
import TURN
import Testing
import Transport

@testable import MediaRelay

/// The connection to a TURN server, over loopback, with servers that read little or nothing.
@Suite(.timeLimit(.minutes(10))) struct TURNConnectionTests {
    /// The server's end. The kernel holds little for it, as on a narrow line.
    private final class Server {
        private let listener: TCPListener
        let address: TransportAddress
        private(set) var descriptor: Int32 = -1

        init() throws {
            let listener = try TCPListener(on: TransportAddress(ipv4: 0x7F00_0001, port: 0))
            self.listener = listener
            address = try #require(listener.localAddress)
            var size: Int32 = 16 << 10
            let status = setsockopt(
                listener.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            try #require(status == 0)
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        func take() throws {
            try awaitReadiness(POLLIN, of: listener.descriptor)
            descriptor = accept(listener.descriptor, nil, nil)
            try #require(descriptor >= 0)
        }

        /// The next bytes that have come, at most `count`. It waits for some.
        func read(_ count: Int) throws -> [UInt8] {
            try awaitReadiness(POLLIN, of: descriptor)
            return readNow(count)
        }

        /// What has come.
        func readNow(_ count: Int) -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: count)
            let got = recv(descriptor, &buffer, count, Int32(MSG_DONTWAIT))
            return Array(buffer.prefix(max(0, got)))
        }

        func write(_ bytes: [UInt8]) {
            guard !bytes.isEmpty else { return }
            let sent = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            #expect(sent == bytes.count)
        }
    }

    /// More than the kernel takes at once, so that some of it always waits.
    private static let waiting = 192 << 10

    private static func connect(
        to server: Server, _ transport: TURNServer.Transport = .tcp
    ) throws -> TURNConnection {
        let connection = try TURNConnection(
            to: TURNServer(address: server.address, transport: transport, username: "gatehouse", password: "secret"))
        try server.take()
        try awaitReadiness(POLLOUT, of: connection.descriptor)
        try connection.advance { _ in }
        return connection
    }

    /// On such a line something always waits: media is held back only above a limit.
    @Test func `a line that is narrower than the stream fills no memory`() throws {
        let server = try Server()
        let connection = try Self.connect(to: server)
        try #require(connection.isOpen)
        let message = [UInt8](repeating: 7, count: 1_200)
        var (sent, read, most) = (0, 0, 0)
        for _ in 0..<20_000 where read < 4 << 20 {
            // Until the kernel takes no more, and from then on as much as the server has read.
            while connection.bytesWaiting < Self.waiting {
                try message.withUnsafeBytes { try connection.send($0) }
                sent += message.count
                try connection.flush()
            }
            // The kernel may have room again, although as much as may wait still does.
            try connection.flush()
            most = max(most, connection.bytesHeld)
            let piece = try server.read(8 << 10)
            read += piece.count
        }
        #expect(read >= 4 << 20)
        #expect(connection.bytesTaken + connection.bytesWaiting == sent)
        #expect(most < 3 * Self.waiting)
    }

    @Test func `what waits leaves in its order`() throws {
        let server = try Server()
        let connection = try Self.connect(to: server)
        var (next, expected): (UInt32, UInt32) = (0, 0)
        var came: [UInt8] = []
        for _ in 0..<20_000 where expected < 300_000 {
            while connection.bytesWaiting < Self.waiting {
                // The numbers of one message follow those of the one before.
                let numbers = (next..<next + 300).map(\.bigEndian)
                next += 300
                try numbers.withUnsafeBytes { try connection.send($0) }
                try connection.flush()
            }
            try connection.flush()
            let piece = try server.read(64 << 10)
            came += piece
            let whole = came.count / 4
            let isInOrder = came.withUnsafeBytes { bytes in
                (0..<whole).allSatisfy {
                    UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self))
                        == expected + UInt32($0)
                }
            }
            try #require(isInOrder)
            expected += UInt32(whole)
            came.removeFirst(4 * whole)
        }
        #expect(expected >= 300_000)
    }

    @Test func `messages to a server that reads nothing are lost and fill no memory`() throws {
        let server = try Server()
        let connection = try Self.connect(to: server)
        try fill(connection)
        #expect(connection.bytesHeld <= 512 << 10)
    }

    /// Each request for new keys is answered (RFC 8446, section 4.6.3).
    @Test func `a server that asks for new keys without end and reads nothing is left alone`() throws {
        let server = try Server()
        let tls = try FakeTLSServer(names: "DNS:turn.example")
        let connection = try Self.connect(to: server, .tls(name: "turn.example", authorities: tls.certificateFile))
        for _ in 0..<1_000 where !connection.isOpen { try exchange(connection, server, tls) }
        try #require(connection.isOpen)
        let end = try server.read(64 << 10)
        _ = tls.receive(end)
        let isAsked = tls.requestKeyUpdate()
        try #require(isAsked)
        // Media is waiting, as much as may.
        try fill(connection)
        var failure: TURNFailure?
        for _ in 0..<80 where failure == nil {
            let asked = (0..<100).filter { _ in tls.requestKeyUpdate() }
            try #require(asked.count == 100)
            server.write(tls.takeOutput())
            try awaitReadiness(POLLIN, of: connection.descriptor)
            do throws(TURNFailure) {
                try connection.advance { _ in }
            } catch {
                failure = error
            }
        }
        #expect(failure == .contradictory)
        #expect(connection.bytesHeld < 640 << 10)
    }

    /// Sends until messages find no room.
    private func fill(_ connection: TURNConnection) throws {
        let message = [UInt8](repeating: 7, count: 1_600)
        for _ in 0..<3_000 {
            try message.withUnsafeBytes { try connection.send($0) }
            try connection.flush()
        }
        try #require(connection.bytesWaiting > 240 << 10)
    }

    /// Lets each side take what the other has said.
    private func exchange(_ connection: TURNConnection, _ server: Server, _ tls: FakeTLSServer) throws {
        let events = connection.wantsToWrite ? POLLIN | POLLOUT : POLLIN
        var entries = [
            pollfd(fd: connection.descriptor, events: Int16(events), revents: 0),
            pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let ready = poll(&entries, 2, 60_000)
        try #require(ready > 0)
        _ = tls.receive(server.readNow(64 << 10))
        server.write(tls.takeOutput())
        try connection.advance { _ in }
    }
}

/// Waits until a descriptor is ready, at most a minute.
private func awaitReadiness(_ events: Int32, of descriptor: Int32) throws {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    let ready = poll(&entry, 1, 60_000)
    try #require(ready == 1)
}
