/// A sensor that measures one thing.
struct SensorEntity: Entity {
    let kind: EntityKind
    let deviceType: String?
    private let quantity: Quantity
    private let source: ValueSource
    private let unit: String

    /// What it measures.
    private enum Quantity: Sendable {
        case temperature, humidity, battery, airQualityIndex
        case concentration(trait: String, unit: String)
    }

    /// The classes whose readings do not have a trait in the home's vocabulary, or not one that a person would miss.
    private static let quantities: [String: Quantity] = [
        "temperature": .temperature, "humidity": .humidity, "battery": .battery, "aqi": .airQualityIndex,
        "carbon_dioxide": .concentration(trait: "CarbonDioxideConcentrationMeasurement", unit: "ppm"),
        "carbon_monoxide": .concentration(trait: "CarbonMonoxideConcentrationMeasurement", unit: "ppm"),
        "nitrogen_dioxide": .concentration(trait: "NitrogenDioxideConcentrationMeasurement", unit: "ugm3"),
        "ozone": .concentration(trait: "OzoneConcentrationMeasurement", unit: "ugm3"),
        "pm1": .concentration(trait: "Pm1ConcentrationMeasurement", unit: "ugm3"),
        "pm25": .concentration(trait: "Pm25ConcentrationMeasurement", unit: "ugm3"),
        "pm10": .concentration(trait: "Pm10ConcentrationMeasurement", unit: "ugm3"),
        "volatile_organic_compounds": .concentration(
            trait: "TotalVolatileOrganicCompoundsConcentrationMeasurement", unit: "ugm3"),
        "volatile_organic_compounds_parts": .concentration(
            trait: "TotalVolatileOrganicCompoundsConcentrationMeasurement", unit: "ppb"),
    ]

    /// Returns nil for a sensor whose readings do not have a trait in the home.
    init?(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        guard let quantity = Self.quantities[configuration.string("device_class") ?? ""] else { return nil }
        // Values inside the device, such as its processor's temperature, do not describe its surroundings.
        if configuration.string("entity_category") == "diagnostic", configuration.string("device_class") != "battery" {
            return nil
        }
        guard let source = try configuration.source("state_topic", "value_template") else {
            throw DiscoveryProblem("state_topic is missing")
        }
        self.quantity = quantity
        self.source = source
        unit = configuration.string("unit_of_measurement") ?? ""
        switch quantity {
        case .temperature: (kind, deviceType) = (.temperatureSensor, "TemperatureSensorDeviceType")
        case .humidity: (kind, deviceType) = (.humiditySensor, "HumiditySensorDeviceType")
        case .battery: (kind, deviceType) = (.supplement, nil)
        case .airQualityIndex, .concentration: (kind, deviceType) = (.airQualitySensor, "AirQualitySensorDeviceType")
        }
    }

    var topics: Set<String> { [source.topic] }

    var initial: TraitValues {
        switch quantity {
        case .temperature: return TraitValues("TemperatureMeasurement", ["measuredValue": .null])
        case .humidity: return TraitValues("RelativeHumidityMeasurement", ["measuredValue": .null])
        case .battery:
            return TraitValues("ExtendedPowerSource", ["batPercentRemaining": .null, "batChargeLevel": .null])
        case .airQualityIndex: return TraitValues("AirQuality", ["airQuality": "unknown"])
        case .concentration(let trait, let standard):
            var values = TraitValues("AirQuality", ["airQuality": "unknown"])
            values[trait, "measuredValue"] = .null
            values[trait, "measurementUnit"] = .string(Self.units[unit] ?? standard)
            values[trait, "measurementMedium"] = "air"
            return values
        }
    }

    private static let units = ["ppm": "ppm", "ppb": "ppb", "µg/m³": "ugm3", "μg/m³": "ugm3", "mg/m³": "mgm3"]

    func read(
        _ payload: MQTTPayload, from topic: String, with known: TraitValues
    ) throws(UnreadablePayload) -> EntityReading {
        guard let value = try source.number(payload) else { return EntityReading() }
        switch quantity {
        case .temperature:
            let celsius = unit == "°F" ? (value - 32) / 1.8 : unit == "K" ? value - 273.15 : value
            guard (-273.15...327.67).contains(celsius) else { throw UnreadablePayload("\(value) is not a temperature") }
            return Self.reading("TemperatureMeasurement", "measuredValue", .integer(Int(nearestTo: celsius * 100)))
        case .humidity:
            guard (0...100).contains(value) else { throw UnreadablePayload("\(value) is not a percentage") }
            return Self.reading("RelativeHumidityMeasurement", "measuredValue", .integer(Int(nearestTo: value * 100)))
        case .battery:
            guard (0...100).contains(value) else { throw UnreadablePayload("\(value) is not a percentage") }
            // The cluster counts in half percent (Matter core specification, section 11.7.7).
            var reading = Self.reading(
                "ExtendedPowerSource", "batPercentRemaining", .integer(Int(nearestTo: value * 2)))
            reading.values["ExtendedPowerSource", "batChargeLevel"] =
                .string(value <= 10 ? "critical" : value <= 20 ? "warning" : "ok")
            return reading
        case .airQualityIndex:
            let words = ["good", "fair", "moderate", "poor", "veryPoor", "extremelyPoor"]
            // The bounds of the United States' index.
            let position = [50.0, 100, 150, 200, 300].firstIndex { value <= $0 } ?? 5
            return Self.reading("AirQuality", "airQuality", .string(words[position]))
        case .concentration(let trait, _):
            guard value >= 0 else { throw UnreadablePayload("\(value) is not a concentration") }
            return Self.reading(trait, "measuredValue", .number(value))
        }
    }

    private static func reading(_ trait: String, _ attribute: String, _ value: JSONValue) -> EntityReading {
        EntityReading(values: TraitValues(trait, [attribute: value]))
    }
}
