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
}
