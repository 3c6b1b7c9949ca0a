import HomeTypes
import Testing

/// What the home is to have, name by name. The lists are those of the Home APIs that apps use.
@Suite struct VocabularyListTests {
    private static let matter = [
        "OnOff", "LevelControl", "ColorControl", "FanControl", "WindowCovering", "DoorLock", "Thermostat",
        "TemperatureMeasurement", "RelativeHumidityMeasurement", "OccupancySensing", "BooleanState", "BasicInformation",
        "Identify", "MediaPlayback", "TemperatureControl", "OperationalState", "OvenCavityOperationalState",
        "RvcOperationalState", "RvcRunMode", "AirQuality", "CarbonMonoxideConcentrationMeasurement",
        "CarbonDioxideConcentrationMeasurement", "NitrogenDioxideConcentrationMeasurement",
        "OzoneConcentrationMeasurement", "Pm25ConcentrationMeasurement", "FormaldehydeConcentrationMeasurement",
        "Pm1ConcentrationMeasurement", "Pm10ConcentrationMeasurement",
        "TotalVolatileOrganicCompoundsConcentrationMeasurement", "RadonConcentrationMeasurement", "Switch",
        "SmokeCoAlarm", "Matter.PushAvStreamTransport",
    ]
    private static let google = [
        "WebRtcLiveView", "PushAvStreamTransport", "DoorbellPress", "CameraAvStreamManagement", "Chime", "ChimeThemes",
        "Time", "AreaPresenceState", "AreaAttendanceState", "CameraHistory", "SimplifiedOnOff", "SimplifiedThermostat",
        "Brightness", "Volume", "Toggles", "ExtendedMediaInput", "ExtendedFanControl", "ExtendedThermostat",
        "ExtendedPowerSource", "ConfigurationDone", "LightEffects", "VoiceStarter", "AssistantBroadcast",
        "AssistantFulfillment", "ExtendedGeneralDiagnostics", "Unknown", "Notification", "CameraSnapshot",
    ]
    private static let deviceTypes = [
        "GoogleCamera", "GoogleDoorbell", "Doorbell", "OnOffLight", "DimmableLight", "ColorTemperatureLight",
        "ExtendedColorLight", "OnOffPluginUnit", "DimmablePlugInUnit", "OnOffLightSwitch", "GenericSwitch", "Fan",
        "WindowCovering", "GarageDoor", "DoorLock", "Thermostat", "TemperatureSensor", "HumiditySensor",
        "OccupancySensor", "ContactSensor", "MotionSensor", "SmokeCOAlarm", "AirQualitySensor", "Chime", "Speaker",
        "GoogleTV",
        "GoogleDisplay", "OtaRequestor", "RootNode", "Unknown",
    ]

    @Test func `the traits are those of the list, in their namespaces`() {
        let names = Vocabulary.traits.map { $0.name }
        #expect(names.sorted() == (Self.matter + Self.google).sorted())
        for name in Self.matter {
            #expect(
                Vocabulary.trait(named: name)?.identifier.hasPrefix("home.matter.0000.clusters.") == true, "\(name)")
        }
        for name in Self.google {
            #expect(
                Vocabulary.trait(named: name)?.identifier.hasPrefix("home.matter.6006.clusters.") == true, "\(name)")
        }
    }

    @Test func `the device types are those of the list`() {
        #expect(Vocabulary.deviceTypes.map { $0.name }.sorted() == Self.deviceTypes.map { "\($0)DeviceType" }.sorted())
    }

    @Test func `identifiers are unique`() {
        let traits = (Vocabulary.traits + Vocabulary.detectionTraits).map { $0.identifier }
        #expect(Set(traits).count == traits.count)
        let types = Vocabulary.deviceTypes.map { $0.identifier }
        #expect(Set(types).count == types.count)
    }

    @Test func `a device can have the traits that its type requires`() throws {
        for type in Vocabulary.deviceTypes {
            for trait in type.requiredTraits {
                let isKnown = Vocabulary.trait(named: trait.name) == trait
                #expect(isKnown, "\(type) requires \(trait)")
            }
            let metadata = DeviceTypeMetadata()
            _ = try type.init(traits: TraitCollection(type.requiredTraits.map(Self.empty)), metadata: metadata)
            guard let missing = type.requiredTraits.first else { continue }
            let others = TraitCollection(type.requiredTraits.dropFirst().map(Self.empty))
            #expect(throws: HomeError.self, "\(type) without \(missing)") {
                _ = try type.init(traits: others, metadata: metadata)
            }
        }
    }

    @Test func `plugs have both spellings`() {
        #expect(Vocabulary.deviceType(named: "OnOffPlugInUnitDeviceType") == OnOffPluginUnitDeviceType.self)
        #expect(Vocabulary.deviceType(named: "DimmablePluginUnitDeviceType") == DimmablePlugInUnitDeviceType.self)
        #expect(OnOffPlugInUnitDeviceType.self == OnOffPluginUnitDeviceType.self)
    }

    @Test func `an extended colour light is every simpler light`() {
        let light = ExtendedColorLightDeviceType.self
        let simpler: [any DeviceType.Type] = [
            ColorTemperatureLightDeviceType.self, DimmableLightDeviceType.self, OnOffLightDeviceType.self,
        ]
        #expect(light.supertypes.map { $0.name } == simpler.map { $0.name })
        #expect(!DimmableLightDeviceType.isKind(of: light))
    }

    @Test func `helpers of a device are utility types`() {
        let utilities = Vocabulary.deviceTypes.filter { $0.isUtilityType }.map { $0.name }
        #expect(utilities.sorted() == ["OtaRequestorDeviceType", "RootNodeDeviceType"])
    }

    private static func empty(_ trait: any HomeTypes.Trait.Type) -> any HomeTypes.Trait {
        func make<Kind: HomeTypes.Trait>(_ type: Kind.Type) -> any HomeTypes.Trait { Kind(attributes: .init()) }
        return make(trait)
    }
}
