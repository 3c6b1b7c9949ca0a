import Glibc

/// A port that neither TCP nor UDP uses now, on any address.
///
/// It lies below those that the system gives to connections (32,768 on Linux): one of those could be taken before the
/// program that is started binds it.
func freePort() -> Int? {
    for _ in 0..<50 {
        let port = UInt16.random(in: 10_000..<32_000)
        let kinds = [Int32(SOCK_STREAM.rawValue), Int32(SOCK_DGRAM.rawValue)]
        if kinds.allSatisfy({ canBind(port, kind: $0) }) { return Int(port) }
    }
    return nil
}

private func canBind(_ port: UInt16, kind: Int32) -> Bool {
    let descriptor = socket(AF_INET, kind, 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
