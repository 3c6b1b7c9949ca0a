/// STUN and TURN servers, which all gateways write in much the same way.
enum ICEServers {
    /// Reads one server. A server with several addresses becomes several.
    static func read(
        _ server: ForeignNode, urls: String, credential: String, into builder: inout ConfigurationBuilder
    ) {
        let addresses = server[urls]?.elements ?? [server]
        for address in addresses {
            guard let url = address.text, let scheme = CameraSource.scheme(of: url[...]),
                ["stun", "stuns", "turn", "turns"].contains(scheme)
            else {
                builder.remark("expected an address that begins with stun: or turn:", at: address)
                continue
            }
            let (username, password) = (server["username"]?.text, server[credential]?.text)
            guard [url, username ?? "", password ?? ""].allSatisfy(isHeaderSafe) else {
                builder.remark("this server has a character that Gatehouse's config does not allow there", at: address)
                continue
            }
            builder.change {
                $0.iceServers.append(.init(url: url, username: username, credential: password))
            }
        }
    }

    private static func isHeaderSafe(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
}

extension String {
    /// The text without square brackets around it, which IPv6 addresses have in front of a port.
    func trimmingBrackets() -> String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }

    /// Whether this is an IPv4 or IPv6 address and no name.
    var isNumericAddress: Bool {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4, parts.allSatisfy({ UInt8($0) != nil }) { return true }
        return contains(":") && utf8.allSatisfy { UInt8(ascii: ":") == $0 || Character(UnicodeScalar($0)).isHexDigit }
    }
}
