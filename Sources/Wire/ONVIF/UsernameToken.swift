import COpenSSL
import RTSP
import Transport
import XML

/// WS-Security's UsernameToken with a password digest (WSS UsernameToken Profile 1.1, section 3.1), by which ONVIF
/// devices authenticate SOAP messages (ONVIF Core, section 5.9.4).
///
/// The profile requires SHA-1. The digest covers a fresh nonce and the time, and the device keeps the nonces of the
/// last minutes. So an eavesdropper needs the password; a collision does not help.
public struct UsernameToken: Sendable {
    private let user: String
    private let digest: String
    private let nonce: String
    private let created: String

    /// Makes a token for one message.
    /// - Parameters:
    ///   - credentials: the name and the password.
    ///   - created: the time by the **camera's** clock: devices refuse a token that is older than a few seconds.
    ///   - nonce: random bytes that no other message uses.
    /// - Returns: nil where libcrypto refuses SHA-1.
    public init?(credentials: RTSPCredentials, created: WallTime, nonce: [UInt8]) {
        self.init(credentials: credentials, createdText: XMLDateTime.text(created), nonce: nonce)
    }

    /// Makes a token from the text of a time, for the example in ONVIF's guide.
    init?(credentials: RTSPCredentials, createdText created: String, nonce: [UInt8]) {
        let input = nonce + Array(created.utf8) + Array(credentials.password.utf8)
        var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_Digest(input, input.count, &hash, &count, EVP_sha1(), nil) == 1 else { return nil }
        user = credentials.user
        digest = Base64.encode(Array(hash.prefix(Int(count))))
        self.nonce = Base64.encode(nonce)
        self.created = created
    }

    /// The `Security` header of the message.
    var xml: String {
        let profile = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss"
        return """
            <wsse:Security xmlns:wsse="\(XMLNamespace.security)" xmlns:wsu="\(XMLNamespace.securityUtility)" \
            s:mustUnderstand="1"><wsse:UsernameToken><wsse:Username>\(user.escapedForXML)</wsse:Username>\
            <wsse:Password Type="\(profile)-username-token-profile-1.0#PasswordDigest">\(digest)</wsse:Password>\
            <wsse:Nonce EncodingType="\(profile)-soap-message-security-1.0#Base64Binary">\(nonce)</wsse:Nonce>\
            <wsu:Created>\(created)</wsu:Created></wsse:UsernameToken></wsse:Security>
            """
    }
}

extension UsernameToken: CustomStringConvertible, CustomReflectable {
    public var description: String { "a token for \(user)" }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
