import HomeTypes

/// What validation knows of the home at one moment.
public struct ValidationHome: Sendable {
    /// A device.
    public struct Device: Sendable {
        /// One part of it.
        public struct Part: Sendable {
            /// The names of its types, without those that these include.
            public var types: [String]
            /// Its traits with their state.
            public var traits: TraitCollection

            /// Describes a part.
            public init(types: [String], traits: TraitCollection) {
                self.types = types
                self.traits = traits
            }
        }

        /// The parts.
        public var parts: [Part]
        /// The names of detections that it sends without a trait, for example `CameraMotion`.
        public var detectionTraits: Set<String>
        /// For how many whole days it has been offline.
        public var daysOffline: Int

        /// Describes a device.
        public init(parts: [Part], detectionTraits: Set<String> = [], daysOffline: Int = 0) {
            self.parts = parts
            self.detectionTraits = detectionTraits
            self.daysOffline = daysOffline
        }
    }

    /// The structure that the automation belongs to.
    public var structureID: String
    /// The structure's traits.
    public var structureTraits: Set<String>
    /// Whether the structure has coordinates, which the times of the sun need.
    public var hasCoordinates: Bool
    /// The devices of the structure, by their identifiers.
    public var devices: [String: Device]
    /// Whether the owner of the automation has the right to unlock, open and change locks.
    public var permitsBlockedActions: Bool
    /// The devices that the owner has this right for, if not for the structure.
    public var unlockableDevices: Set<String> = []

    /// Describes a home.
    public init(
        structureID: String,
        structureTraits: Set<String> = ["Time", "AreaPresenceState", "AreaAttendanceState", "Notification"],
        hasCoordinates: Bool = true, devices: [String: Device] = [:], permitsBlockedActions: Bool = false
    ) {
        self.structureID = structureID
        self.structureTraits = structureTraits
        self.hasCoordinates = hasCoordinates
        self.devices = devices
        self.permitsBlockedActions = permitsBlockedActions
    }
}
