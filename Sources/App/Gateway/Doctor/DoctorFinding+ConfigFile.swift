extension DoctorFinding {
    /// An entry of the config file that does not count, because its camera was changed or removed over the API.
    static func replaced(_ entry: ConfigurationKeeper.ReplacedEntry) -> DoctorFinding {
        let what = entry.isRemoved ? "removed" : "changed"
        let since = entry.hasChangedSince ? " The entry in the config file has changed since then." : ""
        let words = entry.isRemoved ? "Bring back" : "Use the config file\u{2019}s settings again"
        return DoctorFinding(
            .camera, .note,
            "This camera\u{2019}s entry in the config file is ignored, because the camera was \(what) on the page "
                + "or over the API.\(since)",
            device: entry.name,
            advice: "To use the entry again, choose \u{201C}\(words)\u{201D} in the settings on the page.")
    }

    /// Why what the config file says is not in force, or not all of it.
    static func configuration(_ status: ConfigurationStatus) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        if let first = status.problems.first {
            let problem = ConfigurationError.Problem(line: first.line, key: first.key, reason: first.reason)
            let count = status.problems.count
            let what = count == 1 ? "a problem" : "\(count) problems"
            let option = status.file.map { " --config \($0)" } ?? ""
            findings.append(
                DoctorFinding(
                    .configuration, .failure,
                    "The config has \(what), so the gateway keeps the settings that it read before: "
                        + "\(first.file): \(problem)",
                    advice: "Correct the file, and the gateway applies it. It cannot start again before that. "
                        + "gatehouse serve\(option) --check lists every problem."))
        }
        if !status.needsRestart.isEmpty {
            findings.append(
                DoctorFinding(
                    .configuration, .note,
                    "Changes to the config wait for the next start: \(status.needsRestart.joined(separator: ", ")).",
                    advice: "Restart the gateway."))
        }
        return findings
    }

    /// Rules for the recordings of a camera that does not exist.
    static func rulesWithoutCamera(_ id: String) -> DoctorFinding {
        DoctorFinding(
            .configuration, .warning,
            "The config has rules for the recordings of \(id), but no camera has this id.",
            advice: "Correct the id under recording.cameras, and restart the gateway.")
    }
}
