/// Which ICE generation a trickled fragment belongs to, where its sender names no entity tag.
///
/// A deviation from the WHEP draft (draft-ietf-wish-whep-03), which asks for 428 then. The players of medooze and Meetecho send no
/// `If-Match`: one loses its candidates by a 428, and the other also covers the picture with an error for each of them. Their
/// fragments name the credentials that the candidates belong to (RFC 8840, section 9), which says the same as the entity tag. WHIP
/// is a standard (RFC 9725, section 4.3.1) whose clients send the header, so there it stays necessary.
extension GatewayAPI {
    /// Whether a fragment names a user name fragment, and no other than the present one. Then it is not late, and it cannot restart
    /// ICE.
    /// - Parameter usernameFragment: the viewer's present one; nil where candidates need the entity tag.
    static func names(_ fragment: String, onlyGenerationOf usernameFragment: String?) -> Bool {
        let named = usernameFragments(in: fragment)
        return !named.isEmpty && named.allSatisfy { $0 == usernameFragment }
    }

    /// The values of `a=ice-ufrag` in a description or a fragment, in order.
    static func usernameFragments(in text: String) -> [String] {
        let name = Array("a=ice-ufrag:".utf8)
        let lines = text.utf8.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        return lines.filter { $0.starts(with: name) }.map { String(decoding: $0.dropFirst(name.count), as: UTF8.self) }
    }
}
