import HTTPMedia
import StreamFormats
import Transport

/// Where a request goes, and how far what is found there may lead.
///
/// A camera's answers and playlists name addresses that the gateway then requests. Each is judged by the place that names
/// it: it may be on another host, but not on a network that the place itself is not on (``AddressReach``). So a public
/// server cannot make the gateway request anything in the home, and only this machine can make it request
/// something of this machine. HTTPS does not lead to HTTP, and no port below 1024 is requested but those of HTTP.
struct RequestPlace: Hashable, Sendable {
    let address: HTTPAddress
    /// How far the way has led that ends here; nil for the address of the config, whose owner may name any.
    let reach: AddressReach?
    /// Whether each host on the way was that of the config. Only then may the camera's credentials be shown.
    let isAtHome: Bool

    /// The camera's address in the config.
    init(_ home: HTTPAddress) { self.init(home, reach: nil, isAtHome: true) }

    init(_ address: HTTPAddress, reach: AddressReach?, isAtHome: Bool) {
        self.address = address
        self.reach = reach
        self.isAtHome = isAtHome
    }

    /// The addresses of the host that may be connected to.
    func allowed(_ list: [TransportAddress]) -> [TransportAddress] {
        guard let reach else { return list }
        return list.filter(reach.allows)
    }

    /// The place once a server has answered there.
    func reached(at connected: TransportAddress) -> RequestPlace {
        let own = AddressReach(of: connected)
        return RequestPlace(address, reach: reach?.intersection(own) ?? own, isAtHome: isAtHome)
    }

    /// Another address of the same host.
    func moved(to other: HTTPAddress) -> RequestPlace {
        RequestPlace(other, reach: reach, isAtHome: isAtHome)
    }

    /// Where a reference leads from here: one of a playlist, or that of a redirection. A user and a password in it are
    /// left out.
    func following(_ reference: String, from home: HTTPAddress) throws(CameraFailure) -> RequestPlace {
        guard let next = resolve(reference) else {
            throw .stream(.leadsElsewhere(address: Self.masked(reference), .notHTTP))
        }
        let isSameServer = next.isSameServer(as: address) || isAtHome && next.isSameServer(as: home)
        let stays = isAtHome && next.host.lowercased() == home.host.lowercased()
        let place = RequestPlace(next, reach: reach ?? [], isAtHome: stays)
        guard next.isSecure || !address.isSecure else { throw place.refused(.notEncrypted) }
        guard isSameServer || next.port >= 1024 || next.port == 80 || next.port == 443 else {
            throw place.refused(.port)
        }
        return place
    }

    private func resolve(_ reference: String) -> HTTPAddress? {
        let scheme = address.isSecure ? "https:" : "http:"
        let whole = reference.hasPrefix("//") ? scheme + reference : reference
        guard let resolved = PlaylistReference.resolve(whole, in: address.path) else { return nil }
        guard resolved.hasPrefix("/") else { return try? HTTPAddress.parse(resolved, defaultPath: "/").address }
        var next = address
        next.path = resolved
        return next
    }

    // MARK: Refusals

    /// Why the place is not requested.
    func refused(_ reason: StreamFailure.Refusal) -> CameraFailure {
        .stream(.leadsElsewhere(address: shown, reason))
    }

    /// The address for people.
    var shown: String { Self.withoutQuery(address.description) }

    /// A reference that is not an address of HTTP, for people.
    static func masked(_ reference: String) -> String {
        let text = withoutQuery(reference)
        // What stands before it may be a password.
        guard let mark = text.lastIndex(of: "@") else { return text }
        return "***" + text[mark...]
    }

    /// What follows a question mark may be a secret.
    private static func withoutQuery(_ text: String) -> String {
        String(text.prefix { $0 != "?" }.filter { $0.isASCII && $0 > " " }.prefix(120))
    }
}
