import Glibc

/// STUN and TURN servers, which all gateways write in much the same way.
enum ICEServers {
    /// Reads one server. A server with several addresses becomes several.
    static func read(
        _ server: ForeignNode, urls: String, credential: String, into builder: inout ConfigurationBuilder
    ) {
        let addresses = server[urls]?.elements ?? [server]
        for address in addresses {
            guard let text = address.text, let scheme = CameraSource.scheme(of: text[...]),
                ["stun", "stuns", "turn", "turns"].contains(scheme)
            else {
                builder.remark("expected an address that begins with stun: or turn:", at: address)
                continue
            }
            let url = scheme + text.dropFirst(scheme.count)
            let (username, password) = (server["username"]?.text, server[credential]?.text)
            add(url, username: username, password: password, at: address, into: &builder)
        }
    }

    /// Reads a server as MediaMTX before 1.0 writes it: `turn:user:password:host:port`, or without the user and the password.
    static func readText(_ server: ForeignNode, into builder: inout ConfigurationBuilder) {
        let parts = (server.text ?? "").split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, ["stun", "turn", "turns"].contains(parts[0].lowercased()) else {
            return read(server, urls: "url", credential: "password", into: &builder)
        }
        let url = "\(parts[0].lowercased()):\(parts[3]):\(parts[4])"
        let hasLogin = !parts[1].isEmpty
        add(
            url, username: hasLogin ? parts[1] : nil, password: hasLogin ? parts[2] : nil, at: server, into: &builder)
    }

    private static func add(
        _ url: String, username: String?, password: String?, at place: ForeignNode,
        into builder: inout ConfigurationBuilder
    ) {
        // MediaMTX makes a user and a password for each viewer from this secret. A viewer must not get the secret itself.
        guard username != "AUTH_SECRET" else {
            return builder.remark(
                "this server's passwords are made from a secret, which is not possible here; it is left out. Write a user and "
                    + "a password under media.iceServers", at: place)
        }
        guard [url, username ?? "", password ?? ""].allSatisfy(isHeaderSafe) else {
            return builder.remark(
                "this server has a character that Gatehouse's config does not allow there", at: place)
        }
        if [username, password].contains(where: { $0?.contains("${") == true || $0?.contains("{FRIGATE_") == true }) {
            builder.remark("no variable is replaced in media.iceServers: write its value there", at: place)
        }
        builder.change {
            $0.iceServers.append(.init(url: url, username: username, credential: password))
            // These gateways ask the same servers for their own address.
            if url.hasPrefix("stun:"), isServer(url.dropFirst("stun:".count)), !$0.stunServers.contains(url),
                $0.stunServers.count < maximumServers
            {
                $0.stunServers.append(url)
            }
        }
    }

    /// As many as `network.stun` takes.
    private static let maximumServers = 8

    /// Whether a text is the name or the IPv4 address of a server, with or without a port.
    private static func isServer(_ text: Substring) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), (1...253).contains(parts[0].utf8.count) else { return false }
        if parts.count == 2, UInt16(parts[1]) ?? 0 == 0 { return false }
        return parts[0].utf8.allSatisfy {
            let letter = Character(UnicodeScalar($0))
            return $0 < 0x80 && (letter.isLetter || letter.isNumber || ".-_".contains(letter))
        }
    }

    private static func isHeaderSafe(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"\\<>".utf8.contains($0) }
    }
}

extension String {
    /// The text without square brackets around it, which IPv6 addresses have in front of a port.
    func trimmingBrackets() -> String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }

    /// Whether this is an IPv4 or IPv6 address and no name.
    var isNumericAddress: Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, self, &bytes) == 1 || inet_pton(AF_INET6, self, &bytes) == 1
    }
}
