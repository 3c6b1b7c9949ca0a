import Foundation
import Transport

/// The host and the user that an address names.
extension CameraAddress {
    private var scheme: String { text.prefix { $0 != ":" }.lowercased() }

    private var isEncrypted: Bool { ["rtsps", "https", "rtmps"].contains(scheme) || scheme.hasSuffix("+https") }

    /// The user without percent-encoding; nil if there is none.
    var user: String? {
        guard let at = authority.lastIndex(of: "@") else { return nil }
        let user = String(authority[..<at].prefix { $0 != ":" })
        return user.removingPercentEncoding ?? user
    }

    private var hostAndPort: Substring {
        guard let at = authority.lastIndex(of: "@") else { return authority }
        return authority[authority.index(after: at)...]
    }

    /// The host in the form for comparisons: in lower case, without brackets or the dot of a full name, and addresses
    /// in one form.
    var host: String {
        let text = hostAndPort
        let host = text.hasPrefix("[") ? text.dropFirst().prefix { $0 != "]" } : text.prefix { $0 != ":" }
        if let address = TransportAddress(host, port: 0) { return address.host }
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// The port that it names, or the usual one; nil if it cannot be known.
    var port: Int? {
        let text = hostAndPort
        let tail = text.hasPrefix("[") ? text.drop { $0 != "]" }.dropFirst() : text.drop { $0 != ":" }
        if tail.hasPrefix(":"), let port = Int(tail.dropFirst()) { return port }
        let usual = [
            "rtsp": 554, "rtsps": 322, "rtspx": 322, "http": 80, "onvif": 80, "https": 443, "rtmp": 1935, "rtmps": 443,
        ]
        // The part up to the plus sign says what comes, and not how.
        return usual[scheme] ?? scheme.split(separator: "+").last.flatMap { usual[String($0)] }
    }

    /// This machine, where each port may belong to another user's program.
    var isThisMachine: Bool {
        let host = self.host
        if let address = TransportAddress(host, port: 0) { return address.isLoopback || address.isUnspecified }
        return host == "localhost" || host.hasSuffix(".localhost")
    }

    /// Whether it is one of RTSP, encrypted or not.
    var isOfRTSP: Bool { ["rtsp", "rtsps", "rtspx"].contains(scheme) }

    /// What follows the host.
    var pathAndQuery: Substring { text[authority.endIndex...] }

    /// Whether both lead to the same place by the same protocol, no matter who signs in there.
    func isSamePlace(as other: CameraAddress) -> Bool {
        func path(_ address: CameraAddress) -> Substring { address.pathAndQuery == "/" ? "" : address.pathAndQuery }
        let isSameProtocol = scheme == other.scheme || isOfRTSP && other.isOfRTSP
        return isSameProtocol && host == other.host && port == other.port && path(self) == path(other)
    }

    /// Whether a secret of `other` may be sent to this address. That takes the same user at the same host, no clear
    /// text where it was encrypted, and on this machine the same port. Another port of a camera is the same camera.
    func mayTakeSecrets(of other: CameraAddress) -> Bool {
        guard !host.isEmpty, host == other.host, user == other.user else { return false }
        if other.isEncrypted, !isEncrypted { return false }
        return !isThisMachine || port == other.port
    }
}
