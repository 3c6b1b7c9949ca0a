import RTSP

/// What the owner of a source asks for.
extension SourceFindings {
    /// What has been found out about the camera.
    var report: CameraReport {
        var report = CameraReport()
        report.profile = profile.fields
        report.notes = notes
        return report
    }

    /// What counts the refused logins at a host.
    func logins(at host: String, _ credentials: RTSPCredentials?) -> CameraLogins {
        CameraLogins(host: host, credentials: credentials, ledger: logins)
    }

    /// Counts logins together with another source, where both sign in at the same host with the same credentials.
    func share(_ other: CameraLogins, at host: String, _ credentials: RTSPCredentials?) {
        guard host == other.host, credentials != nil, credentials == other.credentials else { return }
        share(other.ledger)
    }
}
