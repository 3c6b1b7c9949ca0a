extension GatewayConfiguration {
    /// The automations of the home.
    public struct Automations: Sendable, Equatable {
        /// A receiver of notifications.
        public struct Receiver: Sendable, Equatable {
            /// How it is reached.
            public enum Way: Sendable, Equatable {
                /// A message on a topic of the broker of the section `mqtt`.
                case mqtt(topic: String)
                /// A request to an address that begins with `https://`.
                /// - Parameters:
                ///   - token: sent as a bearer token; nil for none. Never print it.
                ///   - authorities: a PEM file with authorities to trust instead of the system's.
                case https(url: String, token: String?, authorities: String?)
            }

            /// The name by which an automation can choose it.
            public var name: String
            /// How it is reached.
            public var way: Way

            /// Describes a receiver.
            public init(name: String, way: Way) {
                self.name = name
                self.way = way
            }
        }

        /// A sound file that automations play on cameras' speakers.
        public struct Clip: Sendable, Equatable {
            /// The number by which an automation chooses it.
            public var number: UInt8
            /// What people call it.
            public var name: String
            /// The path of a WAV file.
            public var file: String

            /// Describes a clip.
            public init(number: UInt8, name: String, file: String) {
                self.number = number
                self.name = name
                self.file = file
            }
        }

        /// Whether automations run. They can be made and changed either way.
        public var isEnabled = true
        /// How many there may be.
        public var maximum = 10_000
        /// How many days their runs are kept.
        public var days = 30
        /// How many runs of each are kept.
        public var runs = 1_000
        /// The receivers of their notifications.
        public var receivers: [Receiver] = []
        /// The sounds that they can play besides that of a doorbell.
        public var clips: [Clip] = []

        /// The defaults.
        public init() {}
    }
}
