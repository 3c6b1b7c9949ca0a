import Foundation

extension GatewayConfiguration {
    /// Every text that must never reach a log: tokens, the passwords of cameras, TURN passwords.
    public func secrets(tokens: TokenStore) -> [String] {
        tokens.secrets + cameras.flatMap(\.secrets) + media.iceServers.compactMap(\.credential)
            + network.turnServers.map(\.password)
            + oauthClients.compactMap(\.secret)
            + [mqtt?.password, reportState?.credentials].compactMap { $0 }
            + automations.receivers.compactMap { receiver in
                if case .https(_, let token, _) = receiver.way { token } else { nil }
            }
    }
}

extension GatewayConfiguration {
    /// The name that the gateway has in the local network, unless another machine has it; empty where it announces none.
    var localNames: [String] {
        guard case .on(let name) = network.multicastDNS else { return [] }
        return ["\(name).local"]
    }
}

extension GatewayConfiguration.Camera {
    /// The passwords of the camera, as they are written in its addresses and in plain.
    public var secrets: [String] {
        var urls = [substream].compactMap { $0 }
        switch source {
        case .rtsp(let url), .onvif(let url), .pictures(let url), .stream(let url): urls.append(url)
        case .builtInDoorbell, .builtInSilent, .videoDevice, .publisher: break
        }
        return urls.flatMap { CameraAddress(text: $0).secrets } + [onvif?.password].compactMap { $0 }
    }
}
