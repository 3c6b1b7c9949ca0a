import Foundation
import HomeHub
import HomeTypes
import Transport

/// A backend for tests: it reports what the test sends, and records what it receives.
final class FakeBackend: DeviceBackend {
    let deviceID: String
    let commands = Locked<[String]>([])
    /// What the next commands bring about at once.
    let echo = Locked<[DeviceUpdate]>([])
    private let stream: AsyncStream<DeviceUpdate>
    private let continuation: AsyncStream<DeviceUpdate>.Continuation

    init(_ deviceID: String) {
        self.deviceID = deviceID
        (self.stream, self.continuation) = AsyncStream.makeStream()
    }

    func updates() -> AsyncStream<DeviceUpdate> { stream }

    func send(_ update: DeviceUpdate) { continuation.yield(update) }

    func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> CommandOutcome {
        commands.withLock { $0.append("\(call.endpoint.map(String.init) ?? "-") \(call.trait).\(call.command)") }
        return CommandOutcome(updates: echo.withLock { $0 })
    }

    func write(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome {
        CommandOutcome(updates: [.report(endpoint: write.endpoint, TraitCollection([write.trait]))])
    }
}

/// A vendor's trait that has the name of a standard one in the vendor's own namespace.
enum ExampleVendor {
    struct OnOffTrait: Trait {
        static let identifier = "home.matter.fff1.clusters.fc06"
        static let name = "ExampleVendor.OnOff"
        static let supportedCommandTypes: [any Command.Type] = []
        static let supportedEventTypes: [any Event.Type] = []

        struct Attributes: TraitAttributes {
            @Attribute var onOff: String?
            static let names = ["onOff"]

            init() {}

            mutating func merge(_ newer: Self) { _onOff.merge(newer._onOff) }
        }

        var attributes: Attributes
        let metadata: TraitMetadata
        let interaction: (any TraitInteraction)?
    }
}

extension SourceConnectivity {
    static let online = SourceConnectivity(connectivityState: .online, dataSourceLocality: .localPeer)
    static let cloud = SourceConnectivity(connectivityState: .offline, dataSourceLocality: .remote)
}
