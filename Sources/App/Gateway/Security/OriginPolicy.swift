import Foundation

/// Which web pages may use the API: the gateway's own, and those of the origins that the config lists.
struct OriginPolicy: Sendable {
    /// The listed origins, normalised.
    let allowed: Set<String>
    /// The origin at which people reach the gateway, normalised; nil where the request says it.
    let own: String?

    /// The meaning of a request's `Origin`.
    enum Verdict: Equatable {
        /// The request comes from no page, or from the gateway's own.
        case sameOrigin
        /// The request comes from a page of a listed origin, which needs CORS headers.
        case listed(String)
        /// Any other page, or an opaque origin.
        case refused
    }

    init(origins: [String], own: String? = nil) {
        allowed = Set(origins.compactMap(Self.normalized))
        self.own = own.flatMap(Self.normalized)
    }

    /// - Parameters:
    ///   - origin: the header `Origin`, or nil when there is none.
    ///   - scheme: `http` or `https`, by the listener.
    ///   - host: the header `Host`.
    func verdict(origin: String?, scheme: String, host: String?) -> Verdict {
        guard let origin else { return .sameOrigin }
        guard let normalized = Self.normalized(origin) else { return .refused }
        if normalized == own { return .sameOrigin }
        if let host, normalized == Self.normalized("\(scheme)://\(host)") { return .sameOrigin }
        return allowed.contains(normalized) ? .listed(normalized) : .refused
    }

    /// An origin in the form in which origins are compared (RFC 6454, section 4): lower case, without the scheme's
    /// default port. Nil for anything except exactly scheme, host and port of HTTP.
    static func normalized(_ text: String) -> String? {
        let lowercased = text.lowercased()
        guard text.utf8.count <= 300, let separator = lowercased.range(of: "://") else { return nil }
        let scheme = lowercased[..<separator.lowerBound]
        guard scheme == "http" || scheme == "https" else { return nil }
        let authority = lowercased[separator.upperBound...]
        let isPlain = authority.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || ".-_:[]".utf8.contains($0)
        }
        guard isPlain, !authority.isEmpty else { return nil }
        var host = authority
        var port: Int?
        let afterLiteral = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
        if let colon = authority[afterLiteral...].firstIndex(of: ":") {
            guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0 else { return nil }
            host = authority[..<colon]
            port = Int(number)
        }
        guard !host.isEmpty else { return nil }
        let isDefault = port == nil || port == (scheme == "http" ? 80 : 443)
        return "\(scheme)://\(host)" + (isDefault ? "" : ":\(port ?? 0)")
    }
}
