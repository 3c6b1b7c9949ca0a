import Foundation

/// Addresses of JPEG pictures over HTTP.
extension CameraSource {
    /// What a remark says about every camera that sends JPEG pictures.
    static let picturesRemark =
        "the gateway requests JPEG pictures there and encodes them while somebody watches; framesPerSecond bounds how many"

    /// Whether its pictures come as JPEG over HTTP. RTSP is better where a camera has both.
    var isPictures: Bool {
        guard let url else { return false }
        return Self.isHTTP(url[...]) && Self.stream(url[...]) == nil
    }

    /// A camera whose address says that it sends JPEG pictures, one or a series; nil for any other address.
    static func pictures(_ address: Substring) -> CameraSource? {
        guard isHTTP(address), stream(address) == nil,
            let start = address.range(of: "://")?.upperBound,
            let place = address[start...].firstIndex(where: { "/?".contains($0) })
        else { return nil }
        let words = address[place...].lowercased()
        // `/stream` is that of the ESP32-CAM, and `videostream.cgi` that of many old cameras.
        let known = ["jpg", "jpeg", "snap", "action=stream", "videostream.cgi"].contains { words.contains($0) }
        guard known || words.prefix(while: { $0 != "?" }) == "/stream" else { return nil }
        return CameraSource(.url(String(address)), remarks: [picturesRemark])
    }

    /// A camera of which the other gateway's settings, but not its address, say that it sends JPEG pictures.
    static func presumedPictures(_ address: Substring) -> CameraSource {
        CameraSource(
            .url(String(address)),
            remarks: [
                picturesRemark + ". gatehouse camera probe says whether it sends any; hls+, mpegts+ or flv+ in "
                    + "front of the address says that it sends a stream"
            ])
    }

    /// Whether an address is one of HTTP.
    static func isHTTP(_ address: Substring) -> Bool {
        guard let scheme = scheme(of: address), ["http", "https"].contains(scheme) else { return false }
        return address.dropFirst(scheme.count).hasPrefix("://")
    }
}
