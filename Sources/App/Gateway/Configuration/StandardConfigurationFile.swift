import Foundation
import Glibc

/// The config file of a gateway that is started without `--config`.
public enum StandardConfigurationFile {
    static let fileName = "gatehouse.yaml"

    /// Where the file is, whether it exists or not: in the folder from the service manager, then the XDG base directory,
    /// then in `/etc/gatehouse` for root and `~/.config/gatehouse` for everybody else.
    public static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        "\(folder(environment))/\(fileName)"
    }

    /// The path of the file, nil if there is none.
    public static func existing(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        let path = path(environment: environment)
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }

    private static func folder(_ environment: [String: String]) -> String {
        // systemd gives a colon-separated list; the first folder is ours.
        if let given = environment["CONFIGURATION_DIRECTORY"]?.split(separator: ":").first { return String(given) }
        if let base = environment["XDG_CONFIG_HOME"], base.hasPrefix("/") { return base + "/gatehouse" }
        if geteuid() == 0 { return "/etc/gatehouse" }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/.config/gatehouse"
    }
}
