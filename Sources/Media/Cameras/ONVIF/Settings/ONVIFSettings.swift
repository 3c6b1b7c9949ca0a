/// Settings of a camera's picture and sound that the gateway can change by ONVIF. One that is nil is not known, or stays as it is.
public struct ONVIFSettings: Sendable, Hashable {
    /// Whether a camera sees in the dark.
    public enum NightVision: Sendable, Hashable, CaseIterable {
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
    /// How loud its loudspeaker is.
    public var speakerLevel: UInt8?

    /// Names settings.
    public init(
        nightVision: NightVision? = nil, isHDREnabled: Bool? = nil, rotation: UInt16? = nil, speakerLevel: UInt8? = nil
    ) {
        self.speakerLevel = speakerLevel
        self.nightVision = nightVision
        self.isHDREnabled = isHDREnabled
        self.rotation = rotation
    }

    /// These settings, with those of `newer` in place of their own.
    func with(_ newer: ONVIFSettings) -> ONVIFSettings {
        ONVIFSettings(
            nightVision: newer.nightVision ?? nightVision, isHDREnabled: newer.isHDREnabled ?? isHDREnabled,
            rotation: newer.rotation ?? rotation, speakerLevel: newer.speakerLevel ?? speakerLevel)
    }
}

/// The settings of a camera as they are, and what they can be.
public struct ONVIFSettingsState: Sendable, Hashable {
    /// The settings that the camera offers; the others are nil.
    public var settings: ONVIFSettings
    /// What night vision can be set to.
    public var nightVisionModes: Set<ONVIFSettings.NightVision>
    /// The degrees that the picture can be turned by.
    public var rotations: Set<UInt16>
    /// The lowest and the highest level of the loudspeaker; nil where it has no level that can be changed.
    public var speakerLevels: ClosedRange<UInt8>?

    /// Describes the settings.
    public init(
        settings: ONVIFSettings = ONVIFSettings(), nightVisionModes: Set<ONVIFSettings.NightVision> = [],
        rotations: Set<UInt16> = [], speakerLevels: ClosedRange<UInt8>? = nil
    ) {
        self.speakerLevels = speakerLevels
        self.settings = settings
        self.nightVisionModes = nightVisionModes
        self.rotations = rotations
    }
}
