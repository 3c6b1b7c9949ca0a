/// A camera that a program asked for over the API of go2rtc, and did not get.
struct Go2RTCRefusal: Sendable, Equatable {
    /// What the program calls the stream. Home Assistant uses the entity's name, such as `camera.yard`.
    let name: String
    /// The address that it gave, with marks in place of passwords.
    let source: String
    /// Whether a camera of the gateway has this address, so that the token lacks rights.
    let isHere: Bool

    /// - Parameter source: the address as the program gave it.
    init(name: String, source: String, isHere: Bool) {
        self.name = Self.key(of: name)
        self.source = Self.shown(Self.masked(source))
        self.isHere = isHere
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
            : "A program with the token of \(principal) asked for a camera that is not here."
    }
}

extension DoctorFinding {
    /// Cameras that Home Assistant, or another program that speaks go2rtc's API, asked for and did not get.
    static func refusedStreams(_ refusals: [(principal: String, refusal: Go2RTCRefusal)]) -> [DoctorFinding] {
        let missing = refusals.filter { !$0.refusal.isHere }
        let forbidden = refusals.filter { $0.refusal.isHere }
        var findings: [DoctorFinding] = []
        if !missing.isEmpty {
            findings.append(
                DoctorFinding(
                    .camera, .warning,
                    "Home Assistant asked for a camera that is not here: \(list(missing)).",
                    advice: "Add the camera to the gateway with this address, then open it in Home Assistant again."))
        }
        if !forbidden.isEmpty {
            findings.append(
                DoctorFinding(
                    .camera, .warning,
                    "Home Assistant asked for a camera that its token may not watch and read: \(list(forbidden)).",
                    advice: "Give the token the scope media, or view and read, for the camera."))
        }
        return findings
    }

    private static func list(_ refusals: [(principal: String, refusal: Go2RTCRefusal)]) -> String {
        let shown = refusals.prefix(8).map { principal, refusal in
            "\(refusal.name) at \(refusal.source) (token of \(principal))"
        }
        let rest = refusals.count - shown.count
        return shown.joined(separator: ", ") + (rest > 0 ? ", and \(rest) more" : "")
    }
}
