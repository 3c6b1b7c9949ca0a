import HomeTypes

/// A hub that could join the home (Home APIs, `Hub`). A gateway does not find any: it is the hub.
public struct Hub: Sendable, Hashable, Identifiable {
    /// The identifier.
    public var id: String
    /// The name.
    public var name: String
}

extension Home {
    /// Asks for the user's permissions. The app's token decides what it may do, so there is nothing to ask here.
    /// - Throws: `unimplemented`; the message says where permissions are changed.
    @MainActor public func presentPermissionsUpdate() async throws(HomeError) {
        throw .unimplemented(
            "a gateway's permissions belong to the app's token; change them on the gateway's page, or with gatehouse token"
        )
    }

    /// Joins a home by invitation.
    /// - Throws: `unimplemented`; the message says how an app gets its token.
    @MainActor public func acceptInvitation(_ token: String) async throws(HomeError) {
        throw .unimplemented(
            "a gateway does not invite people; its owner creates a token on the page, or with gatehouse token, and the app "
                + "sets it in Home.configure")
    }

    /// Looks for hubs that could be activated.
    /// - Throws: `unimplemented`: the gateway is the only hub of its home.
    public func discoverAvailableHubs() async throws(HomeError) -> [Hub] {
        throw .unimplemented("the gateway itself is the hub of this home; add devices to it instead: " + Self.ways)
    }

    /// Activates a hub.
    /// - Throws: `unimplemented`: the gateway is the only hub of its home.
    public func startHubActivation(_ hub: Hub, structureID: String) async throws(HomeError) {
        throw HomeError(
            .unimplemented, "the gateway itself is the hub of this home; add devices to it instead: " + Self.ways,
            subtype: .hubActivation(.unsupported))
    }

    /// Adds a Matter device to the home.
    /// - Throws: `unimplemented`; the message names the ways to add a device.
    public func commissionDevice(setupPayload: String, structureID: String) async throws(HomeError) -> HomeDevice {
        throw .unimplemented(
            "this gateway does not commission Matter devices; add other devices as follows: " + Self.ways)
    }

    private static let ways =
        "cameras with PUT /v1/cameras/{camera} or on the page (gatehouse camera discover finds them), devices of a broker "
        + "with the section mqtt of the config, and virtual devices with its section devices"
}
