extension DoctorFinding {
    /// Cameras that programs asked for over go2rtc's API and did not get. Home Assistant is named where the program says
    /// that it is Home Assistant.
    static func refusedStreams(_ refusals: [(principal: String, refusal: Go2RTCRefusal)]) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for isHere in [false, true] {
            for isHomeAssistant in [true, false] {
                let group = refusals.filter {
                    $0.refusal.isHere == isHere && $0.refusal.isHomeAssistant == isHomeAssistant
                }
                guard !group.isEmpty else { continue }
                let program = isHomeAssistant ? "Home Assistant" : "A go2rtc client"
                let again = isHomeAssistant ? "open it in Home Assistant again" : "let the client ask again"
                findings.append(
                    DoctorFinding(
                        .camera, .warning,
                        isHere
                            ? "\(program) asked for a camera that its token may not watch and read: \(list(group))."
                            : "\(program) asked for a camera that this gateway does not have: \(list(group)).",
                        advice: isHere
                            ? "Give the token the scope media, or view and read, for the camera."
                            : "Add the camera to the gateway with this address, then \(again)."))
            }
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
