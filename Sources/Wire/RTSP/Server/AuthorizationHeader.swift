import Transport

/// The credentials in a client's `Authorization` header (RFC 7616, section 3.4; RFC 7617).
enum AuthorizationHeader: Equatable {
    /// The password itself.
    case basic(password: String)
    /// The answer to a challenge.
    case digest(Digest)

    /// The parameters of a digest that matter to the server.
    struct Digest: Equatable {
        var username: String
        var nonce: String
        var uri: String
        var response: String
        var algorithm: DigestAlgorithm
        /// The nonce count and client nonce, with quality of protection `auth`.
        var quality: (count: String, clientNonce: String)?

        static func == (left: Digest, right: Digest) -> Bool {
            left.username == right.username && left.nonce == right.nonce && left.uri == right.uri
                && left.response == right.response && left.algorithm == right.algorithm
                && left.quality?.count == right.quality?.count
                && left.quality?.clientNonce == right.quality?.clientNonce
        }
    }

    /// Reads a header's value; nil where the server cannot check it.
    init?(parsing text: String) {
        let (scheme, parameters) = text.trimmedASCII.cut(at: " ")
        guard let parameters else { return nil }
        switch scheme.lowercased() {
        case "basic":
            guard let bytes = Base64.decode(parameters.trimmedASCII) else { return nil }
            // The user name holds no colon (RFC 7617, section 2); the password follows the first one.
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            self = .basic(password: String(decoding: bytes[(colon + 1)...], as: UTF8.self))
        case "digest":
            guard let digest = Digest(parsing: parameters) else { return nil }
            self = .digest(digest)
        default:
            return nil
        }
    }
}

extension AuthorizationHeader.Digest {
    fileprivate init?(parsing text: String) {
        var parameters: [String: String] = [:]
        for piece in text.splitOutsideQuotes(UInt8(ascii: ",")).prefix(32) {
            let (name, value) = piece.cut(at: "=")
            if let value { parameters[name.trimmedASCII.lowercased()] = value.unquoted }
        }
        guard let username = parameters["username"], let nonce = parameters["nonce"], let uri = parameters["uri"],
            let response = parameters["response"],
            // A session's algorithm (`-sess`) is not offered, so a client must not use it.
            let algorithm = DigestAlgorithm(rawValue: parameters["algorithm"]?.uppercased() ?? "MD5")
        else { return nil }
        self.init(
            username: username, nonce: nonce, uri: uri, response: response.lowercased(), algorithm: algorithm,
            quality: nil)
        if let name = parameters["qop"] {
            guard name.lowercased() == "auth", let count = parameters["nc"], let clientNonce = parameters["cnonce"]
            else { return nil }
            quality = (count, clientNonce)
        }
    }
}
