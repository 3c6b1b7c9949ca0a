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
        /// The names of traits that it has, or may have, without a state: the detections of a camera, for example `CameraMotion`,
        /// and what is found when it connects.
        public var statelessTraits: Set<String>
        /// How many whole days it has been offline.
        public var daysOffline: Int
        /// After how many days offline a device gets a warning.
        public static let longAbsence = 7

        /// Describes a device.
        public init(parts: [Part], statelessTraits: Set<String> = [], daysOffline: Int = 0) {
            self.parts = parts
            self.statelessTraits = statelessTraits
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
