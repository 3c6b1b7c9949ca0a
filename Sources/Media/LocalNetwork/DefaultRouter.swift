import DatagramPort
import Glibc
public import Transport

/// The router that leads out of this host's network, over IPv4.
public struct DefaultRouter: Hashable, Sendable {
    /// Its address, with port 0.
    public var address: TransportAddress

    /// Finds the router in the kernel's routes; nil if there is none.
    public static func current() -> DefaultRouter? {
        readRoutes("/proc/net/route").flatMap { DefaultRouter(routes: $0) }
    }

    /// Reads a table of the kernel's routes; nil where there is none.
    static func readRoutes(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Longer than any table in which the default route could stand behind so many others.
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { raw in
                Glibc.read(descriptor, raw.baseAddress?.advanced(by: count), raw.count - count)
            }
            guard read > 0 else { break }
            count += read
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Finds the router in a table of routes as `/proc/net/route` has it: the default route with the lowest metric. Its numbers are
    /// in the byte order of the machine.
    public init?(routes: String) {
        let up = 0x1
        let gateway = 0x2
        var best: (metric: Int, address: TransportAddress)?
        for line in routes.split(separator: "\n").dropFirst() {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count >= 8, UInt32(fields[1], radix: 16) == 0, UInt32(fields[7], radix: 16) == 0,
                let router = UInt32(fields[2], radix: 16), let flags = Int(fields[3], radix: 16),
                flags & (up | gateway) == up | gateway, let metric = Int(fields[6])
            else { continue }
            if let best, best.metric <= metric { continue }
            best = (metric, TransportAddress(ipv4: UInt32(bigEndian: router), port: 0))
        }
        guard let best, !best.address.isUnspecified else { return nil }
        address = best.address
    }
}
