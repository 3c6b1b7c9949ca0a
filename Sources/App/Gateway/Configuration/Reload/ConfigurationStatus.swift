import Foundation

/// How the gateway stands to its config file: what `GET /v1/configuration` answers.
public struct ConfigurationStatus: Sendable, Codable, Equatable {
    /// One thing that is wrong with a file, or that the user should know.
    public struct Problem: Sendable, Codable, Equatable {
        /// The file.
        public var file: String
        /// The line, from 1; 0 when it concerns the whole file.
        public var line: Int
        /// The path of keys, for example `cameras[1].source`; empty when it concerns the whole file.
        public var key: String
        /// What is wrong and what would be right.
        public var reason: String
    }

    /// The config file, or nil for a gateway that was started without one.
    public var file: String?
    /// The file of the API's cameras.
    public var camerasFile: String
    /// When what is in force was read.
    public var loadedAt: Date
    /// What is wrong with the files as they are now. They are not in force then: what was read before is.
    public var problems: [Problem]
    /// Keys that were changed and count from the next start on.
    public var needsRestart: [String]
    /// What is in force and may surprise.
    public var notes: [String]
}

extension GatewayConfiguration {
    /// The keys outside of `cameras` in which another config differs: they cannot be changed while the gateway runs.
    func keysThatNeedRestart(comparedTo other: GatewayConfiguration) -> [String] {
        let pairs: [(String, Bool)] = [
            ("http.host", self.http.host == other.http.host), ("http.port", self.http.port == other.http.port),
            ("http.https", self.http.https == other.http.https),
            ("http.origins", self.http.origins == other.http.origins),
            ("media.port", self.media.port == other.media.port),
            ("media.addresses", self.media.addresses == other.media.addresses),
            ("media.iceServers", self.media.iceServers == other.media.iceServers),
            ("stateDirectory", self.stateDirectory == other.stateDirectory),
            ("sessions", self.sessions == other.sessions), ("log", self.log == other.log),
            ("rtsp", self.rtsp == other.rtsp),
        ]
        return pairs.filter { !$0.1 }.map(\.0)
    }
}
