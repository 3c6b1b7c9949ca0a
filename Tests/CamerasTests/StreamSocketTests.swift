import DatagramPort
import Glibc
import HTTPMedia
import Testing
import Transport

@testable import Cameras

/// A camera that sends without end holds the thread of its source no longer than its deadline.
@Suite(.timeLimit(.minutes(10))) struct StreamSocketTests {
    /// A server that reads the first bytes of a connection and then repeats `bytes` until the client has gone, or
    /// 256 MiB are sent.
    private static func start(sending bytes: [UInt8]) throws -> UInt16 {
        let (listener, port) = try LoopbackSocket.listen(backlog: 1)
        let block = [UInt8]((0..<max(1, 65_536 / bytes.count)).map { _ in bytes }.joined())
        let isStarted = startDetachedThread(name: "endless") {
            let descriptor = accept(listener, nil, nil)
            close(listener)
            guard descriptor >= 0 else { return }
            for _ in 0..<4096 where !LoopbackSocket.write(block, to: descriptor) { break }
            close(descriptor)
        }
        guard isStarted else { throw LoopbackSocket.Failure() }
        return port
    }

    private static func address(_ port: UInt16) throws -> TransportAddress {
        try #require(CameraSocket.lookUp(host: "127.0.0.1", port: port).get().first)
    }

    @Test(arguments: [true, false])
    func `an unknown host says how to write a password that may have ended too early`(mayHoldPassword: Bool) {
        // A label has at most 63 bytes, so no server is asked.
        let host = String(repeating: "a", count: 300)
        let found = CameraSocket.lookUp(host: host, port: 12, mayHoldPassword: mayHoldPassword)
        guard case .failure(let error) = found else {
            Issue.record("the host is known")
            return
        }
        #expect(error.description.contains("is not known"))
        #expect(error.description.contains("%2F") == mayHoldPassword)
    }

    @Test func `a TLS handshake of messages without end stops at its deadline`() throws {
        // HelloRequest (RFC 5246, section 7.4.1.1), which a client ignores during the handshake.
        let port = try Self.start(sending: [22, 3, 3, 0, 4, 0, 0, 0, 0])
        let (control, address) = (try #require(SourceControl()), try Self.address(port))
        do throws(CameraUnreachable) {
            _ = try StreamSocket.open(
                address, serverName: "camera", timeout: .milliseconds(200), control: control)
            Issue.record("the handshake ended")
        } catch {
            #expect(error.description == "waited too long for the end of the TLS handshake")
        }
    }

    @Test func `bytes that never end do not put off the deadline or a stop`() throws {
        let port = try Self.start(sending: [0x20])
        let control = try #require(SourceControl())
        let stream = try StreamSocket.open(
            Self.address(port), serverName: nil, timeout: .seconds(600), control: control)
        var buffer = [UInt8](repeating: 0, count: 1024)
        let first = try stream.receive(
            &buffer, until: MonotonicClock.now + .seconds(600), control: control, for: "the answer")
        guard case .bytes = first else {
            Issue.record("nothing came")
            return
        }
        #expect(throws: CameraUnreachable("waited too long for the answer", cause: .silent)) {
            try stream.receive(&buffer, until: MonotonicClock.now, control: control, for: "the answer")
        }
        control.requestStop()
        #expect(throws: CameraUnreachable("stopped")) {
            try stream.receive(
                &buffer, until: MonotonicClock.now + .seconds(600), control: control, for: "the answer")
        }
    }
}
