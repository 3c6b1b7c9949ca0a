import Foundation

/// Says to push services who sends (RFC 8292): a claim for one service and some hours, signed with the gateway's key (ES256). A
/// browser subscribes for this key, so nobody else can send to it.
struct VAPID: Sendable {
    /// Where the key is kept in the state folder.
    static let file = "push-key.pem"
    /// How long a claim is valid, in seconds. A day is the most (RFC 8292, section 2).
    static let lifetime: TimeInterval = 12 * 3_600

    let key: P256Key

    /// The gateway's key; a new one at the first start. If it is lost, every browser has to subscribe again.
    static func openOrCreate(in directory: StateDirectory) throws -> VAPID {
        if let pem = try directory.readPrivate(file) { return VAPID(key: try P256Key(pem: pem)) }
        let made = try P256Key.make()
        try directory.writePrivate(file, made.pem)
        return VAPID(key: made)
    }

    /// The public key as browsers take it (`applicationServerKey`).
    var publicKey: String { Base64URL.text(key.publicKey) }

    /// The header `Authorization` of a request.
    /// - Parameters:
    ///   - audience: the origin of the push service.
    ///   - subject: how the service reaches the sender: a `mailto:` or an `https:` URL.
    func authorization(
        for audience: String, subject: String, at now: Date
    ) throws(P256Key.Failure) -> String {
        let claims: [String: Any] = [
            "aud": audience, "exp": Int(now.timeIntervalSince1970 + Self.lifetime), "sub": subject,
        ]
        guard
            let body = try? JSONSerialization.data(
                withJSONObject: claims, options: [.sortedKeys, .withoutEscapingSlashes])
        else { throw P256Key.Failure(step: "writing the claim") }
        let signed = "\(Self.header).\(Base64URL.text(body))"
        let signature = try key.signature(of: Array(signed.utf8))
        return "vapid t=\(signed).\(Base64URL.text(signature)), k=\(publicKey)"
    }

    private static let header = Base64URL.text(Array(#"{"alg":"ES256","typ":"JWT"}"#.utf8))
}
