/// A camera that a program asked for over the API of go2rtc, and did not get.
struct Go2RTCRefusal: Sendable, Equatable {
    /// What the program calls the stream. Home Assistant uses the entity's name, such as `camera.yard`.
    let name: String
    /// The address that it gave, with marks in place of passwords.
    let source: String
    /// Whether a camera of the gateway has this address, so that the token lacks rights.
    let isHere: Bool
    /// Whether the program says that it is Home Assistant. The WebRTC card and others speak the same API.
    let isHomeAssistant: Bool

    /// - Parameters:
    ///   - source: the address as the program gave it.
    ///   - userAgent: what the program calls itself (`User-Agent`, RFC 9110, section 10.1.5).
    init(name: String, source: String, isHere: Bool, userAgent: String? = nil) {
        self.name = Self.key(of: name)
        self.source = Self.shown(Self.masked(source))
        self.isHere = isHere
        self.isHomeAssistant = userAgent?.hasPrefix("HomeAssistant/") ?? false
    }

    /// The name under which a refusal is kept. Some programs use the address as the name.
    static func key(of name: String) -> String { shown(name.contains("://") ? masked(name) : name) }

    /// An address without its passwords and its query. Of what is not an address, only the beginning.
    private static func masked(_ source: String) -> String {
        let scheme = source.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) }
        guard source[scheme.endIndex...].hasPrefix("://") else { return "\(scheme.prefix(32)):…" }
        return String(CameraAddress(text: source).masked.prefix { $0 != "?" && $0 != "#" })
    }

    /// A text of a program, on one line of a sensible length.
    private static func shown(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(160).map { isVisible($0) ? $0 : " " }))
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }

    /// What happened.
    func words(principal: String) -> String {
        isHere
            ? "A program with the token of \(principal) asked for a camera that this token may not watch and read."
            : "A program with the token of \(principal) asked for a camera that this gateway does not have."
    }
}
