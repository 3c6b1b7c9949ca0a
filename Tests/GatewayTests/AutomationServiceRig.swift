import Automation
import Foundation
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import Transport

@testable import Gateway

/// A home with virtual lamps, the store of its runs, and a clock that the test turns.
final class AutomationServiceRig: Sendable {
    let hub: HomeHub
    let registry: TokenRegistry
    let store = MemoryRunStore()
    /// The commands that arrived at the lamps, in their order.
    let calls = Locked<[CommandCall]>([])
    private let lamps: [ObservedLamp]
    let time = Locked(EngineTime(uptime: 1_000, wall: 1_700_000_000_000))
    /// A principal of the API, with the rights that the test gives it.
    let appID: String

    init() async throws {
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        self.hub = hub
        lamps = try ["sensor", "lamp", "other"].map { [calls] id in
            let lamp = try VirtualDevice(
                id: id, name: id, types: [OnOffLightDeviceType.self], store: MemorySharedStore())
            return ObservedLamp(lamp) { call in if id != "sensor" { calls.withLock { $0.append(call) } } }
        }
        await hub.setDevices(lamps.map { $0.device.description() }, drivers: lamps, of: .virtual)
        registry = TokenRegistry(file: TokenStore(tokens: [("owner", TestGateway.token)]))
        let record = TokenRecord(
            id: "t1", name: "app", access: Access([.init([.read, .control, .automate])]), createdAt: Date(),
            createdBy: "owner", secrets: [])
        appID = record.id
        try await registry.add(record)
    }

    func add(_ device: VirtualDevice) async {
        await hub.setDevices(
            lamps.map { $0.device.description() } + [device.description()], drivers: lamps + [device], of: .virtual)
    }

    /// Removes what was added to the lamps.
    func removeAdded() async {
        await hub.setDevices(lamps.map { $0.device.description() }, drivers: lamps, of: .virtual)
    }

    /// - Parameter other: the tokens, unless they are those of the rig.
    func makeService(
        _ settings: AutomationService.Settings = .init(), registry other: TokenRegistry? = nil
    ) -> AutomationService {
        AutomationService(
            hub: hub, registry: other ?? registry, store: store, settings: settings,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: { [time] in time.withLock { $0 } })
    }

    func turn(_ device: String, _ command: String) async throws {
        let call = CommandCall(
            deviceID: device, trait: "OnOff", command: command, caller: Caller(principal: "owner"))
        _ = try await hub.send(call, body: Data("{}".utf8))
    }

    func isOn(_ device: String) async throws -> Bool? {
        try await hub.device(device).traits[Matter.OnOffTrait.self]?.onOff
    }

    func pass(milliseconds: Int64) {
        time.withLock {
            $0.uptime += milliseconds
            $0.wall += milliseconds
        }
    }

    /// The newest run when it has ended.
    func ended(_ service: AutomationService, _ id: String = "a1") async throws -> RunRecord {
        for await element in await service.liveRuns(after: 0)
        where element.run.automationID == id && element.run.end != nil {
            return try await service.run(element.run.id)
        }
        throw HomeError.internal("the service ended first")
    }
}
