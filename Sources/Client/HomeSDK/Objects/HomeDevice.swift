import Foundation
import GatewayClient
import HomeTypes

/// A device of the home (Home APIs, `HomeDevice`). A value is a snapshot; the controllers that it hands out follow the
/// device.
public struct HomeDevice: HomeObject {
    let model: HomeModel
    let content: DeviceContent

    /// The identifier, which never changes.
    public var id: String { content.id }
    /// The name that people gave it.
    public var name: String { content.name }
    /// The structure that it belongs to; nil for none.
    public var structureID: String? { content.structureID }
    /// The room that it is in; nil for none.
    public var roomID: String? { content.roomID }
    /// Whose device it is, for devices from somebody's cloud; nil for others.
    public var agentID: String? { content.agentID }
    /// Whether Matter connects the device.
    public var isMatterDevice: Bool { content.isMatterDevice }
    /// Whether the parts of a device are one device (Home APIs 1.8). Here they always are.
    public var enableMultipartDevices: Bool { true }
    /// The aggregated connectivity of all its traits.
    public var sourceConnectivity: SourceConnectivity { content.connectivity }
    public var objectType: HomeObjectType { .device }

    /// The types of the device, with their traits.
    public var types: DeviceTypeController { DeviceTypeController(model, content) }
    /// The same as `types`.
    public var parts: DeviceTypeController { types }
    /// The traits of the device without their types. If several types have a trait, it is that of the primary type.
    public var traits: TraitController { TraitController(model, .device(id)) }
    /// The events of the device.
    public var events: EventController { EventController(model, deviceID: id, endpoint: nil, traits: traitTypes) }

    init(_ model: HomeModel, _ record: DeviceRecord) {
        self.model = model
        content = DeviceContent(record)
    }

    private var traitTypes: [any Trait.Type] {
        Set(content.parts.flatMap(\.traits)).compactMap { Vocabulary.trait(named: $0) }
    }

    public static func == (first: HomeDevice, second: HomeDevice) -> Bool { first.content == second.content }

    public func hash(into hasher: inout Hasher) { hasher.combine(content) }

    /// Data that an app keeps with the device. This gateway does not keep any.
    /// - Throws: `unimplemented`.
    public var customAppData: Data {
        get async throws(HomeError) {
            throw .unimplemented("this gateway does not keep apps' data; keep it in the app, under the device's id")
        }
    }

    /// Renames the device. A name longer than 60 Unicode scalars is cut off.
    /// - Returns: the device with its new name. This value does not change.
    @discardableResult
    public func setName(_ name: String) async throws(HomeError) -> HomeDevice {
        try await model.changeDevice(id, ["name": name])
    }
}
