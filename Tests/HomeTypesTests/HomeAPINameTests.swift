import HomeTypes
import Testing

/// Names and initializers that app code of the Home APIs uses.
@Suite struct HomeAPINameTests {
    @Test func `a time of the sun takes a duration, of which whole seconds are kept`() {
        #expect(SolarTime(type: .sunrise, offset: .seconds(0)).offset == 0)
        #expect(SolarTime(type: .sunset, offset: .milliseconds(-1_500)) == SolarTime(type: .sunset, offset: -1))
        #expect(SolarTime(type: .sunset).offset == nil)
    }

    @Test func `the chime in the house has the type of the Home APIs`() {
        let kind = Google.ChimeTrait.ExternalChimeType.mechanical
        let chime = Google.ChimeTrait(attributes: .init(externalChime: kind))
        #expect(chime.attributes.externalChime == kind)
    }

    @Test func `a device type describes itself by its name and its traits`() throws {
        let traits = TraitCollection([Matter.OnOffTrait(), Matter.LevelControlTrait()])
        let light = try DimmableLightDeviceType(traits: traits, metadata: DeviceTypeMetadata())
        #expect(light.debugDescription == "DimmableLightDeviceType(OnOff, LevelControl)")
    }
}
