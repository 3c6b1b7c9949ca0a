/// What a request's URI names: a device, and perhaps one of its tracks.
public struct RTSPResource: Hashable, Sendable {
    /// The path without slashes at either end, percent escapes resolved; empty for `*` and for the root.
    public var path: String
    /// The number of the track, where the URI ends in `trackID=` and a number.
    public var track: Int?

    /// Names a resource.
    public init(path: String, track: Int? = nil) {
        self.path = path
        self.track = track
    }

    /// Reads a URI. A query is ignored, wherever it is: some clients append the control attribute to it.
    public init(parsing uri: String) {
        var rest = Substring(uri)
        if let scheme = rest.range(ofASCII: "://") {
            rest = rest[scheme.upperBound...]
            rest = rest.firstIndex(of: "/").map { rest[$0...] } ?? ""
        }
        if rest == "*" { rest = "" }
        let (pathText, query) = rest.cut(at: "?")
        var parts = pathText.split(separator: "/").map { String($0).removingPercentEncoding }
        let last = query.flatMap { $0.split(separator: "/").last.map(String.init) }
        if let last, let number = Self.trackNumber(last), last != query {
            track = number
        } else if let number = parts.last.flatMap(Self.trackNumber) {
            track = number
            parts.removeLast()
        }
        path = parts.joined(separator: "/")
    }

    /// The value of `token` in the query of a URI; nil if there is none, or one that is too long to be one.
    static func token(in uri: String) -> String? {
        guard let query = Substring(uri).cut(at: "?").1 else { return nil }
        // Some clients append the control attribute of a track.
        let parameters = query.prefix { $0 != "/" }.split(separator: "&")
        guard let token = parameters.first(where: { $0.hasPrefix("token=") })?.dropFirst(6), !token.isEmpty,
            token.utf8.count <= 512
        else { return nil }
        return String(token)
    }

    private static func trackNumber(_ text: String) -> Int? {
        guard text.hasPrefixIgnoringCase("trackID=") else { return nil }
        let digits = text.dropFirst(8)
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return nil
        }
        return Int(digits)
    }

    /// The control attribute of a track.
    public static func control(ofTrack track: Int) -> String { "trackID=\(track)" }
}
