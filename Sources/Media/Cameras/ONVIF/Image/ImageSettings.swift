/// Settings of a camera's picture that the gateway can change. One that is nil is not known, or stays as it is.
public struct ImageSettings: Sendable, Hashable {
    /// Whether a camera sees in the dark.
    public enum NightVision: Sendable, Hashable {
        /// Colours as by day.
        case off
        /// Infrared light reaches the sensor.
        case on
        /// As the camera decides.
        case auto
    }

    /// Whether the camera sees in the dark.
    public var nightVision: NightVision?
    /// Whether it brings out bright and dark parts of one picture.
    public var isHDREnabled: Bool?
    /// By how many degrees it turns the picture, clockwise.
    public var rotation: UInt16?

    /// Names settings.
    public init(nightVision: NightVision? = nil, isHDREnabled: Bool? = nil, rotation: UInt16? = nil) {
        self.nightVision = nightVision
        self.isHDREnabled = isHDREnabled
        self.rotation = rotation
    }

    /// These settings, with those of `newer` in place of their own.
    func with(_ newer: ImageSettings) -> ImageSettings {
        ImageSettings(
            nightVision: newer.nightVision ?? nightVision, isHDREnabled: newer.isHDREnabled ?? isHDREnabled,
            rotation: newer.rotation ?? rotation)
    }
}

/// The settings of a camera's picture as they are, and what they can be.
public struct ImageState: Sendable, Hashable {
    /// The settings that the camera offers; the others are nil.
    public var settings: ImageSettings
    /// What night vision can be set to.
    public var nightVisionModes: Set<ImageSettings.NightVision>
    /// The degrees that the picture can be turned by.
    public var rotations: Set<UInt16>

    /// Describes a camera's picture.
    public init(
        settings: ImageSettings = ImageSettings(), nightVisionModes: Set<ImageSettings.NightVision> = [],
        rotations: Set<UInt16> = []
    ) {
        self.settings = settings
        self.nightVisionModes = nightVisionModes
        self.rotations = rotations
    }
}
