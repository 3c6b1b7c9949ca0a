import ExampleOrganization
import Foundation
import HomeTypes
import Testing

/// Traits that a package outside of HomeTypes declares with the generator.
@Suite struct VendorTests {
    private typealias Spinner = ExampleOrganization.SpinnerTrait

    init() { ExampleOrganization.register() }

    @Test func `a vendor's names are found after it has registered`() {
        #expect(Vocabulary.trait(named: "ExampleOrganization.Spinner") == Spinner.self)
        #expect(Vocabulary.trait(named: "home.matter.fff1.clusters.fc10") == Spinner.self)
        #expect(Vocabulary.deviceType(named: "SpinnerDeviceType") == SpinnerDeviceType.self)
        #expect(Vocabulary.command(named: "spin", of: Spinner.self) == Spinner.SpinCommand.self)
        #expect(Vocabulary.event(named: "Jammed", of: Spinner.self) == Spinner.JammedEvent.self)
    }

    @Test func `a vendor's OnOff stands beside the standard one`() throws {
        let json = """
            {"OnOff":{"onOff":true},"ExampleOrganization.OnOff":{"onOff":false},"ExampleOrganization.Spinner":{"rpm":33}}
            """
        let traits = try JSONDecoder().decode(TraitCollection.self, from: Data(json.utf8))
        let device = try SpinnerDeviceType(traits: traits, metadata: .init(isPrimaryType: true))
        #expect(device.matterTraits.onOffTrait?.onOff == true)
        #expect(device.exampleOrganizationTraits.onOffTrait?.onOff == false)
        #expect(device.exampleOrganizationTraits.spinnerTrait?.rpm == 33)
        #expect(device.traits[Matter.OnOffTrait.self]?.onOff == true)
        #expect(device.traits[ExampleOrganization.OnOffTrait.self]?.onOff == false)
    }

    @Test func `a vendor's device has to have the traits that its type requires`() {
        #expect(throws: HomeError.self) {
            try SpinnerDeviceType(traits: TraitCollection([Matter.OnOffTrait()]), metadata: .init())
        }
    }

    @Test func `a vendor's constraints hold`() {
        #expect(throws: HomeError.self) { try Spinner.spin(rpm: 12_001).validate() }
        #expect(throws: HomeError.self) { try Spinner.spin(rpm: 100) { $0.setSeconds(0) }.validate() }
        #expect(throws: Never.self) { try Spinner.spin(rpm: 100) { $0.setSeconds(1) }.validate() }
    }
}
