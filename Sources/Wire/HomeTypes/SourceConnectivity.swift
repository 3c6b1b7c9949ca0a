/// How a trait, type or device is connected (Home APIs, `SourceConnectivity`).
public struct SourceConnectivity: Sendable, Codable, Hashable {
    /// Whether it can be reached.
    public var connectivityState: ConnectivityState
    /// How it is reached.
    public var dataSourceLocality: LocalityType

    /// Describes a connection.
    public init(connectivityState: ConnectivityState, dataSourceLocality: LocalityType) {
        self.connectivityState = connectivityState
        self.dataSourceLocality = dataSourceLocality
    }

    /// The connectivity of something made of `parts`. If all parts agree, it is their value. A mix with anything online
    /// gives `partiallyOnline`, and localities that differ give `mixed`.
    public init(aggregating parts: [SourceConnectivity]) {
        let states = Set(parts.map(\.connectivityState))
        if states.count == 1, let only = states.first {
            connectivityState = only
        } else if states.contains(.online) || states.contains(.partiallyOnline) {
            connectivityState = .partiallyOnline
        } else {
            connectivityState = states.contains(.offline) ? .offline : .unknown
        }
        let localities = Set(parts.map(\.dataSourceLocality))
        dataSourceLocality = localities.count > 1 ? .mixed : localities.first ?? .unspecified
    }
}
