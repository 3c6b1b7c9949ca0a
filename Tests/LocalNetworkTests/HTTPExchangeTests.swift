import DatagramPort
import Dispatch
import Glibc
import HTTPMedia
import PortMapping
import Testing
import Transport

@testable import LocalNetwork

@Suite struct HTTPExchangeTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

    /// Runs a request against a server that sends pieces of an answer, and then closes unless it keeps silent.
    private func run(_ pieces: [String], closes: Bool = true, within limit: Duration = .seconds(600)) throws
        -> HTTPResponse?
    {
        let server = try OneAnswer(pieces, closes: closes)
        let request = RouterMessage(destination: server.address, bytes: Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        let response = HTTPExchange.run(request, within: limit)
        #expect(server.end() == request.bytes)
        return response
    }

    @Test(arguments: [
        [head + "whole"], [head, "wh", "ole"], ["HTTP/1.1 20", "0 OK\r\n\r\nwhole"],
        ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nwh\r\n", "3\r\nole\r\n0\r\n\r\n"],
    ])
    func anAnswerIsRead(pieces: [String]) throws {
        let response = try #require(try run(pieces))
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self) == "whole")
    }

    @Test func anAnswerIsReadFromAServerThatKeepsTheConnection() throws {
        #expect(try run([Self.head + "whole"], closes: false)?.status == 200)
    }

    @Test(arguments: [
        [], ["HTTP/1.1 200 OK\r\nContent-Le"], [head + "who"], ["SSH-2.0-dropbear\r\n\r\n"],
        ["HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"],
        ["HTTP/1.1 200 OK\r\n\r\n"] + Array(repeating: String(repeating: "x", count: 1 << 18), count: 6),
    ])
    func anAnswerThatBreaksOffOrCannotBeReadIsNone(pieces: [String]) throws {
        #expect(try run(pieces) == nil)
    }

    @Test(arguments: [[], [head + "who"]]) func aServerThatKeepsSilentIsNotWaitedForLongerThanTheLimit(pieces: [String])
        throws
    {
        #expect(try run(pieces, closes: false, within: .milliseconds(300)) == nil)
    }

    @Test func `a request leaves from the address that it names`() throws {
        let server = try OneAnswer([Self.head + "whole"], closes: true)
        // All of 127.0.0.0/8 is this host.
        let source = TransportAddress(ipv4: 0x7F00_0002, port: 0)
        let bytes = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        let request = RouterMessage(destination: server.address, bytes: bytes, source: source)
        let response = HTTPExchange.run(request, within: .seconds(600))
        #expect(response?.status == 200)
        #expect(server.end() == bytes)
        #expect(server.client?.hasSameHost(as: source) == true)
    }

    @Test func `a request from an address that this host does not have is not made`() throws {
        let server = try OneAnswer([Self.head + "whole"], closes: true)
        let source = TransportAddress(ipv4: 0xC000_0201, port: 0)
        let request = RouterMessage(destination: server.address, bytes: [1], source: source)
        #expect(HTTPExchange.run(request, within: .seconds(600)) == nil)
        #expect(server.end().isEmpty && server.client == nil)
    }

    @Test func aRouterThatListensNowhereIsNotReached() throws {
        let address = try #require(try TCPListener(on: TransportAddress(ipv4: 0x7F00_0001, port: 0)).localAddress)
        #expect(HTTPExchange.run(RouterMessage(destination: address, bytes: [1]), within: .seconds(600)) == nil)
    }
}

/// A server on loopback that answers one connection, in pieces.
private final class OneAnswer: Sendable {
    let address: TransportAddress
    private let listener: TCPListener
    private let received = Locked<[UInt8]>([])
    private let accepted = Locked<TransportAddress?>(nil)
    private let isOver = Locked(false)
    private let over = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    init(_ pieces: [String], closes: Bool) throws {
        listener = try TCPListener(on: TransportAddress(ipv4: 0x7F00_0001, port: 0))
        address = try #require(listener.localAddress)
        let started = startDetachedThread { [self] in
            serve(pieces, closes: closes)
            ended.signal()
        }
        #expect(started)
    }

    /// Where the connection came from; nil before one has come.
    var client: TransportAddress? { accepted.withLock { $0 } }

    /// Ends the server. Returns what it has received.
    func end() -> [UInt8] {
        isOver.withLock { $0 = true }
        over.signal()
        ended.wait()
        return received.withLock { $0 }
    }

    private func serve(_ pieces: [String], closes: Bool) {
        while true {
            guard wait(for: POLLIN, at: listener.descriptor) else { return }
            if case .connection(let socket, let peer, _) = listener.accept(
                patience: .seconds(600), unsent: 65_536, sendBuffer: 65_536)
            {
                accepted.withLock { $0 = peer }
                return converse(socket, pieces, closes: closes)
            }
        }
    }

    private func converse(_ socket: borrowing TCPSocket, _ pieces: [String], closes: Bool) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while received.withLock({ !$0.suffix(4).elementsEqual([13, 10, 13, 10]) }) {
            guard wait(for: POLLIN, at: socket.descriptor),
                case .bytes(let count) = buffer.withUnsafeMutableBytes({ socket.receive(into: $0) })
            else { return }
            received.withLock { $0 += buffer[..<count] }
        }
        for piece in pieces {
            var left = Array(piece.utf8)
            while !left.isEmpty {
                guard wait(for: POLLOUT, at: socket.descriptor) else { return }
                switch left.withUnsafeBytes({ socket.send($0) }) {
                case .bytes(let count): left.removeFirst(count)
                case .wouldBlock: continue
                case .closed, .failed: return
                }
            }
        }
        if !closes { over.wait() }
    }

    /// Whether the descriptor is ready before the test is over.
    private func wait(for events: Int32, at descriptor: Int32) -> Bool {
        while true {
            // What came before the end is still taken.
            let isLast = isOver.withLock { $0 }
            var waiting = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            if poll(&waiting, 1, isLast ? 0 : 10) > 0 { return true }
            if isLast { return false }
        }
    }
}
