import Foundation
import HomeHub

/// The state of the config: the response of `GET /v1/configuration`.
public struct ConfigurationStatus: Sendable, Codable, Equatable {
    /// One problem of a file, or something that the user should know.
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
    /// When the settings in force were read.
    public var loadedAt: Date
    /// The problems of the files as they are now. With a problem, the settings that were read before stay in force.
    public var problems: [Problem]
    /// Keys that were changed and take effect at the next start.
    public var needsRestart: [String]
    /// Settings in force that may surprise.
    public var notes: [String]

    /// What the event `configuration` says of it.
    var summary: ConfigurationSummary {
        ConfigurationSummary(loadedAt: loadedAt, problems: problems.count, needsRestart: needsRestart.count)
    }
}

extension GatewayConfiguration {
    /// The keys outside of `cameras` that differ from another config: they cannot be changed while the gateway runs.
    func keysThatNeedRestart(comparedTo other: GatewayConfiguration) -> [String] {
        let pairs: [(String, Bool)] = [
            ("http.host", http.host == other.http.host), ("http.port", http.port == other.http.port),
            ("http.https", http.https == other.http.https),
            ("http.publicURL", http.publicURL == other.http.publicURL),
            ("http.origins", http.origins == other.http.origins),
            ("http.frameAncestors", http.frameAncestors == other.http.frameAncestors),
            ("media.port", media.port == other.media.port),
            ("media.addresses", media.addresses == other.media.addresses),
            ("media.iceServers", media.iceServers == other.media.iceServers),
            ("media.shards", media.shards == other.media.shards),
            ("network.stun", network.stunServers == other.network.stunServers),
            ("network.turn", network.turnServers == other.network.turnServers),
            ("network.tcp", network.tcp == other.network.tcp),
            ("network.mdns", network.multicastDNS == other.network.multicastDNS),
            ("network.portMapping", network.mapsPort == other.network.mapsPort),
            ("stateDirectory", stateDirectory == other.stateDirectory),
            ("sessions", sessions == other.sessions), ("events", events == other.events), ("log", log == other.log),
            ("rtsp", rtsp == other.rtsp), ("rtmp", rtmp == other.rtmp),
            ("go2rtc", offersGo2RTC == other.offersGo2RTC),
            ("recording", recording == other.recording), ("history", history == other.history),
            ("push", push == other.push),
            ("automations", automations == other.automations),
            ("oauth", oauthClients == other.oauthClients), ("cloudToCloud", reportState == other.reportState),
        ]
        return pairs.filter { !$0.1 }.map(\.0)
    }
}
