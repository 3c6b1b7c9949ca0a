import HomeTypes

extension GatewayConfiguration {
    /// A virtual device: it exists only in the config, and keeps the state that commands give it.
    public struct Device: Sendable, Equatable {
        /// The key that names it in the config, in paths and in commands.
        public var key: String
        /// The name that people read.
        public var name: String
        /// The names of its device types. Each gets an endpoint of its own, from 1; the first is the primary type.
        public var types: [String]
        /// The name of its room; nil for a device that the config puts nowhere.
        public var room: String?
        /// What its owner knows about it.
        public var information = Matter.BasicInformationTrait.Attributes()

        /// Describes a device.
        public init(key: String, name: String, types: [String], room: String? = nil) {
            self.key = key
            self.name = name
            self.types = types
            self.room = room
        }
    }
}
