import HomeTypes

/// Which of the gateway's cameras an address names. The addresses are compared; nothing is connected to.
enum Go2RTCMatch {
    /// The camera with this address, whatever the password: as its source or its smaller stream, at the gateway's own RTSP
    /// server, or as the only camera at an ONVIF device's host. Nil if there is none, or if it could be several.
    /// - Parameter ownHosts: at which addresses the gateway was reached.
    static func camera(
        at source: String, among cameras: [GatewayConfiguration.Camera], rtsp: GatewayConfiguration.RTSPServer?,
        ownHosts: [String]
    ) -> GatewayConfiguration.Camera? {
        // What follows the mark is for go2rtc: how it would connect and transcode.
        let wanted = CameraAddress(text: String(source.prefix { $0 != "#" }))
        guard !wanted.host.isEmpty else { return nil }
        if let camera = cameras.first(where: { addresses(of: $0).contains { $0.isSamePlace(as: wanted) } }) {
            return camera
        }
        if let rtsp, let key = ownKey(wanted, rtsp, ownHosts) {
            return cameras.first { $0.id == key || $0.deviceID == key }
        }
        let there = cameras.filter { camera in
            guard case .onvif(let address) = camera.source else { return false }
            return CameraAddress(text: address).host == wanted.host
        }
        return there.count == 1 ? there[0] : nil
    }

    private static func addresses(of camera: GatewayConfiguration.Camera) -> [CameraAddress] {
        var texts = camera.substream.map { [$0] } ?? []
        switch camera.source {
        case .rtsp(let text), .onvif(let text), .pictures(let text), .stream(let text): texts.append(text)
        case .builtInDoorbell, .builtInSilent, .videoDevice, .publisher: break
        }
        return texts.map(CameraAddress.init(text:))
    }

    private static func ownKey(
        _ address: CameraAddress, _ rtsp: GatewayConfiguration.RTSPServer, _ ownHosts: [String]
    ) -> String? {
        let isHere =
            address.isThisMachine || ownHosts.contains { CameraAddress(text: "rtsp://\($0)").host == address.host }
        guard address.isOfRTSP, address.port == rtsp.port, isHere else { return nil }
        let key = address.pathAndQuery.prefix { $0 != "?" }.split(separator: "/")
        return key.count == 1 ? String(key[0]) : nil
    }
}
