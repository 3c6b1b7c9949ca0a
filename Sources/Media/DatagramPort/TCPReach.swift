import Glibc
public import Transport

/// Tries to open a TCP connection to each of several addresses at once, and closes it again. It blocks, so it belongs on a thread
/// of its own.
/// - Returns: for each address why it was not reached, in words, or nil where it was.
public func tryConnecting(
    to addresses: [TransportAddress], within limit: Duration
) -> [(address: TransportAddress, failure: String?)] {
    /// A connection that is being opened.
    final class Attempt {
        let socket: TCPSocket
        init(_ socket: consuming TCPSocket) { self.socket = socket }
    }
    let deadline = MonotonicClock.now + limit
    var failures = [String?](repeating: "no answer", count: addresses.count)
    var open: [(index: Int, attempt: Attempt)] = []
    for (index, address) in addresses.enumerated() {
        do throws(SystemCallError) {
            // Nothing is sent, so the bounds of what waits do not matter.
            let socket = try TCPSocket.connect(to: address, patience: limit, unsent: 4096, sendBuffer: 4096)
            open.append((index, Attempt(socket)))
        } catch {
            failures[index] = String(cString: strerror(error.errorNumber)).lowercased()
        }
    }
    while !open.isEmpty {
        let left = deadline - MonotonicClock.now
        guard left > .zero else { break }
        var waiting = open.map { pollfd(fd: $0.attempt.socket.descriptor, events: Int16(POLLOUT), revents: 0) }
        let milliseconds = Int32(clamping: left.wholeNanoseconds / 1_000_000 + 1)
        guard poll(&waiting, nfds_t(waiting.count), milliseconds) > 0 else { continue }
        for (entry, found) in zip(open, waiting) where found.revents != 0 {
            let error = entry.attempt.socket.connectionError
            failures[entry.index] = error == 0 ? nil : String(cString: strerror(error)).lowercased()
        }
        open = zip(open, waiting).filter { $0.1.revents == 0 }.map(\.0)
    }
    return Array(zip(addresses, failures)).map { (address: $0.0, failure: $0.1) }
}
