import CLinuxUDP
import CMosquitto
import Glibc

/// Serves the library's client when something has come, when it can send, or when a thread has given it something to send.
///
/// The library's own loop waits with select(2), which knows no descriptor from 1,024 on: a gateway with that many connections
/// would never reach its broker (eclipse-mosquitto/mosquitto, issue 1299).
final class BrokerWait: Sendable {
    /// Readable while a thread has something to send.
    private let signals: Int32

    /// - Throws: ``BrokerFailure/other(_:)`` if the process has no descriptor left.
    init() throws(BrokerFailure) {
        signals = linux_eventfd_create()
        guard signals >= 0 else {
            throw .other("the broker's thread cannot be woken: \(String(cString: strerror(0 &- signals)))")
        }
    }

    deinit { if signals >= 0 { close(signals) } }

    /// Ends the wait, or the next one.
    func signal() { _ = linux_eventfd_signal(signals) }

    /// Waits, reads, writes, and does what is due.
    /// - Parameter milliseconds: how long to wait at most.
    /// - Returns: the library's code. With `MOSQ_ERR_ERRNO` comes the system's.
    func serve(_ client: OpaquePointer, atMost milliseconds: Int32) -> Int32 {
        let success = Int32(MOSQ_ERR_SUCCESS.rawValue)
        let socket = mosquitto_socket(client)
        guard socket >= 0 else { return Int32(MOSQ_ERR_NO_CONN.rawValue) }
        let output = mosquitto_want_write(client) ? POLLOUT : 0
        var waiting = [
            pollfd(fd: socket, events: Int16(POLLIN | output), revents: 0),
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&waiting, nfds_t(waiting.count), milliseconds) >= 0 else {
            return errno == EINTR ? success : Int32(MOSQ_ERR_ERRNO.rawValue)
        }
        // A connection that failed has its error read.
        if waiting[0].revents & ~Int16(POLLOUT) != 0 {
            let code = mosquitto_loop_read(client, 1)
            guard code == success, mosquitto_socket(client) >= 0 else { return code }
        }
        let isSignalled = waiting[1].revents != 0
        if isSignalled {
            var count: UInt64 = 0
            _ = read(signals, &count, MemoryLayout<UInt64>.size)
        }
        // What a thread has given to the client was not there when the wait began.
        if isSignalled || waiting[0].revents & Int16(POLLOUT) != 0, mosquitto_want_write(client) {
            let code = mosquitto_loop_write(client, 1)
            guard code == success, mosquitto_socket(client) >= 0 else { return code }
        }
        return mosquitto_loop_misc(client)
    }

    /// Acknowledges immediately what was read. A broker that leaves Nagle's algorithm on, as mosquitto does, does not
    /// send a message until the previous one is acknowledged, and Linux would delay the acknowledgement by 40 ms to
    /// send it with an answer. The kernel forgets the option with the next segment (tcp(7)).
    func acknowledgeAtOnce(_ client: OpaquePointer) {
        let socket = mosquitto_socket(client)
        var isOn: Int32 = 1
        guard socket >= 0 else { return }
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }
}
