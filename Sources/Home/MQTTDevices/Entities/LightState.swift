/// The state of a light, or the part of it that a message or a command names.
struct LightState: Sendable, Hashable {
    /// The colour, in one of its forms.
    enum Colour: Sendable, Hashable {
        /// Degrees and percent.
        case hueAndSaturation(Double, Double)
        /// A chromaticity.
        case chromaticity(Double, Double)
        /// A white, in mireds.
        case temperature(Double)
    }

    /// Whether it is on.
    var isOn: Bool?
    /// The brightness, from 0 to 1.
    var brightness: Double?
    /// The colour.
    var colour: Colour?
    /// How long a change takes, in seconds; only in commands.
    var transition: Double?
}

extension LightState {
    /// The highest level, hue and saturation (Matter application clusters, sections 1.6 and 3.2).
    static let maximum = 254.0
    /// The factor of a chromaticity (section 3.2).
    private static let chromaticityScale = 65_536.0
    private static let greatestChromaticity = 65_279.0

    /// The attributes that say this.
    var values: TraitValues {
        var values = TraitValues()
        if let isOn { values["OnOff", "onOff"] = .bool(isOn) }
        // A light that is off often reports 0. The level to which it will return stays.
        if let brightness, brightness > 0 {
            values["LevelControl", "currentLevel"] = .integer(Self.level(brightness))
        }
        switch colour {
        case .hueAndSaturation(let hue, let saturation):
            values.merge(TraitValues("ColorControl", Self.attributes(hue: hue, saturation: saturation)))
            values["ColorControl", "colorMode"] = "currentHueAndCurrentSaturation"
        case .chromaticity(let x, let y):
            let colour = MQTTDevices.Colour.hueAndSaturation(x: x, y: y)
            values.merge(TraitValues("ColorControl", Self.attributes(hue: colour.hue, saturation: colour.saturation)))
            values["ColorControl", "currentX"] = .integer(
                Self.whole(x * Self.chromaticityScale, Self.greatestChromaticity))
            values["ColorControl", "currentY"] = .integer(
                Self.whole(y * Self.chromaticityScale, Self.greatestChromaticity))
            values["ColorControl", "colorMode"] = "currentXAndCurrentY"
        case .temperature(let mireds):
            values["ColorControl", "colorTemperatureMireds"] = .integer(Self.whole(mireds, Self.greatestChromaticity))
            values["ColorControl", "colorMode"] = "colorTemperatureMireds"
        case nil: break
        }
        return values
    }

    private static func attributes(hue: Double, saturation: Double) -> [String: JSONValue] {
        [
            "currentHue": .integer(whole(hue / 360 * maximum, maximum)),
            "currentSaturation": .integer(whole(saturation / 100 * maximum, maximum)),
        ]
    }

    /// The level for a brightness from 0 to 1. Only a light that is off has less than 1.
    static func level(_ brightness: Double) -> Int { max(whole(brightness * maximum, maximum), 1) }

    private static func whole(_ value: Double, _ greatest: Double) -> Int {
        Int(nearestTo: value, in: 0...Int(nearestTo: greatest))
    }

    /// The chromaticity for the numbers of the attributes.
    static func chromaticity(x: Double, y: Double) -> Colour {
        .chromaticity(x / chromaticityScale, y / chromaticityScale)
    }
}
