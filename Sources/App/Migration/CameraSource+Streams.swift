/// Addresses of streams that are not RTP.
extension CameraSource {
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

    /// A camera of this machine, from the words of go2rtc (`v4l2:device?video=/dev/video0&…`) or from a device's file.
    static func device(_ address: Substring) -> String? {
        if isDevice(address) { return "v4l2:\(address)" }
        guard address.hasPrefix("v4l2:device?") else { return nil }
        var device: Substring?
        var options: [String] = []
        for item in address.dropFirst("v4l2:device?".count).split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            switch pair[0] {
            case "video": device = pair[1]
            case "input_format" where ["h264", "mjpeg"].contains(pair[1]): options.append("format=\(pair[1])")
            case "input_format": return nil
            case "video_size" where pair[1].utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x78 }):
                options.append("size=\(pair[1])")
            case "framerate":
                if let rate = Int(pair[1]), (1...120).contains(rate) { options.append("rate=\(rate)") }
            default: break
            }
        }
        guard let device, isDevice(device) else { return nil }
        return "v4l2:\(device)" + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
    }

    private static func isDevice(_ path: Substring) -> Bool {
        let number = path.dropFirst("/dev/video".count)
        return path.hasPrefix("/dev/video") && (1...3).contains(number.count)
            && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func hasPort(_ authority: Substring) -> Bool {
        guard !authority.contains("@"), let colon = authority.lastIndex(of: ":"), colon != authority.startIndex else {
            return false
        }
        return UInt16(authority[authority.index(after: colon)...]).map { $0 > 0 } ?? false
    }
}
