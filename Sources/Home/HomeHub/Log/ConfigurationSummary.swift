import Foundation
import HomeTypes

/// What watchers learn when the config or the settings of the cameras have changed: the data of the event `configuration`.
/// It has no settings. A client decides with it whether to read `GET /v1/configuration` and `GET /v1/cameras` again.
///
/// In the log it replaces the one before, like a device's state. An event without a state would stay for a year, and this
/// one says nothing that the next does not make obsolete. The state that a new watcher gets does not include it, because
/// that watcher reads both answers anyway.
public struct ConfigurationSummary: Sendable, Codable, Hashable {
    /// When the settings in force were read.
    public var loadedAt: Date
    /// How many problems the files have.
    public var problems: Int
    /// How many keys were changed and take effect at the next start.
    public var needsRestart: Int

    /// Summarizes the state of the config.
    public init(loadedAt: Date, problems: Int, needsRestart: Int) {
        self.loadedAt = loadedAt
        self.problems = problems
        self.needsRestart = needsRestart
    }

    /// What its entries in the change log are about.
    static let subject = "configuration"

    /// Whether a watcher gets the event: it may read `GET /v1/configuration` and `GET /v1/cameras`, which need the same
    /// scope.
    static func isSeen(_ access: Access) -> Bool { access.permits(.admin, .home) }
}

extension HomeHub {
    /// Reports that `GET /v1/configuration` or `GET /v1/cameras` answers something else.
    public func take(_ summary: ConfigurationSummary) {
        publish(.configuration(summary))
    }
}
