import COpenSSL
import Foundation

/// The key of a service account, which Google's console hands out as a JSON file.
struct ServiceAccount: Sendable {
    /// What is wrong with a key.
    struct Failure: Error, Equatable {
        var reason: String
    }

    /// How long a signed request for a token counts, in seconds.
    static let lifetime = 3_600
    /// What the token is for.
    static let scope = "https://www.googleapis.com/auth/homegraph"

    private struct File: Decodable {
        var client_email: String
        var private_key: String
        var private_key_id: String?
        var token_uri: String?
    }

    /// The account's address.
    let email: String
    /// Where tokens are made.
    let tokenURL: String
    private let keyID: String?
    private let privateKey: String

    /// Reads a key.
    init(json text: String) throws(Failure) {
        guard let file = try? JSONDecoder().decode(File.self, from: Data(text.utf8)) else {
            throw Failure(reason: "the key of the service account is not the JSON that the console hands out")
        }
        self.email = file.client_email
        self.keyID = file.private_key_id
        self.privateKey = file.private_key
        self.tokenURL = file.token_uri ?? "https://oauth2.googleapis.com/token"
        guard URL(string: self.tokenURL)?.scheme == "https" else {
            throw Failure(reason: "token_uri of the service account must begin with https://")
        }
    }

    /// The body of the request for a token (RFC 7523, section 2.1).
    func tokenRequest(at now: Date) throws(Failure) -> String {
        let assertion = try self.assertion(at: now)
        return "grant_type=\(FormBody.encoded("urn:ietf:params:oauth:grant-type:jwt-bearer"))&assertion=\(assertion)"
    }

    /// The signed claim that the account asks for a token (RFC 7519, with RS256 of RFC 7518, section 3.3).
    private func assertion(at now: Date) throws(Failure) -> String {
        let issuedAt = Int(now.timeIntervalSince1970)
        var header = ["alg": "RS256", "typ": "JWT"]
        header["kid"] = keyID
        let claims: [String: Any] = [
            "iss": email, "scope": Self.scope, "aud": tokenURL, "iat": issuedAt, "exp": issuedAt + Self.lifetime,
        ]
        guard let head = try? JSONSerialization.data(withJSONObject: header, options: .sortedKeys),
            let body = try? JSONSerialization.data(withJSONObject: claims, options: .sortedKeys)
        else { throw Failure(reason: "the claim of the service account cannot be written") }
        let signed = "\(Self.encoded(head)).\(Self.encoded(body))"
        guard let signature = signature(of: Array(signed.utf8)) else {
            throw Failure(reason: "private_key of the service account is not an RSA key in PEM")
        }
        return "\(signed).\(Self.encoded(Data(signature)))"
    }

    private func signature(of bytes: [UInt8]) -> [UInt8]? {
        let pem = Array(privateKey.utf8)
        return pem.withUnsafeBytes { pem -> [UInt8]? in
            guard let bio = BIO_new_mem_buf(pem.baseAddress, Int32(clamping: pem.count)) else { return nil }
            defer { BIO_free(bio) }
            guard let key = PEM_read_bio_PrivateKey(bio, nil, nil, nil) else { return nil }
            defer { EVP_PKEY_free(key) }
            guard EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA, let context = EVP_MD_CTX_new() else { return nil }
            defer { EVP_MD_CTX_free(context) }
            var count = 0
            guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
                EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
            else { return nil }
            var signature = [UInt8](repeating: 0, count: count)
            guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else { return nil }
            return Array(signature.prefix(count))
        }
    }

    private static func encoded(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
