import CCommit

/// The gateway's version.
public enum GatewayVersion {
    /// The version of the last release, or of the next one.
    public static let release = "0.1.0"

    /// The commit that the program was built from, nil where the build did not name it. It ends in `.modified` where the
    /// sources differed from the commit.
    public static var commit: String? {
        let text = String(cString: gatehouse_commit())
        return text.isEmpty ? nil : text
    }

    /// The version that the API and the command line show: the release, and the commit as build metadata (Semantic
    /// Versioning 2.0.0, section 10).
    public static var current: String { commit.map { "\(release)+\($0)" } ?? release }
}
