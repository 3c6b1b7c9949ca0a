/// The `Session` header (RFC 2326, section 12.37).
public struct SessionHeader: Equatable, Sendable {
    /// The identifier, which goes back to the camera unchanged.
    public var identifier: String
    /// After how many seconds without a sign of life the camera ends the session; 60 where the header does not say.
    public var timeout: Int
    /// Whether the header says the timeout. Only the answer to SETUP has to; later answers may leave it out.
    public var namesTimeout = false

    /// Reads an answer; nil where there is no identifier. A timeout of zero, or one that is not a number, counts as 60.
    public init?(parsing text: String) {
        let parts = text.split(separator: ";").map(\.trimmedASCII)
        guard let identifier = parts.first, !identifier.isEmpty else { return nil }
        self.identifier = identifier
        timeout = 60
        for part in parts.dropFirst() {
            let (name, value) = part.cut(at: "=")
            guard name.trimmedASCII.lowercased() == "timeout", let seconds = value.flatMap({ Int($0.trimmedASCII) }),
                seconds > 0
            else { continue }
            timeout = min(seconds, 86_400)
            namesTimeout = true
        }
    }
}
