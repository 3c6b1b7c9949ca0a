import HomeTypes

/// What the history records of an attribute.
enum HistoryRule: Sendable, Hashable {
    /// Nothing: it says nothing about the home, or changes on its own.
    case ignored
    /// Each transition. One that flaps is merged.
    case each
    /// Numbers: changes in quick succession are one item.
    case merged
    /// Readings: like `merged`, but only if the value differs by this much from the one that was last recorded.
    case beyond(Double)
    /// Readings whose jitter grows with the value: the same, with a fraction of the last value.
    case beyondShare(Double)

    /// The rule for a value of an attribute.
    init(_ trait: String, _ attribute: String, _ value: JSONObject.Value) {
        if Self.quietTraits.contains(trait) || Self.clocks.contains(attribute) {
            self = .ignored
            return
        }
        switch value {
        case .bool, .text, .null: self = .each
        case .integer, .large, .number:
            if let rule = Self.readings["\(trait).\(attribute)"] {
                self = rule
            } else if trait.hasSuffix("ConcentrationMeasurement") {
                self = .beyondShare(0.1)
            } else {
                self = .merged
            }
        // What is configured, and not what happens.
        case .list, .object: self = .ignored
        }
    }

    /// Traits that describe a device, or what it can do.
    private static let quietTraits: Set<String> = [
        "BasicInformation", "Identify", "WebRtcLiveView", "Time", "Switch", "ExtendedGeneralDiagnostics",
    ]

    /// Attributes that count by themselves.
    private static let clocks: Set<String> = [
        "remainingTime", "onTime", "offWaitTime", "countdownTime", "identifyTime", "sampledPosition", "startTime",
    ]

    /// In the units of the attributes: hundredths of a degree, hundredths of a percent, percent.
    private static let readings: [String: HistoryRule] = [
        "TemperatureMeasurement.measuredValue": .beyond(50),
        "Thermostat.localTemperature": .beyond(50),
        "RelativeHumidityMeasurement.measuredValue": .beyond(200),
        "ExtendedPowerSource.batPercentRemaining": .beyond(10),
    ]

    /// Whether the attribute belongs to a sensor, whose small changes are left out.
    var isReading: Bool {
        switch self {
        case .beyond, .beyondShare: true
        case .ignored, .each, .merged: false
        }
    }

    /// Whether to record a value after the one that was last recorded.
    func isNoteworthy(_ new: JSONObject.Value, after old: JSONObject.Value) -> Bool {
        guard let first = old.double, let second = new.double else { return true }
        return switch self {
        case .beyond(let step): abs(second - first) >= step
        case .beyondShare(let share): abs(second - first) >= max(abs(first) * share, .leastNonzeroMagnitude)
        case .ignored: false
        case .each, .merged: true
        }
    }
}

extension JSONObject.Value {
    /// The value of a number.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .large(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .text, .list, .object: nil
        }
    }
}
