import DatagramPort
import Glibc
import Testing
import Transport

/// How a TCP connection ends, and what becomes of the bytes that the kernel still holds.
@Suite(.timeLimit(.minutes(10))) struct TCPSocketEndingTests {
    private struct NotAccepted: Error {}

    private static let loopback = TransportAddress(ipv4: 0x7F00_0001, port: 0)

    /// Whether a descriptor becomes readable in time.
    private static func isReadable(_ descriptor: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 120_000) == 1
    }

    /// Accepts a connection, sends until the kernel takes no more, and ends the connection.
    /// - Returns: how many bytes the kernel has taken.
    private static func serve(_ listener: TCPListener, resets: Bool) throws -> Int {
        guard isReadable(listener.descriptor) else { throw NotAccepted() }
        guard case .connection(let socket, _, _) = listener.accept(patience: nil, unsent: 4096, sendBuffer: nil) else {
            throw NotAccepted()
        }
        let chunk = [UInt8](repeating: 7, count: 65_536)
        let heldBefore = socket.hasUnsentBytes
        var held = false
        var taken = 0
        // The other side reads nothing meanwhile, so its window closes.
        for _ in 0..<1_000_000 {
            if case .bytes(let count) = chunk.withUnsafeBytes({ socket.send($0) }) {
                taken += count
            } else {
                held = socket.hasUnsentBytes
                if held { break }
            }
        }
        #expect(!heldBefore && held)
        if resets { socket.resetAtEnd() }
        return taken
    }

    @Test(arguments: [true, false])
    func `the kernel sends what it still holds unless the connection ends with a reset`(_ resets: Bool) throws {
        let listener = try TCPListener(on: Self.loopback, backlog: 1)
        let address = try #require(listener.localAddress)
        let client = try TCPSocket.connect(to: address, patience: .seconds(600), unsent: 4096, sendBuffer: 4096)
        let taken = try Self.serve(listener, resets: resets)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var received = 0
        var end: TCPSocket.Outcome?
        for _ in 0..<1_000_000 where end == nil {
            guard Self.isReadable(client.descriptor) else { break }
            let outcome = buffer.withUnsafeMutableBytes { client.receive(into: $0) }
            switch outcome {
            case .bytes(let count): received += count
            case .wouldBlock: continue
            case .closed, .failed: end = outcome
            }
        }
        let expected = resets ? TCPSocket.Outcome.failed(ECONNRESET) : .closed
        #expect(end == expected)
        #expect(resets ? received < taken : received == taken)
    }

    private static func keepsAlive(_ socket: borrowing TCPSocket) -> Bool {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(socket.descriptor, SOL_SOCKET, SO_KEEPALIVE, &value, &length) == 0 && value != 0
    }

    @Test func `a silent peer is asked whether it is still there only where that is wanted`() throws {
        let listener = try TCPListener(on: Self.loopback)
        let address = try #require(listener.localAddress)
        let client = try TCPSocket.connect(to: address, patience: .seconds(600), unsent: 4096, sendBuffer: 4096)
        let before = Self.keepsAlive(client)
        client.enableKeepAlive()
        let after = Self.keepsAlive(client)
        #expect(!before && after)
    }
}
