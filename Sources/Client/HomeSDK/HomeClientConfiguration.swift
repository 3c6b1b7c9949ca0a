import Foundation
import GatewayClient
import HomeTypes

/// How an app reaches its home. Set it with `Home.configure` before anything else.
public struct HomeClientConfiguration: Sendable {
    /// The gateway's address, for example `https://gateway.local:8443`. Without one, `GATEHOUSE_URL` in the environment
    /// is used, and then the gateway on this machine.
    public var address: String?
    /// The app's token. Without one, `GATEHOUSE_TOKEN` in the environment is used, and then the owner's token on this
    /// machine.
    public var token: String?
    /// For `https://`, the file of the certificate that the gateway signed itself, in PEM; nil if the system trusts it.
    public var certificate: String?
    /// How long a gateway may be away before streams fail with `unavailable`.
    public var patience: Duration = .seconds(15)
    /// How long a command may take.
    public var commandTimeout: Duration = .seconds(30)
    /// The group of apps that share a session on iOS. It does not have a meaning on this platform.
    public var sharedAppGroup: String?
    /// The types and traits that automations may use.
    public var referencedAutomationTypes: ReferencedAutomationTypes?
    /// Receives the failure of a stream whose subscriber takes values only; by default it is written to standard error.
    public var unhandledStreamFailure: @Sendable (HomeError) -> Void = { error in
        // If standard error is closed, nobody reads it. That must not end the app.
        try? FileHandle.standardError.write(contentsOf: Data("A stream of the home failed: \(error)\n".utf8))
    }

    var backOff = BackOff()

    /// The defaults.
    public init() {}
}

/// The types and traits that automations may use (Home APIs, `ReferencedAutomationTypes`).
public struct ReferencedAutomationTypes: Sendable {
    /// The device types.
    public var deviceTypes: [any DeviceType.Type]
    /// The traits.
    public var traits: [any Trait.Type]

    /// Names types and traits.
    public init(deviceTypes: [any DeviceType.Type] = [], traits: [any Trait.Type] = []) {
        self.deviceTypes = deviceTypes
        self.traits = traits
    }
}
