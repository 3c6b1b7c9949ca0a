import Foundation
import HomeTypes
import Transport

/// A device that exists only in the config: it accepts the commands of its types and keeps its state on the disk.
public final class VirtualDevice: DeviceBackend {
    /// The kind of the objects that keep the state.
    public static let storedKind = "virtualDevice"

    public let deviceID: String
    private let name: String
    private let store: any SharedStore
    private let information: Matter.BasicInformationTrait.Attributes
    private let state: Locked<State>
    /// The hub receives changes as the outcome of commands, so this stays open and empty.
    private let held = Locked<[AsyncStream<DeviceUpdate>.Continuation]>([])

    private struct State {
        var endpoints: [VirtualEndpoint]
        /// The version of the object that keeps them; 0 while it does not exist.
        var version: Int64 = 0
    }

    /// Creates a device, in the state that an earlier run kept.
    /// - Parameters:
    ///   - types: what the device is; each type gets an endpoint of its own, from 1.
    ///   - information: what its owner knows about it; the rest is that of every virtual device.
    ///   - store: keeps the state.
    /// - Throws: `unavailable` when the kept state cannot be read.
    public init(
        id: String, name: String, types: [any DeviceType.Type],
        information: Matter.BasicInformationTrait.Attributes = .init(), store: any SharedStore
    ) throws(HomeError) {
        deviceID = id
        self.name = name
        self.store = store
        self.information = information
        var state = State(
            endpoints: types.enumerated().map { VirtualEndpoint(id: UInt16(clamping: $0 + 1), type: $1) })
        do {
            if let object = try store.object(Self.storedKind, id) {
                state.version = object.version
                // A state that this version cannot read must not prevent the device from starting.
                let kept = try? JSONDecoder().decode([String: TraitCollection].self, from: Data(object.body.utf8))
                for index in state.endpoints.indices {
                    if let traits = kept?["\(state.endpoints[index].id)"] { state.endpoints[index].restore(traits) }
                }
            }
        } catch {
            throw .unavailable("the state of the device \(name) cannot be read: \(error)")
        }
        self.state = Locked(state)
    }

    deinit {
        for continuation in held.withLock({ $0 }) { continuation.finish() }
    }

    /// Matter's first vendor id for tests, which does not belong to a manufacturer (Matter core specification, section
    /// 2.5.2).
    private static let vendorID: UInt16 = 0xFFF1
    /// The product number of virtual devices for that vendor.
    private static let productID: UInt16 = 0x8000

    /// The device for the home, with its current state.
    public func description(key: String? = nil) -> DeviceDescription {
        let connectivity = SourceConnectivity(connectivityState: .online, dataSourceLocality: .localPeer)
        var root = EndpointDescription(
            id: EndpointDescription.root, types: [RootNodeDeviceType.self], connectivity: connectivity)
        var information = Matter.BasicInformationTrait.Attributes(
            describing: deviceID, name: name, vendor: "Gatehouse", product: "Virtual device")
        information.vendorID = Self.vendorID
        information.productID = Self.productID
        information.merge(self.information)
        root.traits[Matter.BasicInformationTrait.self] = .init(attributes: information)
        let parts = state.withLock { $0.endpoints }.map {
            EndpointDescription(id: $0.id, types: [$0.type], traits: $0.traits, connectivity: connectivity)
        }
        var description = DeviceDescription(id: deviceID, key: key, name: name)
        description.endpoints = [root] + parts
        return description
    }

    public func updates() -> AsyncStream<DeviceUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: DeviceUpdate.self)
        held.withLock { $0.append(continuation) }
        return stream
    }

    public func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> CommandOutcome {
        guard let trait = Vocabulary.trait(named: call.trait),
            let command = Vocabulary.command(named: call.command, of: trait)
        else {
            throw HomeError.unimplemented("virtual devices do not accept the command \(call.command)")
        }
        return try change(call.endpoint) { traits throws(HomeError) in
            guard let response = try VirtualCommands.standard.apply(command, body: body, to: &traits) else {
                throw HomeError.unimplemented("virtual devices do not accept the command \(call.command)")
            }
            return response
        }
    }

    public func write(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome {
        try change(write.endpoint) { traits throws(HomeError) in
            try Self.write(write.trait, to: &traits)
            return Data("{}".utf8)
        }
    }

    public func simulate(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome {
        try change(write.endpoint) { traits throws(HomeError) in
            traits.merge(TraitCollection([write.trait]))
            return Data("{}".utf8)
        }
    }

    /// Changes an endpoint, and saves the new state before anybody sees it.
    private func change(
        _ endpoint: UInt16?, _ body: (inout TraitCollection) throws(HomeError) -> Data
    ) throws(HomeError) -> CommandOutcome {
        let result: Result<CommandOutcome, HomeError> = state.withLock { state in
            do throws(HomeError) {
                guard let index = state.endpoints.firstIndex(where: { $0.id == endpoint }) else {
                    throw HomeError.notFound("this part of the device \(name) does not accept commands")
                }
                let before = state.endpoints[index]
                var after = before
                let response = try body(&after.traits)
                let changes = after.changes(since: before)
                guard !changes.isEmpty else { return .success(CommandOutcome(response: response)) }
                var all = state.endpoints
                all[index] = after
                let version = try keep(all, expecting: state.version)
                state = State(endpoints: all, version: version)
                return .success(
                    CommandOutcome(response: response, updates: [.report(endpoint: before.id, changes)]))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// - Returns: the version of the object that now keeps the state.
    private func keep(_ endpoints: [VirtualEndpoint], expecting version: Int64) throws(HomeError) -> Int64 {
        do {
            let state = Dictionary(endpoints.map { ("\($0.id)", $0.traits) }) { first, _ in first }
            let body = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
            if let kept = try store.write(Self.storedKind, deviceID, body, expecting: version) { return kept }
            // Only this device writes the object. If another process has written it, one more attempt is enough.
            let found = try store.object(Self.storedKind, deviceID)?.version ?? 0
            if let kept = try store.write(Self.storedKind, deviceID, body, expecting: found) { return kept }
            throw HomeError.aborted("the state of the device \(name) was changed by somebody else at the same time")
        } catch let error as HomeError {
            throw error
        } catch {
            throw .unavailable("the state of the device \(name) cannot be saved, so nothing was changed: \(error)")
        }
    }
}
