import Foundation

extension GatewayConfiguration {
    /// Every text that must never reach a log: tokens, whole camera addresses with their user parts, TURN passwords.
    public func secrets(tokens: TokenStore) -> [String] {
        var secrets = tokens.secrets
        for camera in self.cameras {
            guard case .rtsp(let url) = camera.source else { continue }
            let authority = url.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
            guard let at = authority.lastIndex(of: "@") else { continue }
            let user = authority[..<at]
            if let colon = user.firstIndex(of: ":") {
                let password = String(user[user.index(after: colon)...])
                secrets.append(password)
                if let plain = password.removingPercentEncoding { secrets.append(plain) }
            }
        }
        secrets += self.media.iceServers.compactMap(\.credential)
        return secrets
    }

    /// Addresses of the web page as seen from this machine, for people.
    public var pageAddresses: [String] {
        var addresses = ["http://\(LocalGateway.reachableHost(self.http.host)):\(self.http.port)/"]
        if let https = self.http.https {
            addresses.append("https://\(LocalGateway.reachableHost(https.host ?? self.http.host)):\(https.port)/")
        }
        return addresses
    }
}
