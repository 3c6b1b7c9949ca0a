extension RTSPURL {
    /// The URI that control attributes are relative to (RFC 2326, appendix C.1.1): Content-Base, then
    /// Content-Location, then the URI of the request.
    ///
    /// A base that makes no sense (a doubled scheme, no scheme at all, another scheme) is replaced by the request's
    /// URI. A base that names another host keeps only its path: cameras behind a port forward name an address that only
    /// they can reach.
    public func base(for headers: RTSPHeaders) -> String {
        for name in ["Content-Base", "Content-Location"] {
            guard let value = headers[name]?.trimmedASCII, !value.isEmpty else { continue }
            guard value.dropFirst(7).range(ofASCII: "rtsp://") == nil, let url = try? RTSPURL(parsing: value) else {
                continue
            }
            return reaching(url).requestURI
        }
        return requestURI
    }

    /// The URI of a track or of the whole presentation from its control attribute.
    ///
    /// A relative attribute is appended to the base, including its query. RFC 3986 would replace the last part of the
    /// path, but cameras expect what clients have always sent.
    public func controlURI(_ control: String?, base: String) -> String {
        guard let control = control?.trimmedASCII, !control.isEmpty, control != "*", control.isSafeInRequestLine else {
            return base
        }
        if control.hasPrefixIgnoringCase("rtsp://") || control.hasPrefixIgnoringCase("rtsps://") {
            guard let url = try? RTSPURL(parsing: control) else { return base }
            return reaching(url).requestURI
        }
        if control.hasPrefix("?") { return base + control }
        let head = base.hasSuffix("/") ? String(base.dropLast()) : base
        return head + (control.hasPrefix("/") ? control : "/" + control)
    }

    /// `url` on this address's host and port, without credentials.
    private func reaching(_ url: RTSPURL) -> RTSPURL { withPath(url.path) }
}

extension Substring {
    func range(ofASCII text: String) -> Range<Index>? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefixIgnoringCase(text) {
                return index..<(self.index(index, offsetBy: text.count, limitedBy: endIndex) ?? endIndex)
            }
            index = self.index(after: index)
        }
        return nil
    }
}
