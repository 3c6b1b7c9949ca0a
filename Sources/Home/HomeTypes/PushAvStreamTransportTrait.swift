extension Google {
    /// Recording connections of a camera (Home APIs, `PushAvStreamTransportTrait`); an active connection is what the
    /// Home API calls a camera that is on.
    public struct PushAvStreamTransportTrait: Trait {
        /// Whether a connection can transport.
        public enum TransportStatusEnum: String, Sendable, Codable, CaseIterable {
            case active, inactive
        }

        /// One recording connection.
        public struct TransportConfigurationStruct: Sendable, Codable, Hashable {
            /// The connection's number, 0 to 65534.
            public var connectionID: UInt16
            /// Whether it can transport.
            public var transportStatus: TransportStatusEnum

            /// Describes a connection.
            public init(connectionID: UInt16, transportStatus: TransportStatusEnum = .active) {
                self.connectionID = connectionID
                self.transportStatus = transportStatus
            }
        }

        public static let identifier = TraitIdentifier.pushAvStreamTransport
        public static let name = "PushAvStreamTransport"
        public static let supportedCommandTypes: [String] = []
        public static let supportedEventTypes: [String] = []

        /// The connections that exist.
        public var currentConnections: [TransportConfigurationStruct]

        /// Describes the trait's state.
        public init(currentConnections: [TransportConfigurationStruct] = []) {
            self.currentConnections = currentConnections
        }
    }
}
