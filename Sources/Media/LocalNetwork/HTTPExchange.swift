import DatagramPort
import Glibc
import HTTPMedia
import PortMapping
import Transport

/// One HTTP request to the router and its answer, over a connection of its own.
enum HTTPExchange {
    /// Sends the request and waits for the answer. It blocks, so it belongs on a thread that has nothing else to do.
    /// - Returns: nil if the router cannot be reached, breaks off, does not answer in time, or answers with what cannot be read.
    static func run(_ request: RouterMessage, within limit: Duration) -> HTTPResponse? {
        let deadline = MonotonicClock.now + limit
        do throws(SystemCallError) {
            let size = max(request.bytes.count, 4096)
            let socket = try TCPSocket.connect(
                to: request.destination, from: request.source, patience: limit, unsent: size, sendBuffer: size)
            guard send(request.bytes, to: socket, until: deadline) else { return nil }
            return receive(from: socket, until: deadline)
        } catch {
            return nil
        }
    }

    private static func send(_ bytes: [UInt8], to socket: borrowing TCPSocket, until deadline: Instant) -> Bool {
        var sent = 0
        while sent < bytes.count {
            guard wait(for: POLLOUT, at: socket, until: deadline) else { return false }
            let outcome = bytes.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            switch outcome {
            case .bytes(let count): sent += count
            case .wouldBlock: continue
            case .closed, .failed: return false
            }
        }
        return true
    }

    private static func receive(from socket: borrowing TCPSocket, until deadline: Instant) -> HTTPResponse? {
        var reader = HTTPResponseReader()
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        do throws(HTTPStreamError) {
            while wait(for: POLLIN, at: socket, until: deadline) {
                switch buffer.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
                case .bytes(let count):
                    if let response = try reader.append(buffer[..<count]) { return response }
                case .wouldBlock: continue
                case .closed: return try reader.finish()
                case .failed: return nil
                }
            }
        } catch {
            return nil
        }
        return nil
    }

    /// Whether the socket is ready, or has failed, before the deadline.
    private static func wait(for events: Int32, at socket: borrowing TCPSocket, until deadline: Instant) -> Bool {
        while true {
            let left = deadline - MonotonicClock.now
            guard left > .zero else { return false }
            var waiting = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
            let count = poll(&waiting, 1, Int32(clamping: left.wholeNanoseconds / 1_000_000 + 1))
            if count > 0 { return true }
            guard count == 0 || errno == EINTR else { return false }
        }
    }
}
