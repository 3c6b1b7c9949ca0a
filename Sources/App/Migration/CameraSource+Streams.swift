/// Addresses of streams that are not RTP.
extension CameraSource {
    /// What Gatehouse makes of the address of a stream that is not RTP, of a camera of this machine, or of JPEG pictures;
    /// nil where it reads nothing like it.
    static func other(_ address: Substring) -> CameraSource? {
        stream(address).map { CameraSource(.url($0)) } ?? device(address) ?? pictures(address)
    }

    /// The address as Gatehouse reads it; nil where it reads no such stream. It takes the same addresses as the source of the
    /// config does.
    static func stream(_ address: Substring) -> String? {
        let address = String(address)
        guard let scheme = scheme(of: address[...]) else { return nil }
        let rest = address.dropFirst(scheme.count)
        guard rest.hasPrefix("://") else { return nil }
        let place = rest.dropFirst(3)
        let end = place.firstIndex { "/?".contains($0) } ?? place.endIndex
        let (authority, path) = (place[..<end], place[end...])
        switch scheme {
        case "http", "https":
            let name = path.prefix { $0 != "?" }.split(separator: "/").last?.lowercased() ?? ""
            let isStream = [".m3u8", ".m3u", ".ts", ".flv"].contains { name.hasSuffix($0) } || name == "flv"
            return isStream ? address : nil
        case "rtmp", "rtmps":
            // Gatehouse sends the user and the password only in the query.
            return authority.contains("@") || path.drop { $0 == "/" }.isEmpty ? nil : address
        case "tcp", "tcp+mpegts": return hasPort(authority) ? "tcp://\(authority)" : nil
        case "udp", "udp+mpegts":
            let group = authority.drop { $0 == "@" }
            return hasPort(group) ? "udp://\(group)" : nil
        default: return nil
        }
    }

    private static func hasPort(_ authority: Substring) -> Bool {
        guard !authority.contains("@"), let colon = authority.lastIndex(of: ":"), colon != authority.startIndex else {
            return false
        }
        return UInt16(authority[authority.index(after: colon)...]).map { $0 > 0 } ?? false
    }
}
