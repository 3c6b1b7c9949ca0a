import Foundation
import HomeTypes

/// Values of attributes as people read them.
enum AttributeText {
    /// A value.
    static func words(_ value: JSONObject.Value?, trait: String? = nil, attribute: String? = nil) -> String {
        if let trait, let attribute, let number = number(value) {
            if let words = measured(number, "\(trait).\(attribute)") { return words }
        }
        switch value {
        case nil, .null?: return "-"
        case .bool(let value)?:
            if attribute == "onOff" { return value ? "on" : "off" }
            return value ? "true" : "false"
        case .text(let text)?: return text
        case .integer(let number)?: return "\(number)"
        case .large(let number)?: return "\(number)"
        case .number(let number)?: return "\(number)"
        case .list(let list)?: return "[\(list.map { words($0) }.joined(separator: ", "))]"
        case .object(let members)?:
            return
                "{\(members.sorted { $0.key < $1.key }.map { "\($0.key): \(words($0.value))" }.joined(separator: ", "))}"
        }
    }

    private static func number(_ value: JSONObject.Value?) -> Double? {
        switch value {
        case .integer(let number)?: Double(number)
        case .large(let number)?: Double(number)
        case .number(let number)?: number
        default: nil
        }
    }

    /// Attributes in hundredths of a degree Celsius.
    static let temperatures: Set<String> = [
        "TemperatureMeasurement.measuredValue", "Thermostat.localTemperature", "Thermostat.occupiedHeatingSetpoint",
        "Thermostat.occupiedCoolingSetpoint", "Thermostat.unoccupiedHeatingSetpoint",
        "Thermostat.unoccupiedCoolingSetpoint", "Thermostat.minHeatSetpointLimit", "Thermostat.maxHeatSetpointLimit",
        "Thermostat.minCoolSetpointLimit", "Thermostat.maxCoolSetpointLimit",
    ]

    /// A number with its unit; nil for one that has none.
    private static func measured(_ number: Double, _ name: String) -> String? {
        switch name {
        case "LevelControl.currentLevel": "\(Int((number / 254 * 100).rounded())) %"
        case _ where temperatures.contains(name): String(format: "%.1f °C", number / 100)
        case "OccupancySensing.occupancy":
            number.truncatingRemainder(dividingBy: 2) == 1 ? "occupied" : "unoccupied"
        case "RelativeHumidityMeasurement.measuredValue": String(format: "%.0f %%", number / 100)
        case "WindowCovering.currentPositionLiftPercent100ths": String(format: "%.0f %% closed", number / 100)
        case "FanControl.percentCurrent", "Brightness.brightness": "\(Int(number)) %"
        default: nil
        }
    }

    /// What a list of devices shows, in this order: the first that a device has, and with `onOff` its level.
    private static let telling = [
        ("OnOff", "onOff"), ("LevelControl", "currentLevel"), ("DoorLock", "lockState"),
        ("WindowCovering", "currentPositionLiftPercent100ths"), ("FanControl", "percentCurrent"),
        ("Thermostat", "localTemperature"), ("TemperatureMeasurement", "measuredValue"),
        ("RelativeHumidityMeasurement", "measuredValue"), ("OccupancySensing", "occupancy"),
        ("BooleanState", "stateValue"), ("AirQuality", "airQuality"), ("Switch", "currentPosition"),
    ]

    /// The most telling values of a device; empty where it has none.
    static func summary(of device: DeviceSnapshot) -> String {
        var parts: [String] = []
        for (trait, attribute) in telling where parts.count < 2 {
            guard let value = members(device.traits[trait])[attribute], value != .null else { continue }
            // The level of a lamp that is off says nothing.
            if trait == "LevelControl", parts == ["off"] { continue }
            parts.append(words(value, trait: trait, attribute: attribute))
        }
        return parts.joined(separator: ", ")
    }

    /// The attributes of a trait.
    static func members(_ trait: (any Trait)?) -> [String: JSONObject.Value] {
        guard let trait, let data = try? JSONEncoder().encode(trait) else { return [:] }
        return (try? JSONDecoder().decode(JSONObject.self, from: data).members) ?? [:]
    }
}
