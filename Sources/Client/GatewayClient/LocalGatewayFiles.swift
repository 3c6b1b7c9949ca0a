import Foundation
import Glibc

/// What a gateway on this machine leaves for programs of the same user: its address and the owner's token.
public struct LocalGatewayFiles: Sendable, Hashable {
    private struct Running: Decodable {
        var url: String
        var stateDirectory: String
    }

    /// The gateway's address.
    public var address: String
    /// The owner's token.
    public var token: String

    /// Reads the files of the gateway on this machine; nil if this user may not use one.
    /// - Parameter environment: `STATE_DIRECTORY`, `XDG_STATE_HOME` and `HOME` say where the files are.
    public init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let folder = Self.standardFolder(environment)
        guard let text = FileManager.default.contents(atPath: folder + "/running.json"),
            let running = try? JSONDecoder().decode(Running.self, from: text),
            let tokens = FileManager.default.contents(atPath: running.stateDirectory + "/token")
        else { return nil }
        // The owner's token is the one without a name after it.
        let owners = String(decoding: tokens, as: UTF8.self).split(separator: "\n")
            .map { $0.split(whereSeparator: \.isWhitespace) }
            .filter { $0.count == 1 && !$0[0].hasPrefix("#") }
        guard let token = owners.first?.first else { return nil }
        address = running.url
        self.token = String(token)
    }

    private static func standardFolder(_ environment: [String: String]) -> String {
        if let given = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(given) }
        if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") { return base + "/gatehouse" }
        if geteuid() == 0 { return "/var/lib/gatehouse" }
        return (environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path) + "/.local/state/gatehouse"
    }
}
