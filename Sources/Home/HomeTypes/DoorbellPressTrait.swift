extension Google {
    /// The button of a doorbell (Home APIs, `DoorbellPressTrait`).
    public struct DoorbellPressTrait: Trait {
        public static let identifier = TraitIdentifier.doorbellPress
        public static let name = "DoorbellPress"
        /// `press` is this gateway's own command. Only the built-in doorbell accepts it.
        public static let supportedCommandTypes = ["press"]
        public static let supportedEventTypes = ["DoorbellPressed"]

        /// Describes the trait, which has no attributes.
        public init() {}

        /// Somebody pressed the button.
        public struct DoorbellPressedEvent: Sendable, Codable, Hashable {
            /// The event's name on the wire.
            public static let name = "DoorbellPressed"
            /// The scoped identifier of the event.
            public static let identifier = "\(TraitIdentifier.doorbellPress).events.0000"

            /// The ring tone that goes with the press.
            public var complementaryToneId: String?
            /// The length of the press in seconds.
            public var doorbellPressTimeSeconds: Int64?
            /// The priority of the event.
            public var priority: Int64?

            /// Describes a press.
            public init(
                complementaryToneId: String? = nil, doorbellPressTimeSeconds: Int64? = nil, priority: Int64? = nil
            ) {
                self.complementaryToneId = complementaryToneId
                self.doorbellPressTimeSeconds = doorbellPressTimeSeconds
                self.priority = priority
            }
        }
    }
}
