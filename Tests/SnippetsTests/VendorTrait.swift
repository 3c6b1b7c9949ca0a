import ExampleOrganization
import GoogleHomeSDK
import GoogleHomeTypes

// The snippet of "Access devices" about a vendor's trait, beside which an app imports the vendor's module.

extension SnippetApp {
    /// A7, as printed.
    func a7(_ device1: HomeDevice?) async {
        let deviceType = await device1?.types.get(OnOffLightDeviceType.self)
        // Accessing custom trait on the type.
        if let spinnerTrait = deviceType?.traits[ExampleOrganization.SpinnerTrait.self] {
            let rpmVal = spinnerTrait.attributes.rpm
            find("A7", rpmVal)
        }
        find("A7", deviceType != nil)
    }
}
