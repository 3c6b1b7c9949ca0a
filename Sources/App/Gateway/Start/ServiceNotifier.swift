import Foundation
import Glibc

/// Reports to the service manager how the gateway is (systemd's protocol, sd_notify(3)): each message is a datagram to the
/// socket that `NOTIFY_SOCKET` names.
struct ServiceNotifier: Sendable, Equatable {
    /// Why a message did not reach the service manager.
    struct Failure: Error, CustomStringConvertible {
        let call: String
        let code: Int32
        var description: String { "\(call): \(String(cString: strerror(code)))" }
    }

    /// The service manager expects a sign of life at least this often; nil if it does not watch.
    let watchdogInterval: Duration?
    /// The path, as the kernel takes it: a name outside of the file system begins with a zero byte.
    private let name: [UInt8]

    /// Nil unless the environment names a socket. A name that is not usable is as good as none, as for sd_notify.
    init?(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        processID: Int32 = ProcessInfo.processInfo.processIdentifier
    ) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        var name = Array(path.utf8)
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        // A path ends in a zero byte, which has to fit too.
        guard name.count > 1, name.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
        self.name = name
        self.watchdogInterval = Self.interval(environment, processID)
    }

    private static func interval(_ environment: [String: String], _ processID: Int32) -> Duration? {
        if let watched = environment["WATCHDOG_PID"], Int32(watched) != processID { return nil }
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 0 else {
            return nil
        }
        return .microseconds(microseconds)
    }

    /// Sends lines such as `READY=1`.
    func send(_ lines: String...) throws(Failure) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        defer { close(descriptor) }
        // A service manager that hangs does not hold the gateway up.
        var patience = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + name.count } ?? 0)
        let message = Array(lines.joined(separator: "\n").utf8)
        let sent = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        guard sent == message.count else { throw Failure(call: "sendto", code: errno) }
    }
}
